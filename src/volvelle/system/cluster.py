"""Clusters: one kind of chip, and nested network dimensions that join them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import accumulate
from math import prod
from operator import mul
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from volvelle.domains import ACCELERATORS, BYTE_RATE, NO_POWER, PUE, SIZE, check_fields, number
from volvelle.errors import DescriptionError
from volvelle.presentable import folded
from volvelle.quantities import Bytes, BytesPerSecond, Number, Watts, is_plainly
from volvelle.spread import Figure
from volvelle.system.chip import Chip
from volvelle.system.host_power import HOST_POWER_SHARE
from volvelle.system.link import Link
from volvelle.system.routing import Routing
from volvelle.system.topologies import AbstractTopology


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """One level of the network: `size` units of the level below, joined in some shape."""

    name: str
    size: int = number(ACCELERATORS)
    topology: AbstractTopology
    link: Link
    """As one chip sees it."""
    routing: Routing | None = None
    """Which of several shortest ways a message takes; None: nobody says."""

    def __post_init__(self) -> None:
        check_fields(self, f"network dimension {self.name!r}")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Cluster:
    """A machine: chips in nested network dimensions, innermost first."""

    name: str
    chip: Chip
    dimensions: tuple[Dimension, ...]
    host_power: Watts | None = number(NO_POWER, None)
    """Each chip's share of what is not chips: hosts, fans, adapters, switches; None: the cluster states none."""
    host_rate: BytesPerSecond | None = number(BYTE_RATE, None)
    """What one chip sustains to and from host memory, each direction; None: there is none."""
    host_link: Link | None = None
    """The link behind that rate, where it is known: how sure we are of it."""
    host_memory: Bytes | None = number(SIZE, None)
    """Each chip's share of the memory of its host; None: not known."""
    host_memory_rate: BytesPerSecond | None = number(BYTE_RATE, None)
    """Each chip's share of the peak rate of that memory; None: not known."""
    pue: Number = number(PUE, 1.0)
    """Power at the meter over power in the racks."""
    figures: Mapping[str, Figure] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    catalogue_folders: tuple[Path, ...] = ()
    """Folders of the user's catalogue that it came from, for prices of its site; the package's own is not named."""

    def __post_init__(self) -> None:
        where = f"cluster {self.name!r}"
        check_fields(self, where)
        if not self.dimensions:
            raise DescriptionError(f"{where} needs at least one network dimension")
        ACCELERATORS.check(self.accelerators, f"{where}: the number of accelerators")

    @property
    def host_watts(self) -> Watts | None:
        """Rated host power per chip: as stated, or else a stand-in; None if the chip's power is unknown too."""
        if self.host_power is not None or self.chip.power is None:
            return self.host_power
        return HOST_POWER_SHARE.value * self.chip.power

    @property
    def host_note(self) -> str:
        """Return a sentence if a stand-in replaces the power of hosts, or nothing."""
        watts = self.host_watts
        if self.host_power is not None or watts is None:
            return ""
        low, high = (100 * end for end in HOST_POWER_SHARE.bounds(1.0))
        return (
            f"{self.name} states no host_power: {float(np.max(np.asarray(watts))):.0f} W per accelerator is assumed "
            f"({100 * HOST_POWER_SHARE.value:.0f} % of its rated power; {low:.0f} to {high:.0f} % is possible)"
        )

    @property
    def notes_on_power(self) -> tuple[str, ...]:
        """Return the notes, and what the power at the meter lacks or assumes."""
        found = [self.host_note] if self.host_note else []
        if self.chip.power is not None and "pue" not in self.figures and is_plainly(self.pue, 1.0):
            found.append(f"{self.name} states no pue: power, energy and money leave cooling and conversion out")
        return (*self.notes, *found)

    def __repr__(self) -> str:
        shape = " × ".join(f"{dimension.size} ({dimension.name})" for dimension in self.dimensions)
        notes = "".join(f"; {note}" for note in self.notes)
        return folded(f"{type(self).__name__}({self.name!r}: {self.accelerators} × {self.chip.name} as {shape}{notes})")

    @property
    def accelerators(self) -> int:
        """How many chips there are."""
        return prod(dimension.size for dimension in self.dimensions)

    def take(self, rows: NDArray[np.intp]) -> "Cluster":
        """The machine of some rows, where its numbers are columns."""
        taken: Cluster = _taken(self, rows)
        return taken

    def row(self, index: int) -> "Cluster":
        """The machine of one row, its columns made plain numbers."""
        taken: Cluster = _taken(self, index)
        return taken

    @property
    def spans(self) -> tuple[int, ...]:
        """Chips in one unit of each dimension, innermost first: 8 in a node, 1024 in all."""
        return tuple(accumulate((dimension.size for dimension in self.dimensions), mul))


def _taken(value: Any, rows: NDArray[np.intp] | int) -> Any:
    """A value with every column in it cut to some rows, or to the number of one."""
    if isinstance(value, np.ndarray):
        if isinstance(rows, int):
            return float(value.flat[rows if value.size > 1 else 0])
        return value[rows] if value.size > 1 else value
    if is_dataclass(value) and not isinstance(value, type | Figure):
        parts = {part.name: getattr(value, part.name) for part in fields(value)}
        cut = {name: _taken(part, rows) for name, part in parts.items() if name != "figures"}
        changed = {name: part for name, part in cut.items() if part is not parts[name]}
        return replace(value, **changed) if changed else value
    if isinstance(value, tuple):
        cut_parts = tuple(_taken(part, rows) for part in value)
        return cut_parts if any(a is not b for a, b in zip(cut_parts, value, strict=True)) else value
    if isinstance(value, Mapping):
        cut_values = {key: _taken(part, rows) for key, part in value.items()}
        return cut_values if any(cut_values[key] is not value[key] for key in value) else value
    return value


def nested_sizes(count: int, sizes: tuple[int | None, ...], *, name: str) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Sizes of a template's dimensions for a number of chips, and notes on what had to give.

    The dimension of size None takes the rest. Where the count is no multiple of a dimension's size, units are
    filled evenly with as many chips as divide it: 12 chips in nodes of 8 are two nodes of 6.
    """
    ACCELERATORS.check(count, f"cluster {name!r}: the number of accelerators")
    notes = []
    found = []
    left = count
    for size in sizes:
        if size is None:
            found.append(left)
            left = 1
            continue
        taken = max(divisor for divisor in range(1, size + 1) if left % divisor == 0)
        if taken < min(size, left):
            unit = size * prod(found)
            whole = [many for many in (count // unit * unit, -(-count // unit) * unit) if many]
            notes.append(
                f"{left} do not fill units of {size}: {left // taken} units of {taken} are taken, which no such "
                f"machine has; {' or '.join(f'{name}/{many}' for many in whole)} would fill them"
            )
        found.append(taken)
        left //= taken
    if left > 1:
        raise DescriptionError(
            f"cluster {name!r} holds at most {prod(found)} accelerators in this shape; {count} do not fit it"
        )
    return tuple(found), tuple(notes)
