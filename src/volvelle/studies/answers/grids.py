"""Every point of a small study with a facet, as one map for each of its values."""

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from volvelle.studies.answers.designs import quoted, where
from volvelle.studies.design_space.axes import Axis, Value
from volvelle.studies.design_space.design_study import DesignStudy
from volvelle.studies.design_space.measures import Objective
from volvelle.studies.sweep.query import Query

_MOST = 400
"""Points that a map may show."""
_AXES = 4
"""Axes that a map has room for: down, groups across, and two within each group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetGrid:
    """All points of one value of the facet: one axis down, one in groups across, up to two within each group."""

    value: Value
    down: Axis
    groups: Axis | None
    within: tuple[Axis, ...]
    panels: tuple[tuple[Objective, NDArray[np.float64]], ...]
    """An objective, and its value at every point, row by row; not a number where a point cannot run or fails."""


def facet_grids(query: Query, study: DesignStudy) -> tuple[FacetGrid, ...]:
    """A map for each value of the facet; none where the study has no facet, or more than a map can show."""
    facet = next((axis for axis in study.axes if axis.name == study.form.facet), None)
    axes = sorted((axis for axis in study.axes if axis is not facet and len(axis) > 1), key=len, reverse=True)
    if facet is None or not axes or len(axes) > _AXES or prod(map(len, axes)) > _MOST or study.grid.drawn:
        return ()
    down, groups, within = axes[0], axes[1] if len(axes) > 1 else None, tuple(axes[2:])
    names = [quoted(goal.name) for goal in study.objectives]
    columns = ", ".join(f"{name} AS __{place}" for place, name in enumerate(names))
    found = query.columns(f"SELECT point, {columns} FROM points WHERE {where(study.constraints)}")
    positions = study.grid.positions(np.asarray(found["point"], dtype=np.int64))
    across = np.zeros(len(found["point"]), dtype=np.int64)
    for axis in (*([groups] if groups else []), *within):
        across = across * len(axis) + positions[axis.name]
    shape = (len(facet), len(down), prod(len(axis) for axis in axes[1:]))
    maps = []
    for place, goal in enumerate(study.objectives):
        values = np.full(shape, np.nan)
        values[positions[facet.name], positions[down.name], across] = found[f"__{place}"]
        maps.append((goal, values))
    path = next(iter(facet.columns))
    return tuple(
        FacetGrid(
            value=value,
            down=down,
            groups=groups,
            within=within,
            panels=tuple((goal, values[place]) for goal, values in maps),
        )
        for place, value in enumerate(facet.columns[path])
    )
