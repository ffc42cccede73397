"""Price models of machines: what each part costs and what power it takes. Numbers or columns; no file is read."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal, final

import numpy as np

from volvelle.economics.machine_power import rated_parts
from volvelle.errors import OutsideDomainError
from volvelle.laws.machine_cost import (
    logic_power,
    logic_price,
    memory_power,
    memory_price,
    network_power,
    network_price,
)
from volvelle.quantities import (
    BYTES,
    BYTES_PER_SECOND,
    Bytes,
    BytesPerSecond,
    Count,
    Dollars,
    Fraction,
    Number,
    Watts,
    is_plainly,
    show,
)
from volvelle.spread import Figure
from volvelle.system.host_power import HOST_POWER_SHARE
from volvelle.system.inventory import Inventory, Network, Reach

PriceModel = Literal["market", "parts", "dfmodel"]
"""Whole GPUs as offered, prices by parts, or the prices of DFModel."""


class End(Enum):
    """Which of a price's three values is meant."""

    LOW = "low"
    TYPICAL = "typical"
    HIGH = "high"

    def of(self, figure: Figure) -> float:
        """That value of a figure; the ends hold four fifths of a distribution, and all of an interval."""
        low, high = figure.bounds(1.0)
        if not (np.isfinite(low) and np.isfinite(high)):
            low, high = figure.bounds(0.8)
        return {End.LOW: low, End.TYPICAL: figure.value, End.HIGH: high}[self]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPrice:
    """Price and energy of one kind of memory."""

    rate_price: Number
    """Dollars for every byte a second."""
    energy: Number
    """Joules for every byte moved."""
    capacity_price: Number = 0.0
    """Dollars for every byte."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkPrice:
    """Price and energy of one kind of network: dollars for every byte a second, joules for every byte."""

    link_price: Number
    port_price: Number
    link_energy: Number
    port_energy: Number


class AbstractPrices(ABC):
    """A way to price the parts of a machine."""

    rests_on: Mapping[str, Figure]
    """The figures behind it: date, interval, evidence, source."""

    @abstractmethod
    def capex_by_part(self, inventory: Inventory) -> dict[str, Dollars]:
        """Purchase price by part."""

    @abstractmethod
    def power_by_part(self, inventory: Inventory) -> dict[str, Watts]:
        """Rated power by part, before conversion and cooling."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PartPrices(AbstractPrices):
    """Bottom up: logic, memory by rate and capacity, links and switch ports by rate, hosts by chip."""

    name: str
    chip_price: Dollars
    """Of a chip without its memory."""
    chip_power: Watts
    memories: Mapping[str, MemoryPrice]
    """By kind of memory: hbm, ddr, sram."""
    networks: Mapping[str, NetworkPrice]
    """By reach: scale-up, scale-out; or by the name of a link, where that has prices of its own."""
    price_exponent: Number = 1.0
    """By which the price of a chip grows with its logic, and the next its power."""
    power_exponent: Number = 1.0
    host_price: Dollars | None = None
    """Hosts and adapters for every chip; None: the model has no hosts."""
    host_power: Watts | None = None
    """For every chip, where the machine itself does not say; None: the model has no hosts."""
    adapter_power: Watts = 0.0
    """For every chip: links and switches of the machine that is sold, which its host power includes."""
    rests_on: Mapping[str, Figure] = field(default_factory=dict)

    def capex_by_part(self, inventory: Inventory) -> dict[str, Dollars]:
        """Purchase price by part."""
        memory = self._memory(inventory)
        found: dict[str, Dollars] = {
            "chips": logic_price(
                inventory.chips, chip_price=self.chip_price, logic=inventory.logic, exponent=self.price_exponent
            ),
            "memory": memory_price(
                inventory.chips,
                rate=inventory.memory_rate,
                rate_price=memory.rate_price,
                capacity=inventory.memory_capacity,
                capacity_price=memory.capacity_price,
            ),
        }
        if not is_plainly(inventory.expansion_capacity, 0.0):
            second = self._second(inventory)
            found["expansion memory"] = memory_price(
                inventory.chips,
                rate=_in_use(inventory),
                rate_price=second.rate_price,
                capacity=inventory.expansion_capacity,
                capacity_price=second.capacity_price,
            )
        found |= networks_price(inventory, self.networks, name=self.name)
        if self.host_price is not None:
            found["hosts"] = inventory.chips * self.host_price
        return found

    def power_by_part(self, inventory: Inventory) -> dict[str, Watts]:
        """Rated power by part."""
        found: dict[str, Watts] = {
            "chips": logic_power(
                inventory.chips, chip_power=self.chip_power, logic=inventory.logic, exponent=self.power_exponent
            ),
            "memory": memory_power(inventory.chips, rate=inventory.memory_rate, energy=self._memory(inventory).energy),
        }
        if not is_plainly(inventory.expansion_capacity, 0.0):
            energy = self._second(inventory).energy
            found["expansion memory"] = memory_power(inventory.chips, rate=_in_use(inventory), energy=energy)
        found |= networks_power(inventory, self.networks, name=self.name)
        if self.host_power is not None:
            host = self.host_power if inventory.host_power is None else inventory.host_power
            found["hosts"] = inventory.chips * np.maximum(host - self.adapter_power, 0.0)
        return found

    def _memory(self, inventory: Inventory) -> MemoryPrice:
        return self._of_kind(inventory.memory_kind, f"{inventory.memory} of {inventory.chip}")

    def _second(self, inventory: Inventory) -> MemoryPrice:
        """Expansion memory is taken for modules, whatever it hangs on."""
        return self._of_kind("ddr", f"expansion memory of {inventory.chip}")

    def _of_kind(self, kind: str, whose: str) -> MemoryPrice:
        known = self.memories.get(kind)
        if known is None:
            raise OutsideDomainError(
                f"the prices {self.name!r} have none for {kind} memory ({whose}); they have "
                f"{', '.join(self.memories)}: add a MemoryPrice for it"
            )
        return known


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MarketPrices(AbstractPrices):
    """Whole accelerators at the price they are sold for, hosts and the scale-out network on top."""

    name: str
    accelerator: Dollars
    """A chip with its memory; with its scale-up network or a share of its server where the fields below say so."""
    memory_rate: BytesPerSecond
    """Of the accelerator that was sold, as is the capacity."""
    memory_capacity: Bytes
    networks: Mapping[str, NetworkPrice]
    expansion_capacity: Bytes = 0.0
    with_network: bool = True
    scale_up_rate: BytesPerSecond = np.inf
    """Of all links and ports for every chip, where the network is sold with it."""
    with_host: bool = False
    host_price: Dollars | None = None
    """Hosts and adapters for every chip; needed where the accelerator comes without."""
    host_power: Watts | None = None
    """For every chip, where the machine itself does not say."""
    rests_on: Mapping[str, Figure] = field(default_factory=dict)

    def capex_by_part(self, inventory: Inventory) -> dict[str, Dollars]:
        """Purchase price by part; no scale-up network where it is sold with the accelerators."""
        self._refuse_variants(inventory)
        found: dict[str, Dollars] = {
            "servers" if self.with_host else "accelerators": inventory.chips * self.accelerator,
        }
        found |= networks_price(inventory, self.networks, name=self.name, reach=self.reach)
        if not self.with_host:
            if self.host_price is None:
                raise OutsideDomainError(f"the prices {self.name!r} have no price of hosts; give host_price")
            found["hosts"] = inventory.chips * self.host_price
        return found

    def power_by_part(self, inventory: Inventory) -> dict[str, Watts]:
        """Return rated power by part; the power of hosts includes adapters and switches."""
        self._refuse_variants(inventory)
        host = self.host_power if inventory.host_power is None else inventory.host_power
        if host is None:
            raise OutsideDomainError(f"{inventory.name!r} states no power of its hosts; give host_power")
        return rated_parts(inventory.chips, chip_power=rated_power(inventory), host_power=host)

    @property
    def reach(self) -> tuple[Reach, ...]:
        """Networks that are paid for apart."""
        return ("scale-out",) if self.with_network else ("scale-up", "scale-out")

    def _refuse_variants(self, inventory: Inventory) -> None:
        stated: tuple[tuple[str, Number, Number, str], ...] = (
            (
                "memory of",
                inventory.memory_capacity,
                self.memory_capacity,
                show(float(np.max(self.memory_capacity)), BYTES),
            ),
            (
                "memory at",
                inventory.memory_rate,
                self.memory_rate,
                show(float(np.max(self.memory_rate)), BYTES_PER_SECOND),
            ),
            ("logic", inventory.logic, 1.0, "1"),
            ("expansion memory of", inventory.expansion_capacity, self.expansion_capacity, "what was sold"),
        )
        for word, given, sold, shown in stated:
            if not np.all(np.isclose(given, sold, rtol=1e-9)):
                raise OutsideDomainError(
                    f"the prices {self.name!r} are those of an accelerator with {word} {shown}, and the machine has "
                    "another; price variants of a chip by its parts"
                )
        if self.with_network and np.any(scale_up_rate(inventory) > self.scale_up_rate * (1.0 + 1e-9)):
            raise OutsideDomainError(
                f"the prices {self.name!r} hold a scale-up network of "
                f"{show(float(np.max(self.scale_up_rate)), BYTES_PER_SECOND)} a chip, and the machine has a faster "
                "one; price variants of a network by its parts"
            )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ListPrices(AbstractPrices):
    """The simplest: the price that the chip's own entry states, and a share of it for all else."""

    overhead: Fraction
    """Price of hosts and network over that of the chips."""
    rests_on: Mapping[str, Figure] = field(default_factory=dict)

    def capex_by_part(self, inventory: Inventory) -> dict[str, Dollars]:
        """Chips, and what is over them."""
        if inventory.chip_price is None:
            raise OutsideDomainError(
                f"the chip {inventory.chip!r} states no price; give one (chip_price), or use another price model"
            )
        chips = inventory.chips * inventory.chip_price
        return {"chips": chips, "hosts and network": chips * self.overhead}

    def power_by_part(self, inventory: Inventory) -> dict[str, Watts]:
        """Return rated power of chips and hosts; a stand-in replaces host power that the machine does not state."""
        power = rated_power(inventory)
        host = HOST_POWER_SHARE.value * power if inventory.host_power is None else inventory.host_power
        return rated_parts(inventory.chips, chip_power=power, host_power=host, named="chips")


