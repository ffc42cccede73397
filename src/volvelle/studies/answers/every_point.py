"""Small studies whole: every point, against the machine as it is."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from volvelle.errors import VolvelleError
from volvelle.studies.design_space.axes import Value
from volvelle.studies.design_space.design_study import DesignStudy
from volvelle.studies.design_space.evaluate import Evaluator
from volvelle.studies.design_space.structure import WORKLOAD
from volvelle.studies.sweep.query import Query

MOST = 50
"""Points of a study that is shown whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One point of a small study."""

    number: int
    fields: Mapping[str, Value]
    reason: str
    """Why it cannot run; empty: it can."""
    measures: Mapping[str, float]
    """What was asked for; none where it cannot run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EveryPoint:
    """All points of a small study, and the machine that axes start from."""

    baseline: Mapping[str, float]
    """Measures of the study's system as it is; none where it cannot run, or the points are others'."""
    points: tuple[Point, ...]

    def change(self, point: Point, name: str) -> float | None:
        """A measure of a point over that of the baseline; None: one of them has none."""
        before, now = self.baseline.get(name), point.measures.get(name)
        return now / before if before and now is not None else None


def every_point(query: Query, study: DesignStudy, evaluator: object) -> EveryPoint | None:
    """All points in the order of the study, where they are few enough to read."""
    if len(study.grid) > MOST:
        return None
    paths = [path for axis in study.axes for path in axis.columns]
    points = []
    for row in query.rows("SELECT * FROM points ORDER BY point"):
        runs = bool(row["feasible"])
        points.append(
            Point(
                number=int(row["point"]),
                fields={path: row[path] for path in paths},
                reason="" if runs else str(row["reason"]),
                measures=_finite({name: row[name] for name in study.measures}) if runs else {},
            )
        )
    return EveryPoint(baseline=_baseline(evaluator) if isinstance(evaluator, Evaluator) else {}, points=tuple(points))


def _baseline(evaluator: Evaluator) -> Mapping[str, float]:
    if WORKLOAD in evaluator.study.structural & {path for axis in evaluator.study.axes for path in axis.columns}:
        return {}  # what a machine takes for all workloads is nothing that one of them compares with
    try:
        found = evaluator.near(None, {})
    except VolvelleError:
        return {}  # axes say what the system leaves open, so there is none by itself
    return _finite({name: column[0] for name, column in found.columns.items()}) if found.feasible[0] else {}


def _finite(values: Mapping[str, object]) -> dict[str, float]:
    numbers = {name: float(value) for name, value in values.items() if isinstance(value, int | float | np.number)}
    return {name: value for name, value in numbers.items() if np.isfinite(value)}
