"""The price book: every price dated, bounded and sourced; models made of it agree where they must."""

from dataclasses import replace
from itertools import pairwise
from statistics import median

import pytest

from volvelle import Catalogue
from volvelle.catalogue.price_rows import accelerator_price, price_rows
from volvelle.catalogue.prices import PriceBook
from volvelle.catalogue.published.dfmodel import dfmodel
from volvelle.economics.cost_breakdown import cost_breakdown
from volvelle.economics.price_book import End
from volvelle.errors import OutsideDomainError
from volvelle.laws.machine_cost import network_power, network_price
from volvelle.reproductions.dfmodel.machine import machine_of
from volvelle.spread import Evidence
from volvelle.system.inventory import Inventory


@pytest.fixture(scope="module")
def book(catalogue: Catalogue) -> PriceBook:
    return PriceBook(catalogue)


def test_every_price_has_a_date_an_interval_and_a_source(book: PriceBook, catalogue: Catalogue) -> None:
    for name, figure in book.figures.items():
        assert figure.date, name
        assert figure.source in catalogue.references, name
        assert End.LOW.of(figure) < End.HIGH.of(figure), name
        assert figure.evidence is not Evidence.MEASURED, name
        assert figure.evidence is not Evidence.ASSUMED or figure.note, name
    for chip in catalogue.names("chips"):
        price = catalogue.chip_file(chip).price
        assert price is None or price.date, chip


def test_every_row_is_of_a_chip_we_know_and_says_where_it_is_from(catalogue: Catalogue) -> None:
    for row in price_rows():
        assert row.chip in catalogue.names("chips")
        assert row.address.startswith("https://")
        assert row.note
        assert len(row.date) == len("2024-03-27")
        assert row.dollars > 1000


def test_an_accelerator_costs_the_middle_of_its_offers_within_all_of_them() -> None:
    found = accelerator_price("h100-sxm")
    of_chip = [row for row in price_rows() if row.chip == "h100-sxm" and row.scope != "server"]
    last = max(row.date for row in of_chip)
    year_before = f"{int(last[:4]) - 1}{last[4:7]}"
    prices = sorted(row.dollars for row in of_chip if row.date >= year_before)
    assert 3 <= len(prices) < len(of_chip), "older offers are not mixed in"
    assert found.figure.value == pytest.approx(median(prices))
    assert found.figure.bounds() == (prices[0], prices[-1])
    assert found.figure.date == "2024-03 to 2025-03"
    assert not found.with_host
    assert accelerator_price("b200").with_host
    assert accelerator_price("h100-sxm", until="2023-12").figure.value == 31119.5
    assert accelerator_price("h100-sxm", since="2025-03").figure.value == 30000.0
    with pytest.raises(OutsideDomainError, match="between 2026-01 and now; it has some of 2022-09-29"):
        accelerator_price("h100-sxm", since="2026-01")
    with pytest.raises(OutsideDomainError, match="'gb300' is known: give one"):
        accelerator_price("gb300")


@pytest.mark.parametrize(
    "system", ["dgx-h100/1024", "dgx-a100/512", "mi300x-cluster/64", "tpu-v4-pod/256", "dgx-b200/72"]
)
def test_the_machine_that_is_sold_costs_the_same_by_market_and_by_parts(
    book: PriceBook, catalogue: Catalogue, system: str
) -> None:
    cluster = catalogue.cluster(system)
    inventory = Inventory.of(cluster)
    market, parts = cost_breakdown(inventory, book.market(cluster)), cost_breakdown(inventory, book.parts(cluster))
    assert parts.capex == pytest.approx(market.capex, rel=1e-9)
    assert sum(parts.rated.values()) == pytest.approx(sum(market.rated.values()), rel=1e-9)


@pytest.mark.parametrize("model", ["market", "parts"])
def test_low_typical_and_high_are_in_order(book: PriceBook, catalogue: Catalogue, model: str) -> None:
    cluster = catalogue.cluster("dgx-h100/1024")
    inventory = Inventory.of(cluster)
    found = [cost_breakdown(inventory, getattr(book, model)(cluster, at=end), book.terms(at=end)) for end in End]
    for low, high in pairwise(found):
        assert all(low.capex_by_part[part] < high.capex_by_part[part] for part in low.capex_by_part)
        assert low.capex < high.capex
        assert low.power <= high.power
        assert low.tco < high.tco


def test_a_model_says_what_it_rests_on(book: PriceBook, catalogue: Catalogue) -> None:
    cluster = catalogue.cluster("dgx-h100/1024")
    assert "memory.hbm.rate_price" in book.parts(cluster).rests_on
    assert "memory.hbm.rate_price" not in book.market(cluster).rests_on
    assert "h100-sxm" in book.market(cluster).rests_on
    assert book.market(cluster, chip_price=20_000.0).accelerator == 20_000.0
    assert "h100-sxm" not in book.market(cluster, chip_price=20_000.0).rests_on
    assert book.market(catalogue.cluster("gaudi3-cluster/256")).rests_on["gaudi3"].date == "2024"


def test_a_machine_that_cannot_be_priced_is_refused_with_what_to_do(book: PriceBook, catalogue: Catalogue) -> None:
    with pytest.raises(OutsideDomainError, match="use the market"):
        book.parts(catalogue.cluster("cs2-cluster"))
    with pytest.raises(OutsideDomainError, match="DFModel has no price of 'b200'"):
        book.dfmodel(catalogue.cluster("dgx-b200/8"))
    with pytest.raises(OutsideDomainError, match="cannot be told apart"):
        book.parts(catalogue.cluster("dgx-h100/8"), chip_price=1_000.0)
    with pytest.raises(OutsideDomainError, match="'tpu-v5p' states no power"):
        book.market(catalogue.cluster("tpu-v5p-pod"))


def test_design_points_of_dfmodel_cost_and_take_what_was_logged() -> None:
    data = dfmodel()
    for point in data.design_space:
        machine = machine_of(point, data)
        assert machine.price == pytest.approx(point.cost, rel=1e-6)
        assert machine.power == pytest.approx(point.power, rel=1e-6)


def test_dfmodels_prices_of_a_cluster_are_those_of_its_study(book: PriceBook, catalogue: Catalogue) -> None:
    data = dfmodel()
    point = next(p for p in data.design_space if (p.accelerator, p.memory, p.link) == ("h100", "hbm", "nvlink"))
    machine = machine_of(point, data)
    ours = book.dfmodel(catalogue.cluster("dgx-h100/1024"))
    inventory = machine.inventory
    assert sum(ours.capex_by_part(inventory).values()) == pytest.approx(point.cost, rel=1e-6)
    assert sum(ours.power_by_part(inventory).values()) == pytest.approx(point.power, rel=1e-6)
    assert "hosts" not in ours.capex_by_part(inventory)
    without = replace(inventory, networks=())
    apart = point.cost - sum(ours.capex_by_part(without).values())
    prices = ours.networks
    by_hand = sum(
        network_price(one.links, one.ports, rate=one.rate, link_price=prices[one.reach].link_price, port_price=24e-9)
        for one in inventory.networks
    )
    assert apart == pytest.approx(by_hand, rel=1e-6)
    port = network_power(0.0, 1.0, rate=1e9, link_energy=0.0, port_energy=prices["scale-up"].port_energy)
    assert port == pytest.approx(0.052)
