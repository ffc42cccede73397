"""Writes ``measurements/left_out.csv.gz``: how far off calibration rows are that their fit did not see.

Of HPL, HPL-MxP, HPCG, stencils, transforms, recommendation models and collectives: ln(measured / predicted) with a
row's publication left out of the fit (of lists of machines, its machine), and with all of its chip, link or size.
Training runs with their publication left out are in ``residuals.csv.gz`` by ``fit_stacks.py``, here those with all of a
kind left out; of memory no row is for calibration. Takes ten minutes, most of it HPL; with names of applications, only
these are made anew.
"""

import argparse
import csv
import gzip
import io
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from volvelle import Catalogue
from volvelle.applications.collectives.application import COLLECTIVES
from volvelle.applications.collectives.groups_timed import groups_timed
from volvelle.applications.collectives.left_out import collectives_left_out
from volvelle.applications.dlrm.application import DLRM
from volvelle.applications.dlrm.left_out import dlrm_left_out
from volvelle.applications.fft.application import FFT
from volvelle.applications.fft.left_out import fft_left_out
from volvelle.applications.hpcg.application import HPCG
from volvelle.applications.hpcg.left_out import hpcg_left_out
from volvelle.applications.hpl.application import HPL
from volvelle.applications.hpl.left_out import hpl_left_out
from volvelle.applications.hpl_mxp.application import HPL_MXP
from volvelle.applications.hpl_mxp.left_out import mxp_left_out
from volvelle.applications.measured_table import calibration_rows
from volvelle.applications.stencil.application import STENCIL
from volvelle.applications.stencil.left_out import stencil_left_out
from volvelle.applications.training.application import TRAINING
from volvelle.applications.training.axes_left_out import training_left_out
from volvelle.applications.training.stack_fit import fit_stacks, stack_runs
from volvelle.catalogue.left_out import (
    LEFT_OUT_COLUMNS,
    LeftOut,
    left_out_of,
    left_out_rows,
    publications_left_out,
)
from volvelle.catalogue.model_errors import model_error
from volvelle.catalogue.packaged_rows import packaged_rows

DATA = Path(__file__).parent.parent / "src" / "volvelle" / "catalogue" / "data"
TARGET = DATA / "measurements" / "left_out.csv.gz"
GROUPS = DATA / "collective_groups.yaml"


def makers() -> dict[str, Callable[[], Iterator[LeftOut]]]:
    """Application → its rows, left out."""
    known, runs = Catalogue(), calibration_rows(TRAINING.rows(), shipped=True)
    return {
        "hpl": lambda: hpl_left_out(calibration_rows(HPL.rows(), shipped=True), known),
        "hpcg": lambda: hpcg_left_out(calibration_rows(HPCG.rows(), shipped=True)),
        "hpl-mxp": lambda: mxp_left_out(calibration_rows(HPL_MXP.rows(), shipped=True), known),
        "stencil": lambda: stencil_left_out(calibration_rows(STENCIL.rows(), shipped=True), known),
        "fft": lambda: fft_left_out(calibration_rows(FFT.rows(), shipped=True), known),
        "dlrm": lambda: dlrm_left_out(calibration_rows(DLRM.rows(), shipped=True), known),
        "training": lambda: training_left_out(fit_stacks(stack_runs(runs, known))),
        "collectives": lambda: collectives_left_out(calibration_rows(COLLECTIVES.rows(), shipped=True), known),
    }


def main() -> None:
    """Refit, write, report."""
    made = makers()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("applications", nargs="*", help=f"of {', '.join(made)}")
    asked = parser.parse_args().applications or list(made)
    kept = [row for row in left_out_rows() if row.application not in asked] if TARGET.is_file() else []
    rows = [*kept, *(row for name in asked for row in made[name]())]
    rows.sort(key=lambda row: (list(made).index(row.application), row.axis))
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(LEFT_OUT_COLUMNS)
    for row in rows:
        values = (getattr(row, name) for name in LEFT_OUT_COLUMNS)
        table.writerow(f"{value:.5g}" if isinstance(value, float) else value for value in values)
    with TARGET.open("wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as packed:
        packed.write(out.getvalue().encode())
    if "collectives" in asked:
        for read in (packaged_rows, left_out_rows, left_out_of, publications_left_out, model_error):
            read.cache_clear()  # they are of the file as it was
        own = [row for row in rows if row.application == "collectives" and not row.axis]
        groups = groups_timed(calibration_rows(COLLECTIVES.rows(), shipped=True), Catalogue(), own)
        said = "".join(f"  {link}: {units}\n" for link, units in groups.largest.items())
        said = f"largest:\n{said}inside: {groups.inside}\nacross: {groups.across}\ndoubling: {groups.doubling}\n"
        GROUPS.write_text(f"{said}source: {groups.source}\n", "utf-8")
        print(GROUPS.read_text("utf-8"))
    for name in made:
        for axis in dict.fromkeys(row.axis for row in rows if row.application == name):
            errors = np.array([row.residual for row in rows if (row.application, row.axis) == (name, axis)])
            middle = float(np.median(np.abs(errors)))
            print(f"{name:12s} {axis or 'publication':12s} {len(errors):4d} rows, median |e| {middle:.3f}")


if __name__ == "__main__":
    main()
