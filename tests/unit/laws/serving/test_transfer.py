"""Caches on their way."""

import pytest

from volvelle.laws.serving.transfer import cache_transfer_time, matched_ratio, streamed_arrival


def test_the_cache_of_a_prompt_of_llama_70b_goes_over_eight_links_of_400_gbit() -> None:
    """2,048 tokens of 40,960 bytes a chip at 50 GB/s."""
    kept = 2048 * 327_680 / 8
    assert cache_transfer_time(kept, 8, 8, link_rate=50e9) == pytest.approx(1.6777e-3, rel=1e-4)


def test_fewer_chips_that_send_make_it_longer_and_more_do_not_make_it_shorter() -> None:
    same, fewer, more = (cache_transfer_time(1e9, chips, 8, link_rate=1e9) for chips in (8, 2, 64))
    assert (same, fewer, more) == (1.0, 4.0, 1.0)


def test_a_cache_that_goes_layer_by_layer_arrives_with_the_last_layer_where_the_link_is_fast() -> None:
    assert streamed_arrival(0.0, 10.0, transfer=5.0, free=0.0, latency=0.0, layers=10) == 10.5


def test_a_slow_link_is_what_it_waits_for_and_a_busy_one_too() -> None:
    assert streamed_arrival(0.0, 10.0, transfer=20.0, free=0.0, latency=0.0, layers=10) == 21.0
    assert streamed_arrival(0.0, 10.0, transfer=5.0, free=8.0, latency=0.25, layers=10) == 13.25


def test_one_layer_is_a_transfer_after_the_prompt() -> None:
    assert streamed_arrival(0.0, 10.0, transfer=5.0, free=0.0, latency=0.0, layers=1) == 15.0
    assert streamed_arrival(0.0, 10.0, transfer=5.0, free=12.0, latency=0.0, layers=1) == 17.0


def test_engines_match_where_both_pools_take_as_many_requests() -> None:
    assert 3 * matched_ratio(2.0, 6.0) * 2.0 == 3 * 6.0
