"""Fits what software stacks make of chips to all calibration runs, and writes ``catalogue/data/stacks.csv``.

Beside it ``measurements/residuals.csv.gz``: how far off every run is, as fitted and left out. Takes two minutes; prints
how far off new rows, and new sources, would be.
"""

import csv
import gzip
import io
import json
from pathlib import Path

import numpy as np

from volvelle import Catalogue
from volvelle.applications.measured_table import calibration_rows
from volvelle.applications.training.measurements import training_measurements
from volvelle.applications.training.stack_fit import StackFit, errors_of, factors_of, fit_stacks, scored, stack_runs
from volvelle.catalogue.residuals import RESIDUAL_COLUMNS
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.mapping.lowering import EXPERT_DIM

DATA = Path(__file__).parent.parent / "src" / "volvelle" / "catalogue" / "data"
TARGET, RESIDUALS = DATA / "stacks.csv", DATA / "measurements" / "residuals.csv.gz"


def write_residuals(fit: StackFit) -> None:
    """How far off every run is, as fitted and left out."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(RESIDUAL_COLUMNS)
    for run, *errors in zip(fit.runs, fit.errors, fit.new_rows, fit.new_sources, strict=True):
        work, system = run.question.work, run.question.system
        estimate = ClosedForm().estimate(work, system, run.question.decision)
        share = estimate.utilisation * estimate.time / run.seconds
        about = (system.chip.family, run.element, run.stack, int(EXPERT_DIM in work.model.sizes))
        what = (run.row.head.row_id, run.source, run.row.model or work.model.name, run.row.accelerator, run.row.chips)
        numbers = (work.model.parameters(), share, *errors)
        table.writerow((*what, *about, *(f"{number:.5g}" for number in numbers)))
    with RESIDUALS.open("wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as packed:
        packed.write(out.getvalue().encode())


def main() -> None:
    """Fit, write, report."""
    rows = calibration_rows(training_measurements(), shipped=True)
    fit = fit_stacks(stack_runs(rows, Catalogue()))
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(("stack", "family", "element", "constant", "factor", "runs"))
    for *words, factor, runs in factors_of(fit):
        table.writerow((*words, f"{factor:.4g}", runs))
    for stack, family, factor, runs in errors_of(fit):
        table.writerow((stack, family, "", "step_error", f"{factor:.4g}", runs))
    TARGET.write_text(out.getvalue(), "utf-8")
    write_residuals(fit)
    report = {}
    for name, errors in (("fitted", fit.errors), ("new rows", fit.new_rows), ("new sources", fit.new_sources)):
        report[name] = scored(errors, lambda run: True, fit.runs)
        print(f"{name:12s} median {report[name][0]:.3f} mean {report[name][1]:.3f} bias {report[name][2]:+.3f}")
    medians = {}
    for source in sorted({run.source for run in fit.runs}):
        found = scored(fit.new_sources, lambda run, source=source: run.source == source, fit.runs)
        medians[source] = found[0]
        print(f"  without {source:28s} {found[3]:4d} runs: median {found[0]:.3f} bias {found[2]:+.3f}")
    report["mean of medians over sources"] = float(np.mean(list(medians.values())))
    print(json.dumps(report))


if __name__ == "__main__":
    main()
