"""Bytes of what is cached, against published and derived figures."""

import numpy as np
import pytest

from volvelle.laws.kv_cache import (
    attended_positions,
    cache_blocks,
    cache_room,
    cached_heads,
    grouped_cache_bytes,
    latent_cache_bytes,
    recurrent_state_bytes,
)


def test_heads_beyond_those_that_there_are_are_kept_more_than_once() -> None:
    assert list(cached_heads(8.0, np.array([1.0, 2.0, 8.0, 16.0]))) == [8.0, 4.0, 1.0, 1.0]


def test_a_layer_of_llama_3_8b_keeps_4096_bytes_of_a_token() -> None:
    assert grouped_cache_bytes(8.0, 128.0, 1.0, element_bytes=2.0) == 4096.0
    assert grouped_cache_bytes(8.0, 128.0, 16.0, element_bytes=2.0) == 512.0


def test_a_latent_is_not_divided_among_chips() -> None:
    assert latent_cache_bytes(512.0, 64.0, element_bytes=2.0) == 1152.0


def test_a_window_ends_what_a_query_reads() -> None:
    assert list(attended_positions(np.array([64.0, 128.0, 4096.0]), reach=128.0)) == [64.0, 128.0, 128.0]


def test_blocks_are_whole() -> None:
    assert list(cache_blocks(np.array([1.0, 16.0, 17.0]), block=16.0)) == [1.0, 1.0, 2.0]


def test_a_recurrent_layer_keeps_as_much_of_a_long_request_as_of_a_short_one() -> None:
    whole = recurrent_state_bytes(32.0, 128.0, 128.0, 8192.0, 4.0, 1.0, state_bytes=4.0)
    assert whole == 32 * 128 * 128 * 4 + 2 * 8192 * 3
    assert recurrent_state_bytes(32.0, 128.0, 128.0, 8192.0, 4.0, 2.0, state_bytes=4.0) == whole / 2


def test_what_weights_and_steps_leave_is_never_below_nothing() -> None:
    assert cache_room(80e9, share=0.9, weights=16e9, working=2e9) == pytest.approx(54e9)
    assert cache_room(24e9, share=0.9, weights=140e9, working=2e9) == 0.0
