"""Laws of attention kernels."""

import numpy as np
import pytest

from volvelle.laws.kernels.attention import (
    causal_attention_work,
    longest_tile_work,
    one_token_time,
    prompt_attention_time,
)

ONE_TOKEN = {"rate": 1e15, "memory_rate": 3e12, "block_share": 40.0, "start": 8e-6, "each": 2e-8}


def test_a_causal_kernel_does_half_of_the_scores_of_a_long_prompt() -> None:
    size, heads, width = 65536.0, 8.0, 256.0
    found = causal_attention_work(1.0, heads, size, width=width, extra_keys=0.0)
    assert found == pytest.approx(0.5 * 2.0 * heads * size**2 * width, rel=0.01)


def test_the_longest_tile_reads_every_key() -> None:
    one, two = (longest_tile_work(size, width=256.0, units=100.0, extra_keys=0.0) for size in (8192.0, 16384.0))
    assert two == pytest.approx(2 * one)


def test_a_token_over_a_long_cache_takes_what_reading_it_takes() -> None:
    traffic = 1e11
    found = one_token_time(1e9, traffic, 64.0, blocks=1e4, **ONE_TOKEN)
    assert found == pytest.approx(traffic / 3e12, rel=0.01)


def test_few_long_sequences_do_not_fill_the_chip() -> None:
    traffic = 1e9
    times = [float(one_token_time(1e6, traffic, 1.0, blocks=blocks, **ONE_TOKEN)) for blocks in (1.0, 10.0, 100.0)]
    assert np.all(np.diff(times) < 0)


def test_a_core_that_draws_the_whole_memory_rate_reads_one_short_sequence_at_that_rate() -> None:
    traffic = 1e9
    found = one_token_time(1e6, traffic, 1.0, blocks=None, **ONE_TOKEN)
    assert found == pytest.approx(traffic / 3e12 + 8e-6, rel=0.01)


def test_a_prompt_takes_all_tiles_spread_out_and_half_of_the_longest_alone() -> None:
    how = {"rate": 1e15, "memory_rate": 3e12, "path": 1.0, "passes": 2.0, "start": 1e-5}
    found = prompt_attention_time(4e12, 1e12, 1.0, 3e9, **how)
    assert found == pytest.approx(1e-5 + 4.5e-3 + 2e-3, rel=1e-6)
