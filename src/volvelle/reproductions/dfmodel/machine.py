"""DFModel's design points as machines: chips, memory, links, their price and power, and the time of collectives."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, prod
from typing import TypeVar

from volvelle.catalogue.published.dfmodel import (
    DesignPoint,
    DfModel,
    PublishedAccelerator,
    PublishedLink,
    PublishedMemory,
    PublishedTopology,
)
from volvelle.economics.price_book import MemoryPrice, NetworkPrice, PartPrices
from volvelle.estimators.dataflow.on_chip import OnChip
from volvelle.laws.bisection import connected_cut, cut_time, torus_cut
from volvelle.laws.collectives import direct_all_reduce_time, ring_all_reduce_time, ring_reduce_scatter_time
from volvelle.laws.machine_cost import connected_links, connected_ports, ring_ports
from volvelle.system.inventory import Inventory, Network

Figure = TypeVar("Figure", int, float)
COMPUTE_SHARE = 0.9
"""Of peak, in every input of the design-space study (``compute_util``)."""
_OTHER_DIMENSIONS = "pcie"
"""In the LLM inputs the link technology is that of the first dimension; the others have this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignMachine:
    """A machine of the study."""

    accelerator: PublishedAccelerator
    cores: int
    memory: PublishedMemory
    topology: PublishedTopology
    links: tuple[PublishedLink, ...]
    """One for each dimension."""
    port: PublishedLink

    @property
    def chips(self) -> int:
        """All of them."""
        return prod(self.topology.dims)

    @property
    def rates(self) -> tuple[float, ...]:
        """Bytes a second of a link, for each dimension."""
        return tuple(given(link.rate) for link in self.links)

    def chip(self, *, sram: bool) -> OnChip:
        """One of its chips; its SRAM counts only where the authors count it."""
        chip = self.accelerator
        return OnChip(
            cores=self.cores,
            width=chip.lane_width,
            height=chip.stage_width,
            clock=chip.clock,
            sram=chip.sram if sram else inf,
            dram_rate=self.memory.rate,
            utilisation=COMPUTE_SHARE,
        )

    def degree(self, axis: str) -> int:
        """Chips along the dimension that a parallelism runs over; 1 without one."""
        return dict(zip(self.topology.axes, self.topology.dims, strict=True)).get(axis, 1)

    def rate(self, axis: str) -> float:
        """Link rate of that dimension."""
        return dict(zip(self.topology.axes, self.rates, strict=True))[axis]

    # -- collectives ---------------------------------------------------------------------------------------------

    def all_reduce(self, axis: str, size: float) -> float:
        """Seconds of an all-reduce along the dimension of a parallelism."""
        if self.degree(axis) == 1:
            return 0.0
        connected = self.topology.kinds[self.topology.axes.index(axis)] == "fully-connected"
        return all_reduce(size, self.degree(axis), rate=self.rate(axis), connected=connected)

    def all_to_all(self, pair: float) -> float:
        """Seconds until each chip has sent `pair` bytes to each: the slowest cut."""
        return max(
            float(cut_time(pair, float(both), links=links, rate=rate))
            for (both, links), rate in zip(self._cuts(), self.rates, strict=True)
        )

    def _cuts(self) -> Iterator[tuple[int, float]]:
        """For each dimension: chips on both sides of its cut, and links cut."""
        dims, kinds = self.topology.dims, self.topology.kinds
        torus = set(kinds) == {"ring"}
        inside = 1
        for kind, size in zip(kinds, dims, strict=True):
            inside *= size
            both = self.chips if torus else inside
            if torus:
                # The dimensions are of one size, or the longest is worst: the study numbers them either way.
                yield both, float(torus_cut(float(self.chips), size=float(size)))
            elif kind == "fully-connected":
                yield both, float(connected_cut(float(size)))
            else:
                # A ring inside a group is cut twice; a switch carries what its units send.
                yield both, 2.0 if kind == "ring" else float(size)

    # -- price and power -----------------------------------------------------------------------------------------

    def _parts(self) -> Iterator[tuple[float, float]]:
        """Links and switch ports of each dimension."""
        dims, kinds = self.topology.dims, self.topology.kinds
        for place, (kind, size) in enumerate(zip(kinds, dims, strict=True)):
            units = float(self.chips / prod(dims[:place]))
            if kind == "ring":
                yield float(self.chips), float(ring_ports(float(self.chips), size=float(size)))
            elif kind == "switch":
                yield units, units
            else:
                ports = float(connected_ports(units, size=float(size))) if place else 0.0
                yield float(connected_links(units, size=float(size))), ports

    @property
    def inventory(self) -> Inventory:
        """Its parts, counted as the authors do; a link of the first dimension has a technology of its own."""
        kinds, rates = self.topology.kinds, self.rates
        return Inventory(
            name=self.topology.key,
            chip=self.accelerator.key,
            chips=float(self.chips),
            memory=self.memory.key,
            memory_rate=self.memory.rate,
            memory_capacity=self.memory.capacity or 0.0,
            networks=tuple(
                Network(
                    name=kinds[place],
                    reach="scale-out" if place else "scale-up",
                    links=links,
                    ports=ports,
                    rate=rates[place],
                )
                for place, (links, ports) in enumerate(self._parts())
            ),
        )

    @property
    def prices(self) -> PartPrices:
        """What the study takes each part to cost."""
        chip, memory, port = self.accelerator, self.memory, self.port
        return PartPrices(
            name="DFModel",
            chip_price=given(chip.price),
            chip_power=given(chip.power),
            memories={
                self.inventory.memory_kind: MemoryPrice(rate_price=given(memory.price), energy=given(memory.energy))
            },
            networks={
                reach: NetworkPrice(
                    link_price=given(link.price),
                    port_price=given(port.price),
                    link_energy=given(link.energy),
                    port_energy=given(port.energy),
                )
                for reach, link in (("scale-up", self.links[0]), ("scale-out", self.links[-1]))
            },
        )

    @property
    def price(self) -> float:
        """Dollars."""
        return float(sum(self.prices.capex_by_part(self.inventory).values()))

    @property
    def power(self) -> float:
        """Watts."""
        return float(sum(self.prices.power_by_part(self.inventory).values()))


