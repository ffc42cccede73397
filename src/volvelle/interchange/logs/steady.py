"""Steady steps of a run: what is left without its start and without checkpoints and evaluations.

The first steps compile, allocate and fill caches; a step beside a checkpoint or an evaluation waits. The time of a run
is the middle one of the rest, its spread the interquartile range: neither moves with a few stragglers.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

FEWEST = 10
"""Steady steps below which a run is taken with a warning."""
_START, _START_SHARE = 5, 0.1
_FAR = 3.0
"""Interquartile ranges from the middle beyond which a step is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SteadySteps:
    """Statistics of steady steps."""

    seconds: float
    """The middle one."""
    spread: float
    """Interquartile range over the middle one."""
    steps: int
    """How many, those counted that a line is the mean of."""
    lines: frozenset[int]
    """Of the log that they are from."""
    started: int
    """Lines left out as the start of the run."""
    beside: int
    """Lines left out because a checkpoint or an evaluation was beside them."""
    outliers: tuple[int, ...] = ()
    """Lines with a time far from the middle; they are counted, as the middle does not mind them."""


def steady_steps(
    seconds: Sequence[float],
    steps: Sequence[int],
    lines: Sequence[int],
    *,
    disturbed: Sequence[bool],
    begins: bool,
) -> SteadySteps | None:
    """Of a run's lines, in their order; `begins` where its start is among them. None: nothing is left.

    A log that begins later than its run is counted from step 0.
    """
    if not seconds:
        return None
    interval = min((later - sooner for sooner, later in itertools.pairwise(steps)), default=1)
    first = steps[0] - interval if begins else 0
    start = max(_START, ceil(_START_SHARE * (steps[-1] - first)))
    kept, started, beside = [], 0, 0
    for place, step in enumerate(steps):
        # A line is the mean of the steps since the line before.
        if step - interval - first < start:
            started += 1
        elif disturbed[place]:
            beside += 1
        else:
            kept.append(place)
    if not kept:
        return None
    values = np.array([seconds[place] for place in kept])
    low, middle, high = (float(value) for value in np.quantile(values, (0.25, 0.5, 0.75)))
    reach = _FAR * max(high - low, 0.02 * middle)
    return SteadySteps(
        seconds=middle,
        spread=(high - low) / middle,
        steps=len(kept) * interval,
        lines=frozenset(lines[place] for place in kept),
        started=started,
        beside=beside,
        outliers=tuple(lines[place] for place in kept if abs(seconds[place] - middle) > reach),
    )
