"""How far models are off on what they were not fitted to, by regime: one place for all applications.

Publications count once whatever their rows, as rows of one go wrong together; those of collectives, of which half have
one to seven rows of one size and others up to 245, count by most of them. A regime with fewer than 30 rows or 4
publications hands over to its parent. What leaving a way adds is what the same rows are off beyond what they are with
only their publication left out; of training, publications that are alone with their software on their chips leave by
themselves and are held against all. Centres are not shifted by the bias that is found, nor are sides told apart:
both make the interval score of four fifths worse (width, and ten times what rows lie outside, publications left out in
turn), of training 0.61 and 0.64 for 0.58, of HPL 0.53 and 0.54 for 0.53, of collectives 0.88 and 0.90 for 0.85;
recommendation models would gain, by five publications.
"""

from dataclasses import dataclass, replace
from functools import cache
from math import exp, sqrt

import numpy as np

from volvelle.catalogue.left_out import LEFT_ALONE, LeftOut, left_out_of
from volvelle.laws.model_error import covering_error, two_levels
from volvelle.spread import model_reach

ENOUGH_ROWS, ENOUGH_SOURCES = 30, 4
LEVEL = 0.8
COUNTED = {"collectives": 0.25}
"""By which power of its rows each row of a publication counts less, where that is not one: as interval scores are least
(0.940 for 0.946 of collectives, and 0.934 with a half, which holds fewer publications in their band)."""

TAILS = {"collectives": 2.0}
"""Degrees of freedom of errors that are not of four. Of publications of collectives that are left out in turn, ranges
of 50 and 95 % then hold 49 and 94 %, with four 55 and 92 %; scores are alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelErrorRegime:
    """What rows that their fit did not see say of one kind of question."""

    application: str
    regime: str
    """Whose rows these are; empty: all of the application."""
    axes: tuple[str, ...] = ()
    """In which ways the question leaves what was fitted, of those that `left_axes` knows."""
    rows: int
    sources: int
    bias: float
    """Mean of the publications' means of ln(measured / predicted); shown, not taken out."""
    between: float
    """One standard deviation between publications."""
    within: float
    """One standard deviation within publications."""
    reach: float
    """What four fifths of new rows keep to, as a logarithm."""

    @property
    def factor(self) -> float:
        """One standard deviation as a factor."""
        return exp(self.reach / model_reach(LEVEL))


def error_reach(application: str, level: float) -> float:
    """Deviations of an application's errors that hold a share of them."""
    return model_reach(level, freedom=TAILS.get(application, 4.0))


@cache
def model_error(application: str, regime: str = "", axes: tuple[str, ...] = (), without: str = "") -> ModelErrorRegime:
    """How far a model is off in a regime, or in the nearest above it that has enough rows.

    `axes` name ways in which a question leaves what was fitted; each adds what rows were off beyond the others when it
    was left out. `without` leaves a publication aside, to see how the others cover it.
    """
    found = _narrowest(application, regime, without)
    if not axes:
        return found
    squares = found.reach**2
    for axis in axes:
        squares += added_square(application, axis, regime, without)
    return replace(found, axes=axes, reach=sqrt(squares))


def all_of_regime(application: str, regime: str = "") -> ModelErrorRegime | None:
    """What all rows of a regime say, however few, for ranges that are made of just these; None: there are none.

    Where all of an application are of one regime, it is named.
    """
    rows = [row for row in left_out_of(application) if _inside(row) and _within(row, regime)]
    named = {row.regime for row in rows} if not regime else {regime}
    return _of(rows, application, named.pop() if len(named) == 1 else "")


def axis_error(application: str, axis: str) -> ModelErrorRegime:
    """How far rows are off that a way was left out with."""
    return replace(_narrowest(application, "", "", axis), axes=(axis,))


def added_square(application: str, axis: str, regime: str = "", without: str = "") -> float:
    """What leaving a way adds to the square of a reach.

    Runs alone on their chips have no counterpart that leaves by its publication alone; they count in the former.
    """
    beyond = _narrowest(application, regime, without, axis)
    like: ModelErrorRegime | None = None
    if axis not in LEFT_ALONE:
        rows = _rows(application, without)
        same = {row.row_id for row in rows if row.axis == axis and _within(row, beyond.regime)}
        like = _of([row for row in rows if _inside(row) and row.row_id in same], application, beyond.regime)
    like = like or _narrowest(application, beyond.regime, without)
    return float(max(0.0, beyond.reach**2 - like.reach**2))


def left_axes(application: str) -> frozenset[str]:
    """Ways of leaving what was fitted that rows tell of."""
    return frozenset(row.axis for row in left_out_of(application)) - {""}


def _rows(application: str, without: str) -> list[LeftOut]:
    return [row for row in left_out_of(application) if row.source != without]


def _inside(row: LeftOut) -> bool:
    """Whether nothing but its publication was left out with a row."""
    return not row.axis or row.axis in LEFT_ALONE


def _within(row: LeftOut, regime: str) -> bool:
    return not regime or f"{row.regime}/".startswith(f"{regime}/")


def _narrowest(application: str, regime: str, without: str, axis: str = "") -> ModelErrorRegime:
    rows = [row for row in _rows(application, without) if (row.axis == axis if axis else _inside(row))]
    name = regime
    while name:
        found = _of([row for row in rows if _within(row, name)], application, name)
        if found is not None and found.rows >= ENOUGH_ROWS and found.sources >= ENOUGH_SOURCES:
            return found
        name = name.rpartition("/")[0]
    anything = _of(rows, application, "")
    assert anything is not None, f"no row of {application} was left out of its fit{f' by its {axis}' if axis else ''}"
    return anything


def _of(rows: list[LeftOut], application: str, regime: str) -> ModelErrorRegime | None:
    if not rows:
        return None
    errors, groups = np.array([row.residual for row in rows]), [row.source for row in rows]
    sizes = {name: groups.count(name) for name in set(groups)}
    counted = np.array([float(sizes[name]) ** -COUNTED.get(application, 1.0) for name in groups])
    weights = counted * (len(rows) / counted.sum())
    bias, between, within = two_levels(errors, groups)
    return ModelErrorRegime(
        application=application,
        regime=regime,
        rows=len(rows),
        sources=len(sizes),
        bias=bias,
        between=between,
        within=within,
        reach=covering_error(errors, weights, level=LEVEL),
    )
