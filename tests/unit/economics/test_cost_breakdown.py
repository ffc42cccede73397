"""Bills against sums made by hand, and against what a step costs by the simplest of them."""

from dataclasses import replace

import numpy as np
import pytest

from tests.unit.estimators.training.test_closed_form import LAYOUT, small_chip, small_cluster
from volvelle import Catalogue, ClosedForm, CostAssumptions, Figure, TrainingStep, step_costs, transformer
from volvelle.economics.cost_breakdown import Terms, cost_breakdown
from volvelle.economics.price_book import End, ListPrices, MarketPrices, MemoryPrice, NetworkPrice, PartPrices
from volvelle.errors import DescriptionError, OutsideDomainError
from volvelle.laws.ownership import (
    annuity_factor,
    charged_price,
    life_energy_price,
    maintenance_price,
    meter_power,
    plant_price,
    repaid_price,
    training_time,
)
from volvelle.spread import Evidence, Interval, LogNormal
from volvelle.system.inventory import Inventory, Network

YEAR = 31_557_600.0
STOCK = Inventory(
    name="hand-made",
    chip="toy",
    chips=16.0,
    memory="HBM3",
    memory_rate=2e12,
    memory_capacity=1e11,
    networks=(
        Network(name="board", reach="scale-up", links=16.0, ports=16.0, rate=4e11),
        Network(name="fabric", reach="scale-out", links=32.0, ports=48.0, rate=5e10),
    ),
    chip_price=12_000.0,
    chip_power=500.0,
    host_power=100.0,
    pue=1.25,
)
PARTS = PartPrices(
    name="hand-made",
    chip_price=10_000.0,
    chip_power=400.0,
    memories={"hbm": MemoryPrice(rate_price=0.5e-9, capacity_price=20e-9, energy=50e-12)},
    networks={
        "scale-up": NetworkPrice(link_price=1e-9, port_price=3e-9, link_energy=10e-12, port_energy=40e-12),
        "scale-out": NetworkPrice(link_price=20e-9, port_price=10e-9, link_energy=200e-12, port_energy=300e-12),
    },
    host_price=2_000.0,
    host_power=150.0,
)


def test_a_bill_by_parts_is_the_sum_one_makes_by_hand() -> None:
    found = cost_breakdown(STOCK, PARTS, Terms(plant_price=10.0, load=0.5, host_load=0.75))
    assert found.capex_by_part == pytest.approx(
        {
            "chips": 16 * 10_000,
            "memory": 16 * (2000 * 0.5 + 100 * 20),
            "links": 16 * 400 * 1 + 32 * 50 * 20,
            "switches": 16 * 400 * 3 + 48 * 50 * 10,
            "hosts": 16 * 2_000,
            "plant": 10 * (16 * 400 + 16 * 100 + 64 + 320 + 256 + 720 + 16 * 100),
        }
    )
    inside = {"chips": 3_200.0, "memory": 800.0, "hosts": 1_200.0}
    inside |= {"links": 0.75 * (64 + 320), "switches": 0.75 * (256 + 720)}
    assert found.power_by_part == pytest.approx({**inside, "conversion and cooling": 0.25 * sum(inside.values())})
    assert found.power == pytest.approx(1.25 * sum(inside.values()))
    assert found.capex == pytest.approx(sum(found.capex_by_part.values()))


def test_owning_a_machine_is_purchase_interest_upkeep_and_energy() -> None:
    terms = Terms(life=4 * YEAR, use=0.5, plant_price=10.0, plant_life=16 * YEAR, interest=0.1, maintenance=0.02)
    found = cost_breakdown(STOCK, PARTS, terms)
    plant, machine = found.capex_by_part["plant"], found.capex - found.capex_by_part["plant"]
    loan = 0.1 / (1 - 1.1**-4), 0.1 / (1 - 1.1**-16)
    assert found.ownership["machine"] == pytest.approx(machine)
    assert found.ownership["plant"] == pytest.approx(plant / 4)
    assert found.ownership["interest"] == pytest.approx(4 * (machine * loan[0] + plant * loan[1]) - machine - plant / 4)
    assert found.ownership["maintenance"] == pytest.approx(found.capex * 0.08)
    assert found.ownership["energy"] == pytest.approx(found.power / 1e3 * 2 * 8766 * 0.10)
    step = found.step(10.0, tokens=4e6, samples=1e3)
    assert step.dollars == pytest.approx(found.tco * 10.0 / (2 * YEAR))
    assert step.energy == pytest.approx(10.0 * found.power)
    assert step.dollars_per_token * 4e6 == pytest.approx(step.dollars)
    assert step.energy_per_sample * 1e3 == pytest.approx(step.energy)
    assert step.tokens_per_second_per_watt == pytest.approx(4e5 / found.power)
    assert step.days(4e6 * 8640) == pytest.approx(1.0)
    assert step.training_dollars(4e9) == pytest.approx(1000 * step.dollars)


def test_the_laws_of_ownership_hold_their_limits() -> None:
    assert annuity_factor(0.0, years=5.0) == pytest.approx(0.2)
    assert annuity_factor(1e-9, years=5.0) == pytest.approx(0.2)
    assert annuity_factor(np.array([0.0, 0.08]), years=4.0) == pytest.approx([0.25, 0.08 / (1 - 1.08**-4)])
    assert repaid_price(100.0, interest=0.0, life=4 * YEAR, over=YEAR) == pytest.approx(25.0)
    assert maintenance_price(100.0, share=0.03, over=2 * YEAR) == pytest.approx(6.0)
    assert meter_power(940.0, pue=1.2, conversion=0.94) == pytest.approx(1200.0)
    assert plant_price(1e6, per_watt=11.7) == pytest.approx(11.7e6)
    assert life_energy_price(1000.0, life=3600.0, use=0.5, energy_price=0.1 / 3.6e6) == pytest.approx(0.05)
    assert charged_price(100.0, 1.0, life=10.0, use=0.5) == pytest.approx(20.0)
    assert training_time(1e12, per_step=4e6, step=2.0) == pytest.approx(5e5)


