"""Numbers as functions of the count of ranks: the simplest form that traces of some counts agree with."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

Feature = Callable[[int], float]


@cache
def grid_sides(ranks: int, dimensions: int) -> tuple[int, ...]:
    """Sides of a grid of ranks as MPI_Dims_create gives them: as equal as can be, the longest first.

    >>> grid_sides(32, 2)
    (8, 4)
    """
    if dimensions == 1:
        return (ranks,)
    best: tuple[int, ...] = ()
    for side in range(1, ranks + 1):
        if ranks % side == 0:
            rest = grid_sides(ranks // side, dimensions - 1)
            found = tuple(sorted((side, *rest), reverse=True))
            if not best or (found[0] - found[-1], found) < (best[0] - best[-1], best):
                best = found
        if side * side > ranks and best and side > best[0]:
            break
    return best


def _side(place: int, dimensions: int) -> Feature:
    return lambda ranks: float(grid_sides(ranks, dimensions)[place])


def _over(feature: Feature) -> Feature:
    return lambda ranks: 1.0 / feature(ranks)


def _less(feature: Feature) -> Feature:
    return lambda ranks: feature(ranks) - 1.0


def _face(place: int) -> Feature:
    return lambda ranks: math.prod(side for at, side in enumerate(grid_sides(ranks, 3)) if at != place)


FEATURES: dict[str, Feature] = {
    "1": lambda ranks: 1.0,
    "P": float,
    "P - 1": lambda ranks: ranks - 1.0,
    "1/P": lambda ranks: 1.0 / ranks,
    "1/P^2": lambda ranks: 1.0 / ranks**2,
    "log2 P": math.log2,
    "sqrt P": math.sqrt,
    "1/sqrt P": lambda ranks: 1.0 / math.sqrt(ranks),
    **{f"1/p{place + 1}": _over(_side(place, 2)) for place in range(2)},
    **{f"p{place + 1}": _side(place, 2) for place in range(2)},
    **{f"p{place + 1} - 1": _less(_side(place, 2)) for place in range(2)},
    **{f"1/q{place + 1}": _over(_side(place, 3)) for place in range(3)},
    **{f"q{place + 1}/P": _over(_face(place)) for place in range(3)},
}
"""Of P ranks: p are sides of a grid of two dimensions, q of three. The simplest first."""


@dataclass(frozen=True, slots=True)
class Form:
    """A constant, and a factor of a feature."""

    feature: str
    factor: float
    constant: float = 0.0

    def __call__(self, ranks: int) -> float:
        """Its value."""
        return self.constant + self.factor * FEATURES[self.feature](ranks)

    def __str__(self) -> str:
        if self.feature == "1":
            return f"{self.constant + self.factor:.6g}"
        told = f"{self.factor:.6g} × {self.feature}" if self.factor != 1.0 else self.feature
        return f"{self.constant:.6g} + {told}" if self.constant else told


def exact_form(values: Mapping[int, int]) -> Form | None:
    """The simplest form whose rounded values are these; None: there is none."""
    counts = sorted(values)
    last = counts[-1]
    if all(values[ranks] == values[last] for ranks in counts):
        return Form("1", float(values[last]))
    for name, feature in FEATURES.items():
        form = Form(name, values[last] / feature(last)) if feature(last) else None
        if form is not None and all(abs(form(ranks) - values[ranks]) < 1e-6 for ranks in counts):
            return form
    if len(counts) < 3:
        return None
    for name, feature in FEATURES.items():
        near, far = feature(counts[-2]), feature(last)
        if near != far:
            factor = (values[last] - values[counts[-2]]) / (far - near)
            form = Form(name, factor, values[last] - factor * far)
            if all(abs(form(ranks) - values[ranks]) < 1e-6 for ranks in counts):
                return form
    return None


_TIMES = ("1", "1/P", "P", "1/P^2", "log2 P", "sqrt P", "1/sqrt P")
_CLOSE = 0.15
"""Spread of times about a constant below which nothing else is looked for."""


def time_form(values: Mapping[int, float]) -> Form:
    """Seconds over counts of ranks: a constant where they are about one, else the form that is nearest to them."""
    counts = sorted(values)
    seen = np.array([values[ranks] for ranks in counts])
    if not np.any(seen > 0.0):
        return Form("1", 0.0)
    best, least = Form("1", float(seen.mean())), float(np.ptp(seen) / seen.mean())
    if least < _CLOSE or len(counts) < 2:
        return best
    for name in _TIMES[1:]:
        shape = np.array([FEATURES[name](ranks) for ranks in counts])
        table = np.stack([np.ones(len(counts)), shape], axis=1) / np.maximum(seen, 1e-12)[:, None]
        constant, factor = (float(each) for each in np.linalg.lstsq(table, np.ones(len(counts)), rcond=None)[0])
        if constant < 0.0 or factor < 0.0:
            constant, factor = 0.0, float((seen / shape).mean())
        made = constant + factor * shape
        spread = float(np.abs(made / np.maximum(seen, 1e-12) - 1.0).max())
        if spread < 0.9 * least:
            best, least = Form(name, factor, constant), spread
    return best


@dataclass(frozen=True, slots=True)
class TotalForm:
    """A total of all ranks: that of pieces of a plane, or the same of every rank."""

    corners: float
    cuts: float
    each: float = 0.0

    def __call__(self, ranks: int) -> float:
        """Its value, never negative."""
        corners, cuts = _plane(ranks)
        return max(self.corners * corners + self.cuts * cuts + self.each * ranks, 0.0)

    def __str__(self) -> str:
        if self.each:
            return f"{self.each:.6g} × P"
        return f"{self.corners:.6g} × (p1 - 1)(p2 - 1) + {self.cuts:.6g} × sqrt P (p1 + p2 - 2)"


_EVEN = 0.02
"""Of itself that a total a rank may vary and still be taken as the same on any count."""


def total_form(values: Mapping[int, float]) -> TotalForm:
    """Totals that follow no exact form, like the messages of ranks whose neighbours come by chance.

    Where a rank has the same on any count, that; else what a plane cut into p1 by p2 pieces has: places where four of
    them meet, and the length of all cuts in parts of a piece. Of 55 forms of one or two of ten terms this was nearest
    on 20 draws of points other than those of the example; on 20 draws that it was not chosen by, 4, 8 and 16 ranks say
    those of 32 to 3.4 % of pairs and 4.7 % of bytes in the mean, and 12 % at worst.
    """
    counts = sorted(values)
    seen = np.array([values[ranks] for ranks in counts])
    each = seen / np.array(counts)
    if len(counts) < 2 or each.min() <= 0.0 or np.ptp(each) <= _EVEN * each.mean():
        return TotalForm(0.0, 0.0, float(each[-1]))
    table = np.array([_plane(ranks) for ranks in counts]) / seen[:, None]
    corners, cuts = np.linalg.lstsq(table, np.ones(len(counts)), rcond=None)[0]
    return TotalForm(float(corners), float(cuts))


def _plane(ranks: int) -> tuple[float, float]:
    """Places where four pieces meet, and the length of all cuts over the mean side of a piece."""
    wide, high = grid_sides(ranks, 2)
    return float((wide - 1) * (high - 1)), math.sqrt(ranks) * (wide + high - 2)
