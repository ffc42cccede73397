"""What each part of a step waits for: memory traffic, arithmetic, the network, launches of kernels, or the host."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from volvelle.estimators.serving.iteration import Column
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


def compared(chip: Chip) -> Chip:
    """The chip, the same with faster memory, and with faster arithmetic, as columns of rates."""
    memory, arithmetic = np.array([1.0, _FASTER, 1.0]), np.array([1.0, 1.0, _FASTER])
    return replace(
        chip,
        memories=tuple(replace(tier, rate=memory * tier.rate) for tier in chip.memories),
        matrix_rates={element: arithmetic * rate for element, rate in chip.matrix_rates.items()},
    )


def part_bounds(parts: Mapping[str, Column]) -> Mapping[str, str]:
    """What bounds each part: the resource that shortens it most where there is a tenth more of it.

    Seconds are those of the chips that are compared.
    """
    found = {}
    for part, (time, read, worked) in parts.items():
        if part in _BETWEEN_CHIPS:
            found[part] = NETWORK
        elif time > 0.0:
            shares = {MEMORY: _share(time, read), ARITHMETIC: _share(time, worked)}
            shares[LAUNCHES] = 1.0 - sum(shares.values())
            found[part] = max(shares, key=lambda name: shares[name])
    return found


def _share(time: float, faster: float) -> float:
    """Of a time that falls with a resource."""
    return (time - faster) / time / (1.0 - 1.0 / _FASTER)
