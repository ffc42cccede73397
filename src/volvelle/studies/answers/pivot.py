"""The best that every value of an axis, or of two, allows: the best over all other axes, through the database.

A point's number says where on every axis it lies, so groups are whole numbers and are made while rows are read.
"""

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from volvelle.studies.answers.designs import quoted, where
from volvelle.studies.design_space.axes import Axis, Value
from volvelle.studies.design_space.design_study import DesignStudy
from volvelle.studies.design_space.measures import Objective
from volvelle.studies.sweep.query import Query

_LONG = 1_000
"""Values of an axis above which a profile takes neighbours together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Best objective at every value of an axis."""

    axis: str
    goal: Objective
    path: str
    """The field that stands for the axis: its own, or the first of those that move together."""
    values: tuple[tuple[Value, ...], ...]
    """Values that each entry stands for: one, or neighbours where the axis is long."""
    best: NDArray[np.float64]
    """Not a number where no point meets the constraints."""
    met: NDArray[np.int64]
    """Points that run and meet the constraints."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pivot:
    """Best objective over two axes, whatever the others are; neighbours taken together where there are many."""

    goal: Objective
    down: str
    across: str
    rows: tuple[tuple[Value, ...], ...]
    """Values of the first axis that each row stands for."""
    columns: tuple[tuple[Value, ...], ...]
    best: NDArray[np.float64]
    """One row for each of `rows`; not a number where no point meets the constraints."""
    met: NDArray[np.int64]


def profile(query: Query, study: DesignStudy, axis: Axis) -> Profile:
    """The best at every value of an axis."""
    goal = study.objectives[0]
    best, met = grouped(query, study, goal, [axis], _LONG)
    path, values = _values(axis, _LONG)
    return Profile(axis=axis.name, goal=goal, path=path, values=values, best=best, met=met)


def spread_of(found: Profile) -> float:
    """How much an axis matters: its worst value over its best, less one."""
    known = found.best[np.isfinite(found.best)]
    if not len(known):
        return 0.0
    low, high = float(known.min()), float(known.max())
    return high / low - 1.0 if low > 0 else high - low


def pivot(query: Query, study: DesignStudy, down: Axis, across: Axis, *, most: int = 14) -> Pivot:
    """The best at every pair of values of two axes, in at most so many rows and columns."""
    goal = study.objectives[0]
    best, met = grouped(query, study, goal, [down, across], most)
    (row_path, rows), (column_path, columns) = (_values(axis, most) for axis in (down, across))
    return Pivot(goal=goal, down=row_path, across=column_path, rows=rows, columns=columns, best=best, met=met)


def _values(axis: Axis, most: int) -> tuple[str, tuple[tuple[Value, ...], ...]]:
    """The field that stands for an axis, and its values as they are taken together."""
    path, values = next(iter(axis.columns.items()))
    size = _together(axis, most)
    return path, tuple(values[start : start + size] for start in range(0, len(values), size))


def _together(axis: Axis, most: int) -> int:
    return -(-len(axis) // most)


def grouped(
    query: Query, study: DesignStudy, goal: Objective, axes: list[Axis], most: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Best and count at every combination of values, so many of an axis at most."""
    places = [study.axes.index(axis) for axis in axes]
    keys = [
        f"point // {prod(len(later) for later in study.axes[place + 1 :])} % {len(axis)} // {_together(axis, most)}"
        for axis, place in zip(axes, places, strict=True)
    ]
    chosen = ", ".join(f"{key} AS __{place}" for place, key in enumerate(keys))
    column = quoted(goal.name)
    best_of = f"{'min' if goal.less else 'max'}({column}) FILTER (WHERE isfinite({column}))"
    found = query.columns(
        f"SELECT {chosen}, {best_of} AS __best, count(*) AS __met FROM points WHERE {where(study.constraints)} "
        f"GROUP BY {', '.join(f'__{place}' for place in range(len(keys)))}"
    )
    shape = tuple(-(-len(axis) // _together(axis, most)) for axis in axes)
    best, met = np.full(shape, np.nan), np.zeros(shape, dtype=np.int64)
    at = tuple(np.asarray(found[f"__{place}"], dtype=np.int64) for place in range(len(keys)))
    best[at], met[at] = found["__best"], found["__met"]
    return best, met
