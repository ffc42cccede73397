"""What own runs of a benchmark say of a machine: one factor, drawn from what other machines say towards them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import exp

import numpy as np
from numpy.typing import NDArray

from volvelle.catalogue.left_out import LeftOut, left_out_of
from volvelle.catalogue.model_errors import ENOUGH_ROWS, ENOUGH_SOURCES
from volvelle.laws.model_error import two_levels
from volvelle.laws.shrinkage import shrunk_shift, student_reach
from volvelle.quantities import percent

_LEVEL = 0.8
FREEDOM = 4.0
"""Rows as well as which the scatter within a machine is known."""
_FAR = 3.5
"""Standard deviations between own runs at which they disagree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFactor:
    """What own runs change of a rate."""

    value: float
    """Of the rate that is predicted without them."""
    error: float
    """One standard deviation of another run on the machine, as a factor; its range is Student's at the usual level."""
    runs: int
    note: str


@cache
def machine_spreads(application: str, regime: str) -> tuple[float, float]:
    """Between machines and within one, by runs whose machine the fit did not see; of all, where a regime has few.

    Machines of a regime lie no less apart than all do: where most have one run, none can tell the two levels apart.
    """
    rows = [row for row in left_out_of(application) if not row.axis]
    own = [row for row in rows if row.regime == regime]
    if len(own) < ENOUGH_ROWS or len({row.source for row in own}) < ENOUGH_SOURCES:
        return two_spreads(rows)
    between, within = two_spreads(own)
    return max(between, two_spreads(rows)[0]), within


def two_spreads(rows: Sequence[LeftOut]) -> tuple[float, float]:
    """Between machines and within one, by some rows."""
    _, between, within = two_levels(np.array([row.residual for row in rows]), [row.source for row in rows], centre=0.0)
    return between, within


def own_factor(errors: NDArray[np.float64], said: str, *, between: float, within: float) -> OwnFactor:
    """The factor by own logarithms of measured over predicted rates; `said` names the runs."""
    found = shrunk_shift(errors, centre=0.0, between=between, within=within, freedom=FREEDOM)
    # A log-normal factor whose range at the level asked for is Student's.
    scale = found.scale * student_reach(found.freedom, level=_LEVEL) / student_reach(1e6, level=_LEVEL)
    return OwnFactor(
        value=exp(found.shift),
        error=exp(scale),
        runs=len(errors),
        note=_note(said, errors, found.shift, within, between),
    )


def _note(said: str, errors: NDArray[np.float64], shift: float, within: float, between: float) -> str:
    off, taken = (f"{100.0 * (exp(error) - 1.0):+.1f} %" for error in (float(errors.mean()), shift))
    words = f"{said}: {off} from what other machines say, of which {taken} is taken over"
    deviation = float(np.max(np.abs(errors - errors.mean()))) / within
    if deviation > _FAR:
        words += (
            f"; they disagree by {deviation:.0f} standard deviations of runs on one machine ({percent(within, 0)}): "
            "two machines, two builds, or too small a grid?"
        )
    if abs(float(errors.mean())) > 2.0 * between:
        words += "; that is further than machines lie apart: is it the machine that is named, all of its devices?"
    return words
