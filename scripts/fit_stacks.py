"""Fits what software stacks make of chips to all calibration runs, and writes ``catalogue/data/stacks.csv``.

Beside it ``measurements/residuals.csv.gz``: how far off every run is, as fitted and left out. Takes two minutes; prints
how far off new rows, and new sources, would be. With ``--keep`` factors stay as they are, and how far off runs are is
written for them.
"""

import argparse
import csv
import gzip
import io
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from volvelle import Catalogue
from volvelle.applications.measured_table import calibration_rows
from volvelle.applications.training.left_out import left_out_numbers
from volvelle.applications.training.measurements import training_measurements
from volvelle.applications.training.stack_fit import StackFit, factors_of, fit_stacks, stack_runs
from volvelle.catalogue.residuals import RESIDUAL_COLUMNS
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.mapping.kinds import kind_of
from volvelle.mapping.lowering import EXPERT_DIM

DATA = Path(__file__).parent.parent / "src" / "volvelle" / "catalogue" / "data"
TARGET, RESIDUALS = DATA / "stacks.csv", DATA / "measurements" / "residuals.csv.gz"


def write_residuals(fit: StackFit, *, keep: bool) -> None:
    """How far off every run is, as fitted (or as the shipped factors say) and left out."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(RESIDUAL_COLUMNS)
    for run, *errors in zip(fit.runs, fit.errors, fit.new_rows, fit.new_sources, strict=True):
        work, system = run.question.work, run.question.system
        estimate = ClosedForm().estimate(work, system, run.question.decision)
        if keep:
            errors[0] = np.log(run.seconds / estimate.time)
        share = estimate.utilisation * estimate.time / run.seconds
        about = (system.chip.family, run.element, run.stack, int(EXPERT_DIM in work.model.sizes))
        kind = kind_of(run.question.decision).name.lower()
        what = (run.row.head.row_id, run.source, run.row.model or work.model.name, run.row.accelerator, run.row.chips)
        numbers = (work.model.parameters(), share, *errors)
        table.writerow((*what, *about, kind, *(f"{number:.5g}" for number in numbers)))
    with RESIDUALS.open("wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as packed:
        packed.write(out.getvalue().encode())


def main() -> None:
    """Fit, write, report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", action="store_true", help="leave the factors as they are")
    keep = parser.parse_args().keep
    rows = calibration_rows(training_measurements(), shipped=True)
    fit = fit_stacks(stack_runs(rows, Catalogue()))
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(("stack", "family", "element", "constant", "factor", "runs"))
    for *words, factor, runs in factors_of(fit):
        table.writerow((*words, f"{factor:.4g}", runs))
    if not keep:
        TARGET.write_text(out.getvalue(), "utf-8")
    write_residuals(fit, keep=keep)
    report: dict[str, object] = {}
    for name, errors in (("fitted", fit.errors), ("new rows", fit.new_rows), ("new sources", fit.new_sources)):
        report[name] = told(f"{name:12s}", errors)
    sources = np.array([run.source for run in fit.runs])
    medians = [
        told(f"  without {source:28s}", fit.new_sources[sources == source])["median_abs_error"]
        for source in np.unique(sources)
    ]
    report["mean of medians over sources"] = float(np.mean(medians))
    print(json.dumps(report))


def told(name: str, errors: NDArray[np.float64]) -> dict[str, float]:
    """Scores of ln(measured / predicted), printed."""
    found = left_out_numbers(errors)
    told = f"{found['rows']:4d} runs: median {found['median_abs_error']:.3f} mean {found['mean_abs_error']:.3f}"
    print(f"{name} {told} bias {found['bias']:+.3f}")
    return found


if __name__ == "__main__":
    main()
