"""The price book: prices of parts and accelerators from ``data/prices``, and the price models made of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict, Unpack, get_args

import numpy as np
from pydantic import BaseModel, ConfigDict, create_model

from volvelle.catalogue.aliases import published_names
from volvelle.catalogue.figures import read_figure
from volvelle.catalogue.loader import Catalogue, parsed, validated
from volvelle.catalogue.price_rows import accelerator_price, price_without_host
from volvelle.catalogue.published.dfmodel import dfmodel
from volvelle.catalogue.schema import Datum
from volvelle.domains import (
    BYTE_ENERGY,
    CAPACITY_PRICE,
    EXPONENT,
    EXTRA,
    POWER,
    PRICE,
    RATE_PRICE,
    NumberDomain,
    domains_of,
)
from volvelle.economics.cost_breakdown import Terms
from volvelle.economics.machine_power import total
from volvelle.economics.price_book import (
    AbstractPrices,
    End,
    MarketPrices,
    MemoryPrice,
    NetworkPrice,
    PartPrices,
    PriceModel,
    networks_power,
    networks_price,
    rated_power,
    scale_up_rate,
)
from volvelle.economics.step_cost import CostAssumptions, Costs, Timed, step_costs
from volvelle.economics.usual_terms import USUAL_OVERHEAD
from volvelle.errors import DescriptionError, OutsideDomainError, UnknownNameError
from volvelle.estimators.uncertainty import Samples
from volvelle.input_limits import read_text
from volvelle.laws.machine_cost import memory_power, memory_price
from volvelle.quantities import DOLLARS, Dollars, Quantity, Watts, is_plainly
from volvelle.spread import Evidence, Figure
from volvelle.system.cluster import Cluster
from volvelle.system.inventory import Inventory, Reach

_DFMODEL_NETWORKS = {"scale-up": "nvlink", "scale-out": "pcie"}
_DFMODEL_LINKS = {"nvlink4": "scale-up", **dict.fromkeys(("pcie-dfmodel", "sn-pcie", "pcie5-x16"), "scale-out")}
"""Links that DFModel prices by what they are, wherever they are."""
_DFMODEL_DATE = "2024-12"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


_SITE = domains_of(Terms)
_DOMAINS: Mapping[str, Mapping[str, NumberDomain]] = {
    "memory": {"capacity_price": CAPACITY_PRICE, "rate_price": RATE_PRICE, "energy": BYTE_ENERGY},
    "networks": {
        "link_price": RATE_PRICE,
        "port_price": RATE_PRICE,
        "link_energy": BYTE_ENERGY,
        "port_energy": BYTE_ENERGY,
    },
    "logic": {"price_exponent": EXPONENT, "power_exponent": EXPONENT},
    "hosts": {"price": EXTRA, "power": EXTRA},
    "site": {name: _SITE[name] for name in ("plant_price", "plant_life", "energy_price", "interest", "maintenance")},
    "chip": {"power": POWER},
}
"""What is stated of each kind of part, and of a site."""


def _domain(name: str) -> NumberDomain:
    return _DOMAINS.get(name.partition(".")[0], {}).get(name.rpartition(".")[2], PRICE)


def price_kind(name: str) -> Quantity:
    """What a figure is, by its place in the book like ``memory.hbm.rate_price``; of whatever else, a price."""
    return _domain(name).kind or DOLLARS


def _form(room: str) -> Any:
    """What the file says of a part: every number with its source."""
    stated: dict[str, Any] = {name: (Annotated[Datum, domain], ...) for name, domain in _DOMAINS[room].items()}
    return create_model(room, __base__=_Strict, **stated)


class _File(_Strict):
    memory: dict[Literal["hbm", "ddr"], _form("memory")]  # type: ignore[valid-type]
    networks: dict[Literal["scale-up", "scale-out"], _form("networks")]  # type: ignore[valid-type]
    logic: _form("logic")  # type: ignore[valid-type]
    hosts: _form("hosts")  # type: ignore[valid-type]
    site: _form("site")  # type: ignore[valid-type]


@cache
def _file(text: str) -> _File:
    return validated(parsed(text, "prices/parts.yaml"), _File, "prices/parts.yaml")


class Offers(TypedDict, total=False):
    """Which offers of accelerators count: between two dates; or a price in place of all."""

    since: str
    until: str
    chip_price: Dollars | None


@dataclass(frozen=True)
class PriceBook:
    """Prices by part, each with its date, interval and source; price models made of them at either end."""

    catalogue: Catalogue

    @cached_property
    def _file(self) -> _File:
        return _file(read_text(self.catalogue.prices_file()))

    @cached_property
    def figures(self) -> Mapping[str, Figure]:
        """Every price of a part or a site, by its place in the file, such as ``memory.hbm.rate_price``."""
        file, figures = self._file, dict[str, Figure]()
        entries = {f"memory.{kind}": entry for kind, entry in file.memory.items()}
        entries |= {f"networks.{kind}": entry for kind, entry in file.networks.items()}
        for path, entry in {**entries, "logic": file.logic, "hosts": file.hosts, "site": file.site}.items():
            for name, datum in entry:
                where = f"{path}.{name}"
                if not datum.date or datum.spread is None:
                    raise DescriptionError(
                        f"prices/parts.yaml: {where} lacks its date or its spread; every price has both"
                    )
                figures[where] = read_figure(datum, _domain(where), where=where, sources=self.catalogue.sources)
        return figures

    # -- models ------------------------------------------------------------------------------------------------

    def model(self, name: str, cluster: Cluster, *, at: End = End.TYPICAL, **offers: Unpack[Offers]) -> AbstractPrices:
        """A price model of a machine by its name."""
        match name:
            case "market":
                return self.market(cluster, at=at, **offers)
            case "parts":
                return self.parts(cluster, at=at, **offers)
            case "dfmodel":
                return self.dfmodel(cluster)
            case _:
                raise UnknownNameError.among("cost model", name, (*get_args(PriceModel), "list"))

    def market(self, cluster: Cluster, *, at: End = End.TYPICAL, **offers: Unpack[Offers]) -> MarketPrices:
        """Accelerators as they were offered between two dates; hosts and scale-out network on top."""
        inventory = Inventory.of(cluster)
        whole, with_host, on_board, rests = self._accelerator(cluster, at, **offers)
        return MarketPrices(
            name=f"market, {cluster.chip.name}",
            accelerator=whole,
            with_network=on_board,
            scale_up_rate=scale_up_rate(inventory),
            with_host=with_host,
            memory_rate=inventory.memory_rate,
            memory_capacity=inventory.memory_capacity,
            expansion_capacity=inventory.expansion_capacity,
            networks=self._networks(at),
            host_price=None if with_host else whole * at.of(self.figures["hosts.price"]),
            host_power=rated_power(inventory) * at.of(self.figures["hosts.power"]),
            rests_on=rests | self._used(inventory, parts=False, on_board=on_board, with_host=with_host),
        )

    def parts(self, cluster: Cluster, *, at: End = End.TYPICAL, **offers: Unpack[Offers]) -> PartPrices:
        """Bottom up, anchored to a machine that is sold.

        What its accelerator costs, less the memory and (on boards) the scale-up network of that machine, is the price
        of a chip's logic: die, package and the maker's share. So at typical prices the machine itself costs what the
        market says, and a variant of it what its parts add or save. Power likewise. At the low and high ends the same
        memory and links are taken off, so that every part is in order from end to end. The power of hosts includes
        adapters and switches, so that they are taken off it.
        """
        inventory = Inventory.of(cluster)
        whole, with_host, on_board, rests = self._accelerator(cluster, at, **offers)
        share = at.of(self.figures["hosts.price"])
        host = whole * share / (1.0 + share) if with_host else whole * share
        kept, drawn = self._beside_logic(inventory, on_board=on_board)
        logic, power = whole - (host if with_host else 0.0) - kept, rated_power(inventory) - drawn
        if np.any(logic <= 0.0) or np.any(power <= 0.0):
            raise OutsideDomainError(
                f"{cluster.chip.name!r} at {np.min(whole):.0f} USD and {np.min(rated_power(inventory)):.0f} W costs or "
                f"takes no more than its memory and links do ({np.max(kept):.0f} USD, {np.max(drawn):.0f} W): its "
                "parts cannot be told apart; use the market's prices, or give a chip_price"
            )
        return PartPrices(
            name=f"parts, {cluster.chip.name}",
            chip_price=logic,
            chip_power=power,
            **self._growth(at),
            memories=self._memories(at),
            networks=self._networks(at),
            host_price=host,
            host_power=rated_power(inventory) * at.of(self.figures["hosts.power"]),
            adapter_power=self._adapter_power(inventory),
            rests_on=rests | self._used(inventory, parts=True, on_board=False, with_host=False),
        )

    def dfmodel(self, cluster: Cluster) -> PartPrices:
        """DFModel's cost model: memory by its rate alone, no hosts; it states no interval."""
        data, name = dfmodel(), cluster.chip.name
        named = published_names("dfmodel")
        if name not in named:
            raise OutsideDomainError(
                f"DFModel has no price of {name!r}; it has {', '.join(named)}: use another price model"
            )
        chip, port = data.accelerator(named[name]), data.link("switch-port")
        rests: dict[str, Figure] = {}

        def given(what: str, value: float | None) -> float:
            if value is None:
                raise OutsideDomainError(f"DFModel states no {what}")
            rests[what] = Figure(value=value, evidence=Evidence.ASSUMED, source="dfmodel", date=_DFMODEL_DATE)
            return value

        networks = {
            reach: NetworkPrice(
                link_price=given(f"networks.{reach}.link_price", data.link(key).price),
                port_price=given(f"networks.{reach}.port_price", port.price),
                link_energy=given(f"networks.{reach}.link_energy", data.link(key).energy),
                port_energy=given(f"networks.{reach}.port_energy", port.energy),
            )
            for reach, key in _DFMODEL_NETWORKS.items()
        }
        return PartPrices(
            name="DFModel",
            chip_price=given("chip.price", chip.price),
            chip_power=given("chip.power", chip.power),
            **self._growth(End.TYPICAL),
            memories={
                kind: MemoryPrice(
                    rate_price=given(f"memory.{kind}.rate_price", data.memory(kind).price),
                    energy=given(f"memory.{kind}.energy", data.memory(kind).energy),
                )
                for kind in ("hbm", "ddr")
            },
            networks={**networks, **{link: networks[reach] for link, reach in _DFMODEL_LINKS.items()}},
            rests_on=rests,
        )

    def terms(self, *, at: End = End.TYPICAL) -> Terms:
        """What a site charges; life, use and load are those that a step's costs take."""
        # A longer life of the plant is the cheaper end.
        lives = {End.LOW: End.HIGH, End.TYPICAL: End.TYPICAL, End.HIGH: End.LOW}
        site = {name: self.figures[f"site.{name}"] for name in _DOMAINS["site"]}
        return Terms(
            energy_price=at.of(site["energy_price"]),
            plant_price=at.of(site["plant_price"]),
            plant_life=lives[at].of(site["plant_life"]),
            interest=at.of(site["interest"]),
            maintenance=at.of(site["maintenance"]),
        )

    # -- pieces ------------------------------------------------------------------------------------------------

    def _accelerator(
        self, cluster: Cluster, at: End, *, since: str = "", until: str = "", chip_price: Dollars | None = None
    ) -> tuple[Dollars, bool, bool, dict[str, Figure]]:
        """Price of one, whether with its server, whether with its scale-up network, and what that rests on."""
        if chip_price is not None:
            return chip_price, False, True, {}
        name, own = cluster.chip.name, cluster.chip.figures.get("price")
        offered = price_without_host(name)
        if not since and not until and own is not None and (offered is None or own.value != offered.value):
            return at.of(own), False, True, {name: own}
        found = accelerator_price(name, since=since, until=until)
        return at.of(found.figure), found.with_host, found.on_board, {name: found.figure}

    def _beside_logic(self, inventory: Inventory, *, on_board: bool) -> tuple[Dollars, Watts]:
        """Typical price and power of what an accelerator holds beside its logic: memory, and links on its board."""
        memories, networks = self._memories(End.TYPICAL), self._networks(End.TYPICAL)
        known = memories.get(inventory.memory_kind)
        if known is None:
            raise OutsideDomainError(
                f"the price book has no price for {inventory.memory_kind} memory "
                f"({inventory.memory} of {inventory.chip}), only for {', '.join(memories)}; "
                "use the market's prices (--model market)"
            )
        kept = memory_price(
            1.0,
            rate=inventory.memory_rate,
            rate_price=known.rate_price,
            capacity=inventory.memory_capacity,
            capacity_price=known.capacity_price,
        )
        drawn = memory_power(1.0, rate=inventory.memory_rate, energy=known.energy)
        if not is_plainly(inventory.expansion_capacity, 0.0):
            second = memories["ddr"]
            kept = kept + memory_price(
                1.0,
                rate=inventory.expansion_rate,
                rate_price=second.rate_price,
                capacity=inventory.expansion_capacity,
                capacity_price=second.capacity_price,
            )
            drawn = drawn + memory_power(1.0, rate=inventory.expansion_rate, energy=second.energy)
        inner: tuple[Reach, ...] = ("scale-up",)
        if on_board:
            kept = kept + sum(networks_price(inventory, networks, name="parts", reach=inner).values()) / inventory.chips
        return kept, drawn + sum(
            networks_power(inventory, networks, name="parts", reach=inner).values()
        ) / inventory.chips

    def _adapter_power(self, inventory: Inventory) -> Watts:
        """Return the typical power per chip of the scale-out network, which the power of hosts includes."""
        outer: tuple[Reach, ...] = ("scale-out",)
        found = networks_power(inventory, self._networks(End.TYPICAL), name="parts", reach=outer)
        return sum(found.values()) / inventory.chips

    def _memories(self, at: End) -> dict[str, MemoryPrice]:
        return {
            kind: MemoryPrice(**{name: at.of(self.figures[f"memory.{kind}.{name}"]) for name in _DOMAINS["memory"]})
            for kind in self._file.memory
        }

    def _networks(self, at: End) -> dict[str, NetworkPrice]:
        return {
            kind: NetworkPrice(
                **{name: at.of(self.figures[f"networks.{kind}.{name}"]) for name in _DOMAINS["networks"]}
            )
            for kind in self._file.networks
        }

    def _growth(self, at: End) -> dict[str, float]:
        """How price and power of a chip grow with its logic."""
        return {name: at.of(self.figures[f"logic.{name}"]) for name in _DOMAINS["logic"]}

    def _used(self, inventory: Inventory, *, parts: bool, on_board: bool, with_host: bool) -> dict[str, Figure]:
        """The figures of the book that a model of this machine rests on."""
        reaches = {one.reach for one in inventory.networks if not on_board or one.reach == "scale-out"}
        rooms = [
            *(f"networks.{reach}" for reach in sorted(reaches)),
            *([f"memory.{inventory.memory_kind}", "logic"] if parts else []),
        ]
        names = {name for name in self.figures if name.rpartition(".")[0] in rooms}
        names |= set() if with_host else {"hosts.price"}
        names |= {"hosts.power"} if inventory.host_power is None else set()
        return {name: figure for name, figure in self.figures.items() if name in names}


