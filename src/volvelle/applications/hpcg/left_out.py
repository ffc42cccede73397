"""How far off runs of HPCG are when their system, and their family where it has no other, is left out of the fit."""

from collections.abc import Iterator

import numpy as np

from volvelle.applications.hpcg.fit import (
    HpcgPoint,
    accelerators_lost,
    family_levels,
    hosts_lost,
    hpcg_points,
    residuals_of,
)
from volvelle.applications.hpcg.rows import HpcgMeasurement
from volvelle.applications.measured_table import CalibrationRows
from volvelle.catalogue.left_out import LeftOut


def hpcg_left_out(rows: CalibrationRows[HpcgMeasurement]) -> Iterator[LeftOut]:
    """Every run with its system left out; one of a family's only system is predicted from other families."""
    points = hpcg_points(rows)
    for system in dict.fromkeys((point.host, point.system) for point in points):
        out = [point for point in points if (point.host, point.system) == system]
        rest = [point for point in points if (point.host, point.system) != system and point.host == system[0]]
        if not rest:
            continue
        lost = hosts_lost(rest, [point for point in points if not point.host]) if system[0] else accelerators_lost(rest)
        levels = family_levels(rest, lost)
        for point in out:
            known = point.level in levels
            filled = levels if known else {**levels, point.level: float(np.mean(list(levels.values())))}
            yield _left_out(point, float(residuals_of([point], filled, lost)[0]), "" if known else "chip")


def _left_out(point: HpcgPoint, residual: float, axis: str) -> LeftOut:
    return LeftOut(
        application="hpcg",
        row_id=point.row_id,
        source=point.system,
        regime="host" if point.host else "accelerator",
        chips=point.chips,
        axis=axis,
        residual=residual,
    )
