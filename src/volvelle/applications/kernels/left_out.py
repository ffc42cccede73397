"""Kernels on a chip as if nobody had measured it: by the constants of its family alone."""

from collections.abc import Iterable

import numpy as np

from volvelle.applications.kernels.measurements import KernelMeasurement
from volvelle.applications.kernels.prediction import KernelTime, kernel_question
from volvelle.applications.scores import Finding
from volvelle.catalogue import Catalogue
from volvelle.errors import OutsideDomainError
from volvelle.quantities import percent


def errors_without_the_chip(rows: Iterable[KernelMeasurement], catalogue: Catalogue) -> dict[str, float]:
    """Median errors of tables of rows by the constants of the chip's kin; chips that have none are left out.

    Constants are shares of a chip's own peaks, so kin of another speed lend them. They were fitted to their own rows,
    but lean a little towards those of all chips with the same software, the one left out among them.
    """
    errors: dict[str, list[float]] = {}
    for row in rows:
        try:
            asked = kernel_question(row, catalogue, unseen=True)
        except OutsideDomainError:
            continue
        if isinstance(asked, str) or not row.time:
            continue
        time = KernelTime(asked.calibration).estimate(asked.work, asked.system, row.kernel).time
        errors.setdefault(f"{row.system} {row.element} {row.backend}", []).append(abs(time / row.time - 1.0))
    return {table: float(np.median(found)) for table, found in errors.items()}


def chip_left_out(kind: str, rows: Iterable[KernelMeasurement], catalogue: Catalogue) -> Iterable[Finding]:
    """How far off a kind of kernel is on chips that only their family was measured for, if there are any."""
    medians = errors_without_the_chip(rows, catalogue)
    if not medians:
        return
    mean, worst = float(np.mean(list(medians.values()))), max(medians, key=medians.__getitem__)
    told = {"mean_of_medians": mean, "worst_table": worst, "worst_median": medians[worst]}
    yield Finding(
        key="chip_left_out",
        value={kind: {"tables": len(medians), **told}},
        lines=(
            f"{kind}, every chip by the constants of the others of its family: {percent(mean)} over "
            f"{len(medians)} tables, {percent(medians[worst])} on {worst}",
        ),
    )
