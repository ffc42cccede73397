"""DFModel's design points as machines: chips, memory, links, their price and power, and the time of collectives."""

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
from volvelle.economics.plain_parts import plain_parts
from volvelle.economics.price_book import MemoryPrice, NetworkPrice, PartPrices
from volvelle.estimators.dataflow.on_chip import OnChip
from volvelle.estimators.plain_network import PlainDimension, PlainNetwork
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
        # Of some workloads no dimension has a parallelism of its own.
        return dict(zip(self.topology.axes, self.topology.dims, strict=False)).get(axis, 1)

    def rate(self, axis: str) -> float:
        """Link rate of that dimension."""
        return dict(zip(self.topology.axes, self.rates, strict=True))[axis]

    @property
    def network(self) -> PlainNetwork:
        """Its dimensions with the rates of their links."""
        kinds, dims = self.topology.kinds, self.topology.dims
        return PlainNetwork(
            dimensions=tuple(
                PlainDimension(kind=kind, size=size, rate=rate)
                for kind, size, rate in zip(kinds, dims, self.rates, strict=True)
            )
        )

    # -- price and power -----------------------------------------------------------------------------------------

    @property
    def inventory(self) -> Inventory:
        """Its parts, counted as the authors do; a link of the first dimension has a technology of its own."""
        return Inventory(
            name=self.topology.key,
            chip=self.accelerator.key,
            chips=float(self.chips),
            memory=self.memory.key,
            memory_rate=self.memory.rate,
            memory_capacity=self.memory.capacity or 0.0,
            networks=tuple(
                Network(
                    name=one.kind,
                    reach="scale-out" if place else "scale-up",
                    links=links,
                    ports=ports,
                    rate=one.rate,
                )
                for place, (one, links, ports) in enumerate(plain_parts(self.network))
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
