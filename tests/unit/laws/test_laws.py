"""Laws at points one can work out on paper, or that their papers print."""

import numpy as np
import pytest

from volvelle.laws.collectives import (
    all_to_all_time,
    direct_all_reduce_time,
    in_network_all_reduce_time,
    pipelined_broadcast_time,
    point_to_point_time,
    ring_all_reduce_time,
    tree_all_reduce_time,
)
from volvelle.laws.energy import activity_energy, run_energy
from volvelle.laws.footprint import activation_bytes, gradient_bytes, optimiser_bytes, weight_bytes
from volvelle.laws.optimiser import optimiser_step_time
from volvelle.laws.overlap import hidden_time
from volvelle.laws.pipeline import bubble_time, micro_batches_in_flight
from volvelle.laws.price import owned_price, rented_price
from volvelle.laws.utilisation import model_flops_utilisation


def test_equal_stages_give_the_bubble_of_megatron() -> None:
    """Narayanan 2021, section 2.2: (p − 1)(t_f + t_b) over v."""
    assert bubble_time(8 * 3.0, 3.0, interleave=1.0) == pytest.approx(7 * 3.0)
    assert bubble_time(8 * 3.0, 3.0, interleave=4.0) == pytest.approx(7 * 3.0 / 4)


def test_the_first_stage_keeps_as_many_micro_batches_as_korthikanti_says() -> None:
    """Korthikanti 2023, section 4.3: p for 1F1B, p(1 + (p − 1)/(pv)) interleaved."""
    keep = {"stage": 0.0, "micro_batches": 1e9}
    assert micro_batches_in_flight(8.0, interleave=1.0, **keep) == 8
    assert micro_batches_in_flight(8.0, interleave=3.0, **keep) == pytest.approx(8 * (1 + 7 / 24))
    assert micro_batches_in_flight(8.0, stage=7.0, interleave=1.0, micro_batches=1e9) == 1
    assert micro_batches_in_flight(8.0, stage=0.0, interleave=1.0, micro_batches=2.0) == 2


def test_zero_gives_the_figures_of_its_paper() -> None:
    """Rajbhandari 2020, figure 1: 7.5 B parameters on 64 replicas take 120, 31.4, 16.6 and 1.9 GB."""
    found = [
        sum(
            float(law(7.5e9, each=each, data_parallel=64.0, zero=float(zero)))
            for law, each in ((weight_bytes, 2.0), (gradient_bytes, 2.0), (optimiser_bytes, 12.0))
        )
        for zero in range(4)
    ]
    assert found == pytest.approx([120e9, 31.4e9, 16.6e9, 1.9e9], rel=0.02)


def test_activations_are_those_in_flight_and_those_at_work() -> None:
    assert activation_bytes(10.0, layers=4.0, in_flight=3.0, working=7.0) == 127


def test_the_optimiser_reads_and_writes_thirty_bytes_a_parameter() -> None:
    assert optimiser_step_time(1e9, state=12.0, gradient=4.0, weight=2.0, memory_rate=30e9) == pytest.approx(1.0)


def test_no_more_hides_than_there_is_or_than_the_window_holds() -> None:
    assert list(hidden_time(np.array([1.0, 5.0]), 3.0, overlap=0.5)) == [1.0, 1.5]


def test_utilisation_of_palm() -> None:
    """Chowdhery 2022: 540 B parameters, 238.3 K tokens/s on 6144 TPU v4 is 46.2 % MFU (45.7 % without attention)."""
    work = 238.3e3 * 6 * 540.35e9
    assert model_flops_utilisation(work, 1.0, chips=6144, peak=275e12) == pytest.approx(0.457, abs=0.002)


def test_energy_of_a_day_of_a_thousand_chips() -> None:
    day = 86400.0
    assert run_energy(day, 1000, chip_power=400.0, host_power=100.0, pue=1.2) == pytest.approx(day * 1000 * 500 * 1.2)
    assert activity_energy(10, 20, 30, per_flop=1.0, per_byte=2.0, per_sent=3.0) == 10 + 40 + 90


def test_a_rented_and_an_owned_hour() -> None:
    assert rented_price(7200.0, 8, per_chip_hour=2.5) == pytest.approx(40.0)
    owned = owned_price(
        3600.0,
        2,
        chip_price=36_000.0,
        life=3600.0 * 1000,
        energy=3.6e6,
        energy_price=0.1 / 3.6e6,
        overhead=0.5,
        use=0.5,
    )
    assert owned == pytest.approx(2 * 36_000 * 1.5 / 500 + 0.1)


def test_all_reduce_algorithms_agree_on_volume_and_differ_in_latency() -> None:
    size, chips, rate = 8e9, 8.0, 1e9
    assert ring_all_reduce_time(size, chips, rate=rate, latency=0.0) == pytest.approx(14.0)
    assert direct_all_reduce_time(size, chips, rate=rate, latency=0.0) == pytest.approx(14.0)
    assert tree_all_reduce_time(size, chips, rate=rate, latency=0.0) == pytest.approx(16.0)
    assert in_network_all_reduce_time(size, chips, rate=rate, latency=0.0) == pytest.approx(9.0)
    assert ring_all_reduce_time(0.0, chips, rate=rate, latency=1.0) == 14
    assert tree_all_reduce_time(0.0, chips, rate=rate, latency=1.0) == 6
    assert direct_all_reduce_time(0.0, chips, rate=rate, latency=1.0) == 2


def test_all_to_all_on_a_ring_is_bound_by_its_bisection() -> None:
    """Sixteen chips in a ring: half of all data crosses two links of half a chip's rate each way."""
    ring = float(all_to_all_time(16.0, 16.0, rate=1.0, latency=0.0, bisection=2 / 16))
    assert ring == pytest.approx(16 * 16.0 / 4 / 1.0)
    assert float(all_to_all_time(16.0, 16.0, rate=1.0, latency=0.0)) == pytest.approx(15.0)


def test_a_message_and_a_broadcast() -> None:
    assert point_to_point_time(10.0, rate=5.0, latency=1.0) == 3
    assert pipelined_broadcast_time(10.0, 8.0, rate=5.0, latency=1.0) == 5
