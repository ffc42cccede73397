"""What a machine is made of, counted for pricing; every number may be a column."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

import numpy as np

from volvelle.errors import DescriptionError
from volvelle.quantities import Bytes, BytesPerSecond, Count, Dollars, Fraction, Number, Watts
from volvelle.system.cluster import Cluster, Dimension

Reach = Literal["scale-up", "scale-out"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """All cables and switch ports of one network dimension."""

    name: str
    reach: Reach
    """Scale-up: on boards and in racks, part of what the chip's maker sells. Scale-out: adapters, optics, switches."""
    links: Count
    ports: Count
    rate: BytesPerSecond
    """Of one link, each direction; a port has that of its link."""
    link: str = ""
    """What the link is called, for prices that know it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """Parts of a machine."""

    name: str
    chip: str
    chips: Count
    memory: str
    memory_rate: BytesPerSecond
    """Of one chip, as are its capacity, its power and its share of hosts."""
    memory_capacity: Bytes
    networks: tuple[Network, ...]
    expansion_rate: BytesPerSecond = 0.0
    """Of a second tier of memory; 0: there is none."""
    expansion_capacity: Bytes = 0.0
    logic: Fraction = 1.0
    """Logic of a chip over that of the chip whose price is known: 2 for one with twice the units."""
    chip_price: Dollars | None = None
    """Of a whole accelerator, as its own entry states it; None: it states none."""
    chip_power: Watts | None = None
    host_power: Watts | None = None
    """None: the machine states none, and a price model uses its stand-in."""
    pue: Number = 1.0

    @classmethod
    def of(cls, cluster: Cluster, *, sizes: Sequence[Count] | None = None, scale_up: int | None = None) -> "Inventory":
        """Parts of a cluster.

        `sizes` are those of its dimensions, columns perhaps, where they are not the cluster's own. The innermost
        `scale_up` dimensions are the makers' own; by default all but the outermost, or a single one without switches.
        """
        dimensions = cluster.dimensions
        taken: Sequence[Count] = [float(one.size) for one in dimensions] if sizes is None else sizes
        if len(taken) != len(dimensions):
            raise DescriptionError(
                f"{cluster.name!r} has {len(dimensions)} network dimensions and {len(taken)} sizes are given; give one "
                f"for each of {', '.join(one.name for one in dimensions)}"
            )
        chips: Count = prod(taken, start=1.0)
        direct = not np.any(dimensions[0].topology.switch_ports(2.0))
        inner = max(int(direct), len(dimensions) - 1) if scale_up is None else scale_up
        chip = cluster.chip
        second = chip.memories[1] if len(chip.memories) > 1 else None
        return cls(
            name=cluster.name,
            chip=chip.name,
            chips=chips,
            memory=chip.memory.name,
            memory_rate=chip.memory.rate,
            memory_capacity=chip.memory.capacity,
            networks=tuple(
                _network(one, size, chips, "scale-up" if place < inner else "scale-out")
                for place, (one, size) in enumerate(zip(dimensions, taken, strict=True))
            ),
            expansion_rate=0.0 if second is None else second.rate,
            expansion_capacity=0.0 if second is None else second.capacity,
            chip_price=chip.price,
            chip_power=chip.power,
            host_power=cluster.host_power,
            pue=cluster.pue,
        )

    @property
    def memory_kind(self) -> str:
        """Stacked beside the chip (``hbm``), in modules of its own (``ddr``), or on the chip (``sram``)."""
        name = self.memory.lower()
        return next((kind for kind in ("hbm", "sram") if name.startswith(kind)), "ddr")


def _network(dimension: Dimension, size: Count, chips: Count, reach: Reach) -> Network:
    """Cables and ports of a dimension: every chip of a unit is joined with its fellows in the others, on a rail.

    A cable between two chips has its share of what either injects; one to a switch has all of it.
    """
    # A unit alone needs no network, whatever its shape.
    rails = np.where(np.asarray(size) > 1.0, chips / np.asarray(size, dtype=float), 0.0)
    links, ports = dimension.topology.links(size), dimension.topology.switch_ports(size)
    share = np.where(np.asarray(ports) > 0.0, 1.0, size / np.maximum(2.0 * np.asarray(links), 1.0))
    return Network(
        name=dimension.name,
        reach=reach,
        links=_plain(rails * links),
        ports=_plain(rails * ports),
        rate=_plain(dimension.link.rate * share),
        link=dimension.link.name,
    )


def _plain(value: Number) -> Number:
    """A number where there is one, a column where there are many."""
    return float(value) if np.ndim(value) == 0 else value
