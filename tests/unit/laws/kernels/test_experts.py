"""Laws of layers of experts."""

import numpy as np
import pytest

from volvelle.laws.kernels.experts import busiest_rank_rows, experts_time, grouped_product_time, touched_experts


def test_balanced_ranks_share_rows_evenly_and_none_has_more_than_all() -> None:
    assert busiest_rank_rows(1024, 8, 16, skew=0.0) == 512
    ranks = np.array([1.0, 2.0, 64.0, 1e6])
    assert np.all(busiest_rank_rows(1024, 8, ranks, skew=1.4) <= 1024 * 8)


def test_experts_that_get_a_row_are_no_more_than_there_are_nor_than_rows() -> None:
    rows = np.array([1.0, 10.0, 100.0, 1e5])
    for skew in (0.0, 1.0, 1.4):
        touched = np.asarray(touched_experts(64, rows, skew=skew))
        assert np.all(touched <= np.minimum(64, rows) * (1 + 1e-12))
        assert np.all(np.diff(touched) >= 0)
        assert touched[-1] == pytest.approx(64)


def test_an_expert_with_one_row_costs_a_tile_of_rows() -> None:
    how = {"rate": 1e15, "least_rows": 128.0, "half": 1.0, "units": 100.0, "tile": 64.0}
    one = grouped_product_time(8.0, 1.0, 4096.0, 4096.0, **how)
    assert one == pytest.approx(grouped_product_time(8.0, 2.0, 4096.0, 4096.0, **how), rel=1e-3)
    assert grouped_product_time(8.0, 4096.0, 4096.0, 4096.0, **how) > 10 * one


def test_a_layer_of_experts_reads_its_weights_and_goes_over_its_rows() -> None:
    found = experts_time(1e-9, 6e9, 1e9, memory_rate=3e12, passes=6.0, start=3e-5)
    assert found == pytest.approx(3e-5 + 2e-3 + 2e-3, rel=1e-6)
