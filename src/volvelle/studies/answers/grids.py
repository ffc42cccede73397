"""Every point of a small study with a facet, as one map for each of its values."""

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from volvelle.studies.answers.pivot import grouped
from volvelle.studies.design_space.axes import Axis, Value
from volvelle.studies.design_space.design_study import DesignStudy
from volvelle.studies.design_space.measures import Objective
from volvelle.studies.sweep.query import Query

_MOST = 500
"""Points that a map may show."""
_COLUMNS = 40
"""Columns of a map at most, where fewer can be had."""
_AXES = 4
"""Axes that a map has room for: down, groups across, and two within each group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetGrid:
    """All points of one value of the facet: one axis down, one in groups across, up to two within each group.

    Where that makes more columns than can be read, two axes go down and one is left within each group.
    """

    value: Value
    down: tuple[Axis, ...]
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
    rows = 2 if prod(map(len, axes[1:])) > _COLUMNS else 1
    down, groups, within = tuple(axes[:rows]), axes[rows] if len(axes) > rows else None, tuple(axes[rows + 1 :])
    # Where all axes are given, the best of a group is its one point.
    found = ((goal, grouped(query, study, goal, [facet, *axes], len(study.grid))[0]) for goal in study.objectives)
    maps = [(goal, values.reshape(len(facet), prod(map(len, down)), -1)) for goal, values in found]
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