def test_the_simplest_bill_is_what_a_step_costs(catalogue: Catalogue) -> None:
    step = TrainingStep(model=transformer(catalogue.model("llama2-7b")), batch=256)
    for cluster in (catalogue.cluster("dgx-h100/32"), small_cluster()):
        found = ClosedForm().estimate(step, cluster, LAYOUT)
        given = CostAssumptions()
        costs = step_costs(found, cluster, given)
        charged = cost_breakdown(Inventory.of(cluster), ListPrices(overhead=given.overhead), given).step(found.time)
        assert charged.energy == pytest.approx(costs.energy, rel=1e-12)
        assert charged.dollars == pytest.approx(costs.dollars, rel=1e-12)


def test_what_lacks_is_named_with_what_to_give() -> None:
    with pytest.raises(OutsideDomainError, match="'toy' states no price; give one"):
        cost_breakdown(replace(STOCK, chip_price=None), ListPrices(overhead=0.5))
    with pytest.raises(OutsideDomainError, match="'toy' states no power; give one"):
        cost_breakdown(replace(STOCK, chip_power=None), ListPrices(overhead=0.5))
    with pytest.raises(OutsideDomainError, match="none for ddr memory"):
        cost_breakdown(replace(STOCK, memory="DDR5"), PARTS)
    with pytest.raises(OutsideDomainError, match="none for scale-out networks"):
        cost_breakdown(STOCK, replace(PARTS, networks={"scale-up": PARTS.networks["scale-up"]}))
    with pytest.raises(OutsideDomainError, match="give tokens"):
        _ = cost_breakdown(STOCK, PARTS).step(1.0).dollars_per_token
    with pytest.raises(OutsideDomainError, match="give samples"):
        _ = cost_breakdown(STOCK, PARTS).step(1.0).energy_per_sample


def test_the_market_prices_what_was_sold_and_no_variant_of_it() -> None:
    market = MarketPrices(
        name="toy",
        accelerator=12_000.0,
        memory_rate=2e12,
        memory_capacity=1e11,
        scale_up_rate=8e11,
        networks=PARTS.networks,
        host_price=2_000.0,
    )
    assert cost_breakdown(STOCK, market).capex_by_part == pytest.approx(
        {"accelerators": 192_000.0, "links": 32_000.0, "switches": 24_000.0, "hosts": 32_000.0}
    )
    assert set(cost_breakdown(STOCK, replace(market, with_host=True)).capex_by_part) == {"servers", "links", "switches"}
    apart = cost_breakdown(STOCK, replace(market, with_network=False)).capex_by_part
    assert apart["links"] == pytest.approx(38_400.0)
    for variant in (
        replace(STOCK, memory_rate=np.array([2e12, 3e12])),
        replace(STOCK, memory_capacity=2e11),
        replace(STOCK, logic=2.0),
        replace(STOCK, networks=(replace(STOCK.networks[0], rate=9e11),)),
    ):
        with pytest.raises(OutsideDomainError, match="by its parts"):
            cost_breakdown(variant, market)
    with pytest.raises(OutsideDomainError, match="give host_price"):
        cost_breakdown(STOCK, replace(market, host_price=None))
    with pytest.raises(OutsideDomainError, match="give host_power"):
        cost_breakdown(replace(STOCK, host_power=None), market)


def test_cables_are_counted_with_the_rate_that_each_has(catalogue: Catalogue) -> None:
    inner, outer = Inventory.of(catalogue.cluster("dgx-h100/1024")).networks
    assert (inner.reach, inner.links, inner.ports, inner.rate) == ("scale-up", 1024.0, 1024.0, 450e9)
    # Two levels of switches: 1024 cables to leaves, 1024 to spines; three ports a chip.
    assert (outer.reach, outer.links, outer.ports, outer.rate) == ("scale-out", 2048.0, 3072.0, 50e9)
    alone = Inventory.of(catalogue.cluster("dgx-h100/8")).networks[1]
    assert (alone.links, alone.ports) == (0.0, 0.0)
    cluster = catalogue.cluster("tpu-v4-pod/64")
    (torus,) = Inventory.of(cluster).networks
    # Both ends of every cable are chips, so all cables have half of what all chips inject.
    assert torus.reach == "scale-up"
    assert torus.links * torus.rate == pytest.approx(64 * cluster.dimensions[0].link.rate / 2)
    with pytest.raises(DescriptionError, match="1 network dimensions and 2 sizes"):
        Inventory.of(cluster, sizes=(4.0, 4.0))


def test_the_ends_of_a_figure_are_its_interval_or_four_fifths_of_its_distribution() -> None:
    interval = Figure(value=2.0, evidence=Evidence.ASSUMED, source="x", spread=Interval(1.0, 5.0))
    assert [end.of(interval) for end in End] == [1.0, 2.0, 5.0]
    spread = Figure(value=2.0, evidence=Evidence.ASSUMED, source="x", spread=LogNormal(2.0, 1.3))
    low, typical, high = (end.of(spread) for end in End)
    assert low * high == pytest.approx(typical**2)
    assert high / typical == pytest.approx(1.3**1.2816, rel=1e-3)


def test_a_chip_without_price_still_has_its_parts() -> None:
    cluster = small_cluster(chip=small_chip(price=None))
    assert Inventory.of(cluster).chip_price is None