def all_reduce(size: float, chips: int, *, rate: float, connected: bool = False, passes: int = 2) -> float:
    """Seconds of an all-reduce as the study counts it: `rate` is of a link, steps cost nothing.

    Two passes are reduce-scatter and all-gather; in one pass, as some inputs have it, only the first is paid. A fully
    connected chip has a link of that rate to each other.
    """
    if chips == 1:
        return 0.0
    p = float(chips)
    if connected:
        return float(direct_all_reduce_time(size, p, rate=rate * (p - 1.0), latency=0.0)) * passes / 2.0
    law = ring_all_reduce_time if passes == 2 else ring_reduce_scatter_time
    return float(law(size, p, rate=rate, latency=0.0))


def machine_of(point: DesignPoint, data: DfModel, *, described: bool = False) -> DesignMachine:
    """The machine of a design point as its input has it, or as the chip is `described` elsewhere."""
    chip, topology = data.accelerator(point.accelerator), data.topology(point.workload, point.topology)
    first = data.link(point.link)
    other = data.link(_OTHER_DIMENSIONS) if point.workload == "LLM" else first
    return DesignMachine(
        accelerator=chip,
        cores=chip.cores if described or point.cores is None else point.cores,
        memory=data.memory(point.memory),
        topology=topology,
        links=(first, *[other] * (len(topology.dims) - 1)),
        port=data.link("switch-port"),
    )


def given(value: Figure | None) -> Figure:
    """A figure that the catalogue need not have, of something that the study has."""
    assert value is not None, "the study's own workloads, chips, memories and links have all their figures"
    return value