# -- owning a machine ----------------------------------------------------------------------------------------------


def owned_costs(
    estimate: Timed, cluster: Cluster, assumptions: CostAssumptions | None = None, *, samples: Samples | None = None
) -> Costs:
    """Return energy and money of a step, on the terms of the price book unless others are given; with samples, ranges.

    The machine is owned: a step bears its share of purchase, plant, interest, maintenance and energy.
    """
    return step_costs(estimate, cluster, assumptions or owned_terms(cluster), samples=samples)


def owned_terms(cluster: Cluster) -> CostAssumptions:
    """Return the terms of owning a machine at typical prices, as `cost` has them by the market's prices."""
    book = PriceBook(_catalogue(*cluster.catalogue_folders))
    site = book.terms()
    return CostAssumptions(
        overhead=_overhead(book, cluster),
        energy_price=site.energy_price,
        plant_price=site.plant_price,
        plant_life=site.plant_life,
        interest=site.interest,
        maintenance=site.maintenance,
    )


def _overhead(book: PriceBook, cluster: Cluster) -> float:
    """Return the price of hosts and network over the price of accelerators."""
    chip = cluster.chip
    if chip.price is None or chip.power is None:
        return USUAL_OVERHEAD
    try:
        bought = total(book.market(cluster).capex_by_part(Inventory.of(cluster)))
    except OutsideDomainError:  # a network that the book has no price of
        return USUAL_OVERHEAD
    return float(np.max(np.asarray(bought / (cluster.accelerators * chip.price)))) - 1.0


@lru_cache(maxsize=64)
def _catalogue(*folders: Path) -> Catalogue:
    return Catalogue(*folders)
