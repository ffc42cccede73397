"""Fits what software stacks make of chips to all calibration runs, and writes ``catalogue/data/stacks.csv``.

Takes two minutes. Prints how far off new rows, and new sources, would be.
"""

import csv
import io
import json
from pathlib import Path

import numpy as np

from volvelle import Catalogue
from volvelle.applications.measured_table import calibration_rows
from volvelle.applications.training.measurements import training_measurements
from volvelle.applications.training.stack_fit import errors_of, factors_of, fit_stacks, scored, stack_runs

TARGET = Path(__file__).parent.parent / "src" / "volvelle" / "catalogue" / "data" / "stacks.csv"


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
