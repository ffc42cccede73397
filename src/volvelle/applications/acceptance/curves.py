"""Acceptance from windows: two numbers, the first position's and what is left of it at each one behind."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from volvelle.laws.serving.speculation import accepted_tokens, decayed_acceptance
from volvelle.quantities import Number
from volvelle.workload.serving.drafting import Windows

USUAL_DECAY = 0.951
"""Decay where a curve has a single short window: the geometric mean over whole calibration curves."""
Real = NDArray[np.float64]
_GRID: Real = np.arange(1, 1001) / 1000.0
_COARSE: Real = np.arange(1, 101) / 100.0
_NEAR = 0.025
_LEAST_DECAY = 0.3
_DECAYS: Real = _COARSE[_COARSE >= _LEAST_DECAY]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundAcceptance:
    """Acceptance of a curve: at the first position, and what is left of it at each one behind."""

    first: float
    decay: float

    def at(self, position: int) -> float:
        """Chance that the target agrees with a drafted token, if it agreed with all before; the first is at 1."""
        return float(decayed_acceptance(float(position), first=self.first, decay=self.decay))

    def tokens(self, window: int) -> float:
        """Tokens of a cycle."""
        return float(_tokens(self.first, self.decay, window))


def _tokens(first: Number, decay: Number, window: int) -> Number:
    places = range(1, window + 1)
    return accepted_tokens([decayed_acceptance(float(place), first=first, decay=decay) for place in places])


@cache
def acceptance_of(short: Windows, *, even: bool = False) -> FoundAcceptance:
    """The two numbers that leave the least squares of relative errors; `even`: no decay, one acceptance everywhere.

    One window cannot tell two numbers apart: then the decay is the usual one.
    """
    several = len({window for window, _ in short}) > 1
    decays = np.ones(1) if even else _DECAYS if several else np.array([USUAL_DECAY])
    first, decay = _best(short, _COARSE, decays)
    # The squares have one valley: a coarse grid finds it, a fine one its bottom.
    near = _GRID[np.abs(_GRID - first) <= _NEAR]
    return FoundAcceptance(**dict(zip(("first", "decay"), _best(short, near, _around(decay, decays)), strict=True)))


def _around(decay: float, decays: Real) -> Real:
    return decays if decays.size == 1 else _GRID[(np.abs(_GRID - decay) <= _NEAR) & (_GRID >= _LEAST_DECAY)]


def _best(short: Windows, firsts: Real, decays: Real) -> tuple[float, float]:
    """The two numbers of a grid."""
    first, decay = firsts[:, None], decays[None, :]
    made = {window: np.asarray(_tokens(first, decay, window)) for window in {window for window, _ in short}}
    off = sum((made[window] / tokens - 1.0) ** 2 for window, tokens in short)
    row, place = np.unravel_index(np.argmin(off), np.shape(off))
    return float(firsts[row]), float(decays[place])
