"""What each part of a step waits for: memory traffic, arithmetic, the network, launches of kernels, or the host."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from volvelle.estimators.serving.iteration import Batch
from volvelle.estimators.serving.speculative import TimedSteps
from volvelle.system.chip import Chip

MEMORY, ARITHMETIC, NETWORK, LAUNCHES, HOST = (
    "memory traffic",
    "arithmetic",
    "network",
    "kernel launches",
    "host",
)
_BETWEEN_CHIPS = ("all-reduce", "dispatch and combine", "hand-over")
"""Parts that go over links."""
_FASTER = 1.1
"""Times as fast a resource is made to see what a part makes of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedPart:
    """A part of the time, and what bounds it."""

    name: str
    seconds: float
    bound: str


def part_bounds(iteration: TimedSteps, batch: Batch) -> Mapping[str, str]:
    """What bounds each part of one step: the resource that shortens it most where there is a tenth more of it."""
    plain = _seconds(iteration, batch)
    read = _seconds(iteration.on(_with_faster_memory(iteration.chip)), batch)
    worked = _seconds(iteration.on(_with_faster_arithmetic(iteration.chip)), batch)
    found = {}
    for part, time in plain.items():
        if part in _BETWEEN_CHIPS:
            found[part] = NETWORK
        elif time > 0.0:
            shares = {name: _share(time, faster[part]) for name, faster in ((MEMORY, read), (ARITHMETIC, worked))}
            shares[LAUNCHES] = 1.0 - sum(shares.values())
            found[part] = max(shares, key=lambda name: shares[name])
    return found


def _share(time: float, faster: float) -> float:
    """Of a time that falls with a resource."""
    return (time - faster) / time / (1.0 - 1.0 / _FASTER)


def _seconds(iteration: TimedSteps, batch: Batch) -> Mapping[str, float]:
    return {part: float(np.max(time)) for part, time in iteration.parts(batch).items()}


def _with_faster_memory(chip: Chip) -> Chip:
    return replace(chip, memories=tuple(replace(tier, rate=_FASTER * tier.rate) for tier in chip.memories))


def _with_faster_arithmetic(chip: Chip) -> Chip:
    return replace(chip, matrix_rates={element: _FASTER * rate for element, rate in chip.matrix_rates.items()})
