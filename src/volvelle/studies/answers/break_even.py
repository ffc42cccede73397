"""Break-even lines: where, in the plane of two numbers of the machine, an objective equals that of a reference.

Signs on a coarse grid bracket the line; bisection on the model itself then finds it to a thousandth.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.studies.answers.designs import Design
from volvelle.studies.design_space.axes import Axis
from volvelle.studies.design_space.evaluate import Evaluator
from volvelle.studies.design_space.fields import numeric_field
from volvelle.studies.design_space.measures import Objective

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]

_EXACT = 1e-3
_NARROW = 1e-4
"""Width of a bracket, as a share of its value, at which bisection ends."""
_ROUNDS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """One point of the line."""

    x: float
    y: float
    value: float
    """The objective there, by the model."""
    jump: bool
    """Whether the objective jumps over the reference there, so that none equals it: another layout comes to fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakEven:
    """The line, all other numbers as at a design."""

    x: str
    y: str
    goal: Objective
    design: Design
    reference: float
    """What the objective is on the line."""
    said: str
    """Whose that is."""
    crossings: tuple[Crossing, ...]
    """From one end of the line to the other."""
    x_span: tuple[float, float]
    y_span: tuple[float, float]
    better_above: bool | None
    """Whether the objective is better for more y than on the line; None: there is no line, or it varies."""


def plane_axes(evaluator: Evaluator) -> tuple[Axis, ...]:
    """Axes that a line can be drawn over: numbers of the machine with at least two values above zero."""
    study = evaluator.study
    return tuple(
        axis
        for axis in study.axes
        if len(axis.columns) == 1
        and numeric_field(axis.name, study.base) is not None
        and len({float(value) for value in axis.columns[axis.name]}) > 1
        and min(float(value) for value in axis.columns[axis.name]) > 0
    )


def break_even(
    evaluator: Evaluator,
    design: Design,
    x: str,
    y: str,
    *,
    reference: float,
    said: str = "the reference",
    points: int = 13,
) -> BreakEven:
    """Where the objective equals a reference: along so many values of either axis."""
    goal = evaluator.study.objectives[0]
    known = {axis.name: axis for axis in plane_axes(evaluator)}
    for name in (x, y):
        if name not in known:
            raise UnknownNameError.among("numeric axis", name, known)
    if x == y:
        raise DescriptionError(f"a plane needs two axes, and {x} is given twice")
    (x_low, x_high), (y_low, y_high) = (_ends(known[name]) for name in (x, y))
    xs, ys = np.geomspace(x_low, x_high, points), np.geomspace(y_low, y_high, points)

    def value(at_x: Floats, at_y: Floats) -> Floats:
        found = evaluator.near(design.number, {x: at_x, y: at_y}, measures=(goal.name,))
        # What cannot run is worse than any reference.
        worst = np.inf if goal.less else -np.inf
        return np.where(found.feasible, found.columns[goal.name], worst)

    grid = value(np.repeat(xs, points), np.tile(ys, points)).reshape(points, points)
    # Along y for every x, and along x for every y: a steep line is found by the one, a flat one by the other.
    found = list[Crossing]()
    better: bool | None = None
    for over, fixed, moving, turned in ((grid > reference, xs, ys, False), (reference < grid.T, ys, xs, True)):
        rows, places = np.nonzero(over[:, 1:] != over[:, :-1])
        if not len(rows):
            continue
        rising = over[rows, places + 1]

        def along(at: Floats, moved: Floats, turned: bool = turned) -> Floats:
            return value(moved, at) if turned else value(at, moved)

        middle = _bisected(along, fixed[rows], moving[places], moving[places + 1], rising, reference)
        for at, moved, there in zip(fixed[rows], middle, along(fixed[rows], middle), strict=True):
            at_x, at_y = (moved, at) if turned else (at, moved)
            off = abs(there - reference) > _EXACT * abs(reference)
            found.append(Crossing(x=float(at_x), y=float(at_y), value=float(there), jump=bool(off)))
        if better is None and (rising.all() or not rising.any()):
            better = bool(rising.all()) != goal.less
    return BreakEven(
        x=x,
        y=y,
        goal=goal,
        design=design,
        reference=reference,
        said=said,
        crossings=_in_order(found),
        x_span=(x_low, x_high),
        y_span=(y_low, y_high),
        better_above=better,
    )


def _bisected(
    along: Callable[[Floats, Floats], Floats], at: Floats, low: Floats, high: Floats, rising: Truths, reference: float
) -> Floats:
    """Where the objective crosses the reference between two values, for every bracket at once."""
    for _ in range(_ROUNDS):
        if np.all(high / low - 1.0 < _NARROW):
            break
        middle = np.sqrt(low * high)
        beyond = (along(at, middle) > reference) == rising
        high, low = np.where(beyond, middle, high), np.where(beyond, low, middle)
    return np.sqrt(low * high)


def _in_order(found: Sequence[Crossing]) -> tuple[Crossing, ...]:
    """Along the line: it falls where one number stands in for the other, else it rises."""
    if len(found) < 2:
        return tuple(found)
    xs, ys = (np.log([getattr(one, name) for one in found]) for name in ("x", "y"))
    falls = float(((xs - xs.mean()) * (ys - ys.mean())).sum()) <= 0
    spans = max(float(np.ptp(xs)), 1e-9), max(float(np.ptp(ys)), 1e-9)
    order = np.argsort(xs / spans[0] - ys / spans[1] if falls else xs / spans[0] + ys / spans[1], kind="stable")
    return tuple(found[int(place)] for place in order)


def _ends(axis: Axis) -> tuple[float, float]:
    values = [float(value) for value in axis.columns[axis.name]]
    return min(values), max(values)
