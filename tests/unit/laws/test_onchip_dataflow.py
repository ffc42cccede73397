"""Kernels on the arrays of a dataflow chip, at shapes one can work out on paper."""

import numpy as np
import pytest

from volvelle.laws.onchip_dataflow import (
    array_peak,
    balanced_compute_time,
    dram_demand,
    matrix_kernel_cycles,
    memory_overlapped_time,
    overlapped_time,
    partition_traffic,
    pipelined_compute_time,
    serial_time,
    sram_demand,
    traffic_time,
    vector_kernel_cycles,
)


def test_a_product_that_fits_the_array_wastes_nothing() -> None:
    """32 × 6 cores, 10 lanes by 64 stages: 320 × 384 outputs at once, k steps each."""
    assert matrix_kernel_cycles(320.0, 100.0, 384.0, lanes=10, stages=64, width=32, height=6) == 100
    assert matrix_kernel_cycles(321.0, 100.0, 384.0, lanes=10, stages=64, width=32, height=6) == 200
    assert vector_kernel_cycles(320.0, 7.0, lanes=10, width=32) == 7


def test_the_peak_of_an_sn10_is_as_its_table_says() -> None:
    """DFModel, table V and section VII: 307.2 TFLOP/s."""
    assert array_peak(640, width=32, height=6, clock=1.25e9) == pytest.approx(307.2e12)
    assert balanced_compute_time(307.2e12, utilisation=0.5, peak=307.2e12) == 2.0
    assert pipelined_compute_time(1000.0, tiles=4.0, clock=2e3) == 2.0


def test_tensors_inside_are_buffered_by_depth_and_those_that_cross_twice() -> None:
    assert sram_demand(100.0, 10.0, 7.0, depth=3.0, weight_tiles=2.0) == 50 + 30 + 14
    assert partition_traffic(7.0, 5.0, 100.0, tiles=4.0, weight_tiles=2.0) == 2 * (28 + 5) + 100
    assert traffic_time(50.0, rate=10.0) == 5.0
    assert dram_demand(100.0, 7.0, 1000.0, tiles=4.0) == 1128


def test_the_less_overlaps_the_longer_it_takes_and_laws_broadcast() -> None:
    parts = (np.array([3.0, 1.0]), np.array([2.0, 2.0]), np.array([1.0, 5.0]))
    assert overlapped_time(*parts).tolist() == [3, 5]
    assert memory_overlapped_time(*parts).tolist() == [4, 7]
    assert serial_time(*parts).tolist() == [6, 8]
