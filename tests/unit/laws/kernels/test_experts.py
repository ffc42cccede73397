"""Laws of layers of experts."""

import numpy as np
import pytest

from volvelle.laws.kernels.experts import (
    NODES,
    busiest_rank_rows,
    carried_rows,
    experts_time,
    grouped_product_time,
    largest_of_normals,
    padded_rows,
    rows_by_expert,
    sorting_time,
    touched_experts,
)


def dealt(tokens: int, chosen: int, experts: int, ranks: int, skew: float) -> np.ndarray:
    """Rows of the busiest rank's experts, dealt as the source of the tables says it dealt them, many times."""
    draw = np.random.default_rng(0)
    power = 1.0 - skew
    loads = (1.0 + draw.random((400, experts)) * ((0.8 * tokens) ** power - 1.0)) ** (1.0 / power)
    rows = np.minimum(np.round(loads / loads.sum(axis=1, keepdims=True) * tokens * chosen), tokens)
    grouped = rows.reshape(400, ranks, experts // ranks)
    return np.asarray(grouped[np.arange(400), grouped.sum(axis=2).argmax(axis=1)])


def test_the_largest_of_some_normal_numbers_is_where_drawing_them_finds_it() -> None:
    draw = np.random.default_rng(0)
    for count in (1, 2, 8, 64, 256):
        found = draw.standard_normal((20_000, count)).max(axis=1).mean()
        assert largest_of_normals(float(count)) == pytest.approx(found, abs=0.04)


def test_balanced_ranks_share_rows_evenly_and_none_has_more_than_all() -> None:
    assert busiest_rank_rows(1024, 8, 128, 16, skew=0.0) == 512
    assert busiest_rank_rows(1, 2, 128, 128, skew=0.0) == 1
    ranks = np.array([1.0, 2.0, 64.0])
    assert np.all(busiest_rank_rows(1024, 8, 64, ranks, skew=1.2) <= 1024 * 8)
    assert np.all(busiest_rank_rows(1024, 8, 64, ranks, skew=1.2) >= busiest_rank_rows(1024, 8, 64, ranks, skew=0.0))


@pytest.mark.parametrize("skew", [1.01, 1.2])
@pytest.mark.parametrize("ranks", [2, 8, 32, 128])
def test_the_busiest_of_skewed_ranks_has_about_the_rows_that_dealing_them_out_gives_it(ranks: int, skew: float) -> None:
    for tokens in (512, 4096, 16384):
        found = dealt(tokens, 8, 128, ranks, skew).sum(axis=1).mean()
        assert busiest_rank_rows(tokens, 8, 128, ranks, skew=skew) == pytest.approx(found, rel=0.2)


def test_experts_that_get_a_row_are_about_those_of_dealing_rows_out() -> None:
    for tokens in (96, 512, 4096):
        found = (dealt(tokens, 8, 128, 1, 1.2) > 0).sum(axis=1).mean()
        each = rows_by_expert(8.0 * tokens, 128.0, float(tokens), skew=1.2)
        assert touched_experts(128.0, each) == pytest.approx(found, rel=0.08)


def test_rows_of_experts_sum_to_those_of_the_rank_and_one_expert_has_them_all() -> None:
    rows, experts = np.array([3.0, 512.0, 9e4]), np.array([8.0, 64.0, 512.0])
    for skew in (0.0, 1.0, 1.01, 1.2, 2.0):
        each = rows_by_expert(rows, experts, rows, skew=skew)
        assert each.shape == (3, NODES)
        assert np.mean(each, axis=-1) * experts == pytest.approx(rows)
        assert np.all(np.diff(each, axis=-1) >= 0)
        assert rows_by_expert(77.0, 1.0, 4096.0, skew=skew) == pytest.approx(np.full(NODES, 77.0))


def test_experts_that_get_a_row_are_no_more_than_there_are_nor_than_rows() -> None:
    rows = np.array([1.0, 10.0, 100.0, 1e6])
    for skew in (0.0, 1.01, 1.2):
        touched = np.asarray(touched_experts(64.0, rows_by_expert(rows, 64.0, rows, skew=skew)))
        assert np.all(touched <= np.minimum(64, rows) * (1 + 1e-12))
        assert np.all(np.diff(touched) >= 0)
        assert touched[-1] == pytest.approx(64, rel=0.05)


def test_an_expert_with_one_row_costs_a_tile_of_rows_and_one_with_many_its_own() -> None:
    few, many = (rows_by_expert(8.0 * rows, 8.0, 4096.0, skew=0.0) for rows in (1.0, 1e5))
    assert padded_rows(8.0, few, 0.0, least_rows=128.0) == pytest.approx(8 * 128, rel=1e-3)
    assert padded_rows(8.0, many, 0.0, least_rows=128.0) == pytest.approx(8e5, rel=1e-3)
    assert padded_rows(8.0, many, 8e5, least_rows=128.0) == pytest.approx(16e5, rel=1e-3)


def test_weights_that_are_widened_slow_rows_beyond_the_first_tile_and_not_that_tile() -> None:
    few, many = (rows_by_expert(8.0 * rows, 8.0, 4096.0, skew=0.0) for rows in (1.0, 1e5))
    widened = {"least_rows": 128.0, "unpacking": 0.5}
    assert padded_rows(8.0, few, 0.0, **widened) == pytest.approx(8 * 128, rel=1e-3)
    assert padded_rows(8.0, many, 0.0, **widened) == pytest.approx(16e5, rel=1e-3)


def test_a_kernel_that_carries_other_ranks_rows_works_on_all_choices_of_the_tokens_it_gets() -> None:
    assert carried_rows(512.0, 1024.0, 8.0, carried=1.0) == 512 * 7
    assert carried_rows(4096.0, 1024.0, 8.0, carried=1.0) == 4096
    assert carried_rows(8192.0, 1024.0, 8.0, carried=1.0) == 0
    assert carried_rows(512.0, 1024.0, 8.0, carried=0.0) == 0


def test_tiles_of_all_experts_fill_waves_together() -> None:
    how = {"rate": 1e15, "half": 0.0, "units": 100.0, "tile": 64.0 * 64.0}
    assert grouped_product_time(1e6, 4096.0, 4096.0, **how) == pytest.approx(2e6 * 4096**2 / 1e15, rel=1e-3)
    assert grouped_product_time(1.0, 64.0, 64.0, **how) == grouped_product_time(64.0, 64.0, 64.0, **how)


def test_few_tokens_are_sorted_at_once_and_many_cost_no_more_than_all_kernels() -> None:
    how = {"start": 1e-5, "sorting": 3e-5, "half": 64.0}
    assert sorting_time(64.0, **how) == pytest.approx(2.5e-5)
    assert sorting_time(1e9, **how) == pytest.approx(4e-5)


def test_a_layer_of_experts_reads_its_weights_and_goes_over_its_rows_and_everybodys() -> None:
    how = {"memory_rate": 3e12, "passes": 6.0, "slot_passes": 3.0, "around": 3e-5}
    assert experts_time(1e-9, 6e9, 1e9, 2e9, **how) == pytest.approx(3e-5 + 2e-3 + 2e-3 + 2e-3, rel=1e-6)
