"""Laws of whole machines: cuts, price and power by parts, batches through pipelines."""

import numpy as np
import pytest

from volvelle.catalogue import Catalogue
from volvelle.catalogue.prices import PriceBook
from volvelle.catalogue.published.dfmodel import dfmodel
from volvelle.laws.dataflow_pipeline import fill_factor, pipelined_batch_time
from volvelle.laws.machine_cost import (
    connected_links,
    connected_ports,
    logic_power,
    logic_price,
    memory_power,
    memory_price,
    network_power,
    network_price,
    ring_ports,
    silicon_power,
)
from volvelle.laws.network.bisection import connected_cut, cut_time, torus_cut


def test_an_all_to_all_sends_a_quarter_of_all_pairs_across_a_cut_each_way() -> None:
    chips, pair = 8, 100.0
    crossing = sum(pair for sender in range(chips) for reader in range(chips) if sender < 4 <= reader)
    assert cut_time(pair, chips, links=2.0, rate=50.0) == pytest.approx(crossing / (2.0 * 50.0))


def test_the_longest_dimension_of_a_torus_has_the_narrowest_cut() -> None:
    assert torus_cut(1024.0, size=16.0) == 64.0
    assert torus_cut(1024.0, size=16.0) < torus_cut(1024.0, size=8.0)


def test_a_cut_through_units_linked_to_each_other_cuts_a_link_for_every_pair_across() -> None:
    assert connected_cut(8.0) == sum(1 for left in range(4) for right in range(4, 8) if left < right)


def test_a_machine_costs_its_chips_its_memory_and_its_network() -> None:
    assert logic_price(10.0, chip_price=1000.0, logic=1.5) == pytest.approx(15_000.0)
    assert memory_price(10.0, rate=5e11, rate_price=1e-9) == pytest.approx(5_000.0)
    assert memory_price(10.0, rate=5e11, rate_price=1e-9, capacity=8e10, capacity_price=2e-8) == pytest.approx(21_000.0)
    assert network_price(10.0, 20.0, rate=5e10, link_price=2e-9, port_price=24e-9) == pytest.approx(25_000.0)
    assert logic_power(10.0, chip_power=500.0, logic=0.5) == pytest.approx(2_500.0)
    assert logic_price(10.0, chip_price=1000.0, logic=3.0, exponent=2.0) == pytest.approx(90_000.0)
    assert logic_power(10.0, chip_power=500.0, logic=4.0, exponent=1.5) == pytest.approx(40_000.0)
    assert memory_power(10.0, rate=5e11, energy=2e-10) == pytest.approx(1_000.0)
    assert network_power(10.0, 20.0, rate=5e10, link_energy=1e-11, port_energy=5e-11) == pytest.approx(55.0)


def test_links_and_ports_grow_with_what_they_join() -> None:
    assert ring_ports(1024.0, size=32.0) == 64.0
    assert connected_links(1024.0, size=8.0) == 1024 * 7
    assert connected_ports(128.0, size=128.0) == 128**2


def test_a_pipeline_of_one_stage_fills_at_once_and_more_micro_batches_hide_filling() -> None:
    assert fill_factor(1.0, micro_batches=8.0, layers=4.0) == 1.0
    factors = fill_factor(8.0, micro_batches=np.array([1.0, 8.0, 64.0]), layers=4.0)
    assert np.all(np.diff(factors) < 0)
    assert fill_factor(8.0, micro_batches=7.0, layers=1.0) == pytest.approx(2.0)


def test_a_batch_takes_its_intervals_and_one_hand_over() -> None:
    assert pipelined_batch_time(0.5, layers=4.0, samples=10.0, factor=1.5, transfer=2.0) == pytest.approx(32.0)


FOUR = [dfmodel().accelerator(key) for key in ("tpu", "sn30", "h100", "wse-2")]
"""Those of figure 9, in the order of what they compute."""


def test_the_curve_of_silicon_power_goes_through_its_four_points() -> None:
    for chip in FOUR:
        assert chip.power is not None
        assert silicon_power(chip.rate) == pytest.approx(chip.power, rel=0.07)


def test_silicon_power_grows_faster_than_what_the_chip_computes() -> None:
    per_flop = [silicon_power(rate) / rate for rate in (1e15, 2e15, 8e15)]
    assert per_flop == sorted(per_flop)


@pytest.mark.parametrize("name", ["price", "power"])
def test_exponents_of_the_price_book_are_those_of_the_four_points(catalogue: Catalogue, name: str) -> None:
    rates = np.log([chip.rate for chip in FOUR])
    values = np.log([getattr(chip, name) for chip in FOUR])
    slope, _ = np.polyfit(rates, values, 1)
    pairs = [(values[b] - values[a]) / (rates[b] - rates[a]) for a in range(4) for b in range(a + 1, 4)]
    stated = PriceBook(catalogue).figures[f"logic.{name}_exponent"]

    assert stated.value == pytest.approx(slope, abs=0.005)
    low, high = stated.bounds(1.0)
    assert low <= min(pairs) <= max(pairs) <= high
    assert min(pairs) - low < 0.05
    assert high - max(pairs) < 0.05
