"""One pass of a served model."""

import pytest

from volvelle.laws.serving.stages import pass_latency, pass_rate, split_layer_time

SN40L = {"compute_rate": 0.9 * 638.976e12, "memory_rate": 1638.4e9, "link_rate": 50e9, "latency": 150e-9}


def test_a_layer_on_sixteen_chips_takes_what_the_authors_of_dfmodel_logged() -> None:
    """TP16_PP1/llama3_8B_SN40L_decode: 16.640 µs of memory, 9.614 of network, 0.055 of compute."""
    time = split_layer_time(503.65e6, 436_207_616.0, 8192.0, 16.0, **SN40L)
    assert time == pytest.approx(26.309e-6, rel=1e-4)


def test_a_single_chip_exchanges_nothing() -> None:
    alone = split_layer_time(1e12, 1e9, 1e6, 1.0, **SN40L)
    assert alone == pytest.approx(1e12 / SN40L["compute_rate"] + 1e9 / SN40L["memory_rate"])
    assert alone == split_layer_time(1e12, 1e9, 9e6, 1.0, **SN40L)


def test_stages_make_a_pass_longer_by_what_they_hand_over_and_passes_more_frequent() -> None:
    whole, transfer = 8.0, 0.5
    latencies = [pass_latency(whole / stages, stages, transfer=transfer) for stages in (1.0, 2.0, 4.0)]
    assert latencies == [8.0, 8.5, 9.5]
    assert [pass_rate(whole / stages) for stages in (1.0, 2.0, 4.0)] == [1 / 8, 1 / 4, 1 / 2]
