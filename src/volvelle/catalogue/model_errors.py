"""How far models are off on what they were not fitted to, by regime: one place for all applications.

Publications count once whatever their rows, as rows of one go wrong together; those of collectives, of which half have
one to seven rows of one size and others up to 245, count by most of them. What a regime reaches is pooled with what
those above it do, the more the fewer publications it has. Of bias, spread and rows, a regime with fewer than 30 rows or
4 publications hands over to its parent. What leaving a way adds is what the same rows are off beyond what they are with
only their publication left out; of training, publications that are alone with their software on their chips leave by
themselves and are held against all. Centres are not shifted by the bias that is found, which makes the interval score
of four fifths worse (width, and ten times what rows lie outside, publications left out in turn), of training 0.61 for
0.58, of collectives 0.88 for 0.85 when tried.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import exp, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from volvelle.catalogue.left_out import LEFT_ALONE, LeftOut, left_out_of
from volvelle.laws.model_error import covering_error, pooled_deviation, tilt_of_sides, two_levels
from volvelle.spread import model_reach, tilted

ENOUGH_ROWS, ENOUGH_SOURCES = 30, 4
PARENT = 3.0
"""How many publications of its own weigh as much as the regime above. With publications left out, scores are 0.953 for
0.965 of collectives, 0.508 for 0.530 of HPL and 1.32 for 1.46 of transforms, where regimes handed over instead; from a
half to four they differ by less than a hundredth, and this one is the narrowest at the coverage of ± 35 % that leaves
eight in ten of the large publications in their band."""
LEVEL = 0.8
COUNTED = {"collectives": 0.125}
"""By which power of its rows each row of a publication counts less, where that is not one. Scores of collectives are
0.953 to 0.956 from none to a half; a quarter and more leaves one large publication fewer in its band."""

TAILS = {"collectives": 2.0}
"""Degrees of freedom of errors that are not of four. Of publications of collectives that are left out in turn, ranges
of 50 and 95 % then hold 49 and 94 %, with four 55 and 92 %; scores are alike."""


TILTED = {"training": 0.5, "hpl": 0.5}
"""What share of the tilt that left-out rows have ranges take, of applications that gain by it: of training the score is
0.533 for 0.544 (0.536 with a quarter, 0.539 with all), of HPL 0.507 for 0.508 (0.509 with all). Of transforms,
recommendation models and collectives, which have few publications or large ones, any share makes ranges worse."""


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
    """Mean of the publications' means of ln(measured / predicted); shown, not taken out. Like both spreads it is of the
    nearest regime that has enough rows."""
    between: float
    """One standard deviation between publications."""
    within: float
    """One standard deviation within publications."""
    reach: float
    """What four fifths of new rows keep to, as a logarithm."""
    tilt: float = 0.0
    """By so much, as a logarithm, the upper side of ln(measured / predicted) reaches further, and the lower less."""
    pooled_rows: int = 0
    """Rows of all regimes above, with which its reach is pooled, the less the more publications are its own."""

    @property
    def factor(self) -> float:
        """One standard deviation as a factor."""
        return exp(self.reach / model_reach(LEVEL))

    @property
    def sides(self) -> tuple[float, float]:
        """What four fifths keep to below and above, as logarithms."""
        low, high = tilted(np.array([-self.reach, self.reach]), self.tilt).tolist()
        return low, high


def error_freedom(application: str) -> float:
    """Degrees of freedom of an application's errors: the fewer, the longer their tails."""
    return TAILS.get(application, 4.0)


def error_reach(application: str, level: float) -> float:
    """Deviations of an application's errors that hold a share of them."""
    return model_reach(level, freedom=error_freedom(application))


@cache
def model_error(application: str, regime: str = "", axes: tuple[str, ...] = (), without: str = "") -> ModelErrorRegime:
    """How far a model is off in a regime, or in the nearest above it that has rows.

    `axes` name ways in which a question leaves what was fitted; each adds what rows were off beyond the others when it
    was left out. `without` leaves a publication aside, to see how the others cover it.
    """
    found = replace(
        _narrowest(application, regime, without),
        reach=_pooled_reach(application, regime, without),
        tilt=_tilt(application, without),
        **_whose(application, regime, without),
    )
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


def _pooled_reach(application: str, regime: str, without: str) -> float:
    """What four fifths keep to in a regime, by its own publications and, the fewer they are, by those above it."""
    anything = _inside_of(application, "", without)
    assert anything is not None, f"no row of {application} was left out of its fit"
    found, parts = anything.reach, regime.split("/") if regime else []
    for count in range(1, len(parts) + 1):
        own = _inside_of(application, "/".join(parts[:count]), without)
        if own is not None:
            found = float(pooled_deviation(own.reach, own.sources, found, worth=PARENT))
    return found


@cache
def _inside_of(application: str, name: str, without: str) -> ModelErrorRegime | None:
    """All rows of a regime of which nothing but the publication was left out; asked for again for every one below."""
    rows = [row for row in _rows(application, without) if _inside(row) and _within(row, name)]
    return _of(rows, application, name)


def _whose(application: str, regime: str, without: str) -> dict[str, Any]:
    """The regime, or the nearest above it that has any rows; these rows, and those that they are pooled with."""
    rows = [row for row in _rows(application, without) if _inside(row)]
    name = regime
    while name and not any(_within(row, name) for row in rows):
        name = name.rpartition("/")[0]
    own = [row for row in rows if _within(row, name)]
    known = {"regime": name, "rows": len(own), "sources": len({row.source for row in own})}
    return {**known, "pooled_rows": len(rows) if name else 0}


@cache
def _tilt(application: str, without: str) -> float:
    """That of training is of ranges of the very steps: `volvelle.catalogue.training_errors`."""
    if application not in TILTED or application == "training":
        return 0.0
    rows = [row for row in _rows(application, without) if _inside(row)]
    reaches = {name: _pooled_reach(application, name, without) for name in {row.regime for row in rows}}
    return tilt_by(application, rows, np.array([reaches[row.regime] for row in rows]))


def tilt_by(application: str, rows: Sequence[LeftOut], reaches: NDArray[np.float64]) -> float:
    """What ranges of an application tilt by, by rows that reach so far in symmetric ones."""
    errors = np.array([row.residual for row in rows]) / reaches
    weights = publication_weights(application, [row.source for row in rows])
    return TILTED[application] * tilt_of_sides(errors, weights, level=LEVEL)


def publication_weights(application: str, sources: Sequence[str]) -> NDArray[np.float64]:
    """What rows of publications count: one on average, and those of large ones less."""
    sizes = Counter(sources)
    counted = np.array([float(sizes[name]) ** -COUNTED.get(application, 1.0) for name in sources])
    return np.asarray(counted * (len(sources) / counted.sum()))


def _of(rows: list[LeftOut], application: str, regime: str) -> ModelErrorRegime | None:
    if not rows:
        return None
    errors, groups = np.array([row.residual for row in rows]), [row.source for row in rows]
    bias, between, within = two_levels(errors, groups)
    return ModelErrorRegime(
        application=application,
        regime=regime,
        rows=len(rows),
        sources=len(set(groups)),
        bias=bias,
        between=between,
        within=within,
        reach=covering_error(errors, publication_weights(application, groups), level=LEVEL),
    )