def scale_up_rate(inventory: Inventory) -> BytesPerSecond:
    """Rate of all links and ports of the scale-up networks, for every chip."""
    total: BytesPerSecond = 0.0
    for one in inventory.networks:
        if one.reach == "scale-up":
            total = total + (one.links + one.ports) * one.rate
    return total / inventory.chips


def _in_use(inventory: Inventory) -> BytesPerSecond:
    """Rate of expansion memory; where there is no capacity there is none to pay for."""
    return np.where(np.asarray(inventory.expansion_capacity) > 0.0, inventory.expansion_rate, 0.0)


def rated_power(inventory: Inventory) -> Watts:
    """Rated power of a whole accelerator, or a refusal that says what to give."""
    if inventory.chip_power is None:
        raise OutsideDomainError(
            f"the chip {inventory.chip!r} states no power; give one (chip_power, or --chip-power), or add it to "
            "the chip's entry"
        )
    return inventory.chip_power


_BOTH: tuple[Reach, ...] = ("scale-up", "scale-out")


def networks_price(
    inventory: Inventory, prices: Mapping[str, NetworkPrice], *, name: str, reach: tuple[Reach, ...] = _BOTH
) -> dict[str, Dollars]:
    """Links and switches of the networks of some reach; nothing where there is no such network."""

    def of(links: Count, ports: Count, one: Network, price: NetworkPrice) -> Dollars:
        known = {"link_price": price.link_price, "port_price": price.port_price}
        return network_price(links, ports, rate=one.rate, **known)

    return _over_networks(inventory, prices, name, reach, of)


