"""What holds for every bill: more never costs less, parts sum, a column is its rows."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.economics.test_cost_breakdown import PARTS, STOCK
from volvelle import Catalogue, quantities
from volvelle.catalogue.prices import PriceBook
from volvelle.economics.cost_breakdown import CostBreakdown, Terms, cost_breakdown
from volvelle.quantities import DOLLARS_PER_BYTE, DOLLARS_PER_RATE, DOLLARS_PER_WATT
from volvelle.system.inventory import Inventory

SCALES = st.floats(1.0, 100.0)
TERMS = st.builds(
    Terms,
    use=st.floats(0.1, 1.0),
    load=st.floats(0.1, 1.0),
    pue=st.floats(1.0, 2.0),
    conversion=st.floats(0.8, 1.0),
    plant_price=st.none() | st.floats(1.0, 20.0),
    interest=st.floats(0.0, 0.2),
    maintenance=st.floats(0.0, 0.1),
)
CATALOGUE = Catalogue()
BASE = CATALOGUE.cluster("dgx-h100/1024")
BOOK = PriceBook(CATALOGUE)


def dearer(more: CostBreakdown, less: CostBreakdown) -> None:
    for name in ("capex", "power", "tco"):
        assert getattr(more, name) >= getattr(less, name) * (1 - 1e-12), name


@given(
    scale=SCALES, terms=TERMS, what=st.sampled_from(["chips", "memory_rate", "memory_capacity", "logic", "host_power"])
)
def test_more_of_any_part_is_never_cheaper(scale: float, terms: Terms, what: str) -> None:
    more = replace(STOCK, **{what: getattr(STOCK, what) * scale})
    dearer(cost_breakdown(more, PARTS, terms), cost_breakdown(STOCK, PARTS, terms))


@given(scale=SCALES, terms=TERMS, place=st.sampled_from([0, 1]), what=st.sampled_from(["links", "ports", "rate"]))
def test_more_network_is_never_cheaper(scale: float, terms: Terms, place: int, what: str) -> None:
    networks = list(STOCK.networks)
    networks[place] = replace(networks[place], **{what: getattr(networks[place], what) * scale})
    dearer(cost_breakdown(replace(STOCK, networks=tuple(networks)), PARTS, terms), cost_breakdown(STOCK, PARTS, terms))


@given(
    scale=SCALES,
    what=st.sampled_from(["pue", "energy_price", "plant_price", "interest", "maintenance"]),
)
def test_a_dearer_site_is_never_cheaper(scale: float, what: str) -> None:
    terms = Terms(pue=1.1, plant_price=1.0, interest=0.002, maintenance=0.001)
    more = replace(terms, **{what: getattr(terms, what) * scale})
    assert cost_breakdown(STOCK, PARTS, more).tco >= cost_breakdown(STOCK, PARTS, terms).tco * (1 - 1e-12)


@given(sizes=st.tuples(st.integers(1, 64), st.integers(1, 4096)), terms=TERMS)
def test_a_larger_cluster_is_never_cheaper(sizes: tuple[int, int], terms: Terms) -> None:
    prices = BOOK.parts(BASE)
    less, more = (
        cost_breakdown(Inventory.of(BASE, sizes=(float(sizes[0]), float(count))), prices, terms)
        for count in (sizes[1], sizes[1] + 1)
    )
    dearer(more, less)


@given(terms=TERMS)
def test_parts_sum_to_the_whole(terms: Terms) -> None:
    found = cost_breakdown(STOCK, PARTS, terms)
    assert sum(found.capex_by_part.values()) == pytest.approx(found.capex)
    assert sum(found.power_by_part.values()) == pytest.approx(found.power)
    assert sum(found.ownership.values()) == pytest.approx(found.tco)
    assert min(*found.capex_by_part.values(), *found.power_by_part.values()) >= 0
    used = terms.life * terms.use
    assert found.step(1.0).dollars * used == pytest.approx(found.tco)


@given(
    rates=st.lists(
        st.tuples(st.floats(1e11, 1e13), st.floats(1e9, 1e12), st.sampled_from([1.0, 2.0, 8.0, 100.0])), min_size=1
    ),
    terms=TERMS,
)
def test_a_column_is_the_bills_of_its_rows(rates: list[tuple[float, float, float]], terms: Terms) -> None:
    memory, capacity, size = (np.array(column) for column in zip(*rates, strict=True))
    prices = BOOK.parts(BASE)

    def variant(rate: object, room: object, count: object) -> CostBreakdown:
        tier = replace(BASE.chip.memory, rate=rate, capacity=room)  # type: ignore[arg-type]
        cluster = replace(BASE, chip=replace(BASE.chip, memories=(tier,)))
        return cost_breakdown(Inventory.of(cluster, sizes=(8.0, count)), prices, terms)  # type: ignore[arg-type]

    whole = variant(memory, capacity, size)
    step = whole.step(np.full(len(rates), 2.0), tokens=1e6)
    for row, (rate, room, count) in enumerate(rates):
        one = variant(rate, room, count)
        assert np.broadcast_to(whole.capex, len(rates))[row] == pytest.approx(one.capex)
        assert np.broadcast_to(whole.power, len(rates))[row] == pytest.approx(one.power)
        assert np.broadcast_to(step.dollars_per_token, len(rates))[row] == pytest.approx(
            one.step(2.0, tokens=1e6).dollars_per_token
        )
        assert isinstance(one.capex, float)
        assert all(isinstance(value, float) for value in one.capex_by_part.values())


@given(value=st.floats(1e-12, 1e6), kind=st.sampled_from([DOLLARS_PER_BYTE, DOLLARS_PER_RATE, DOLLARS_PER_WATT]))
def test_prices_of_parts_survive_being_written(value: float, kind) -> None:  # type: ignore[no-untyped-def]
    assert quantities.parse(quantities.format(value, kind), kind) == value