def networks_power(
    inventory: Inventory, prices: Mapping[str, NetworkPrice], *, name: str, reach: tuple[Reach, ...] = _BOTH
) -> dict[str, Watts]:
    """Power of links and switches of the networks of some reach; nothing where there is no such network."""

    def of(links: Count, ports: Count, one: Network, price: NetworkPrice) -> Watts:
        known = {"link_energy": price.link_energy, "port_energy": price.port_energy}
        return network_power(links, ports, rate=one.rate, **known)

    return _over_networks(inventory, prices, name, reach, of)


def _over_networks(
    inventory: Inventory,
    prices: Mapping[str, NetworkPrice],
    name: str,
    reach: tuple[Reach, ...],
    of: Callable[[Count, Count, Network, NetworkPrice], Number],
) -> dict[str, Number]:
    """A quantity of links and one of switches, summed over the networks of some reach."""
    found: dict[str, Number] = {}
    for one in (one for one in inventory.networks if one.reach in reach):
        price = prices.get(one.link) or _network(prices, one.reach, name)
        found["links"] = found.get("links", 0.0) + of(one.links, 0.0, one, price)
        found["switches"] = found.get("switches", 0.0) + of(0.0, one.ports, one, price)
    return found


def _network(prices: Mapping[str, NetworkPrice], reach: str, name: str) -> NetworkPrice:
    known = prices.get(reach)
    if known is None:
        raise OutsideDomainError(
            f"the prices {name!r} have none for {reach} networks; they have {', '.join(prices)}: add a NetworkPrice"
        )
    return known
