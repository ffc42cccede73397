"""Bubbles and what waits in them."""

import pytest

from volvelle.laws.pipeline import (
    bubble_time,
    dual_pipe_bubble_time,
    dual_pipe_waited_transfers,
    micro_batches_in_flight,
    waited_transfers,
    zero_bubble_in_flight,
    zero_bubble_time,
    zero_bubble_waited_transfers,
)


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


def test_weight_gradients_fill_a_bubble_of_1f1b_to_a_third() -> None:
    """Qi 2024, table 2: with forward, backward and weight gradients alike, (p − 1)(1 + 2 − 2) of (p − 1)(1 + 2)."""
    alike = zero_bubble_time(8 * 3.0, 3.0, forward=1.0, input_gradients=1.0, weight_gradients=1.0, stages=8.0)
    assert alike == pytest.approx(7.0)
    none = zero_bubble_time(8 * 3.0, 3.0, forward=1.0, input_gradients=2.0, weight_gradients=0.0, stages=8.0)
    assert none == bubble_time(8 * 3.0, 3.0, interleave=1.0)


def test_dual_pipe_has_the_bubble_of_its_table() -> None:
    """DeepSeek-V3, table 2: (p/2 − 1)(F&B + B − 3W)."""
    assert dual_pipe_bubble_time(1.0, 2.0, 1.0, stages=8.0) == pytest.approx(3 * (3 + 2 - 3))
    assert dual_pipe_bubble_time(1.0, 2.0, 1.0, stages=2.0) == 0.0


def test_weight_gradients_do_not_fill_the_wait_for_the_first_forward() -> None:
    """Forward 1, backward 0.5 for inputs and 1.5 for weights: seven forwards are waited for whatever fills the rest."""
    found = zero_bubble_time(8 * 3.0, 3.0, forward=1.0, input_gradients=0.5, weight_gradients=1.5, stages=8.0)
    assert found == pytest.approx(7.0)


def test_weight_gradients_do_not_fill_the_wait_for_the_last_backward() -> None:
    """Forward 0.5, backward 2 for inputs and 1 for weights: the last gradients of inputs go through seven stages."""
    found = zero_bubble_time(8 * 3.5, 3.5, forward=0.5, input_gradients=2.0, weight_gradients=1.0, stages=8.0)
    assert found == pytest.approx(14.0)


def test_every_stage_of_a_zero_bubble_pipeline_holds_what_the_first_of_another_does() -> None:
    first = micro_batches_in_flight(8.0, stage=0.0, interleave=1.0, micro_batches=64.0)
    assert zero_bubble_in_flight(8.0, micro_batches=64.0) == first == 8.0
    assert zero_bubble_in_flight(8.0, micro_batches=4.0) == 4.0


def test_one_of_every_p_micro_batches_is_handed_on_without_a_wait() -> None:
    """Two stages and eight micro-batches: the first goes there and back, then every second waits for both ways."""
    assert waited_transfers(2.0, interleave=1.0, micro_batches=8.0) == 8.0
    assert waited_transfers(8.0, interleave=1.0, micro_batches=1.0) == 14.0


def test_pieces_hide_all_transfers_but_those_of_filling_and_draining() -> None:
    few, many = (waited_transfers(8.0, interleave=3.0, micro_batches=count) for count in (16.0, 512.0))
    assert few == many == 46.0


def test_weight_gradients_fill_the_wait_for_transfers_of_a_zero_bubble_pipeline() -> None:
    assert zero_bubble_waited_transfers(8.0, micro_batches=512.0) == 28.0
    assert zero_bubble_waited_transfers(8.0, micro_batches=8.0) == 26.0


def test_transfers_of_a_pipeline_that_is_fed_from_both_ends_are_waited_for() -> None:
    assert dual_pipe_waited_transfers(8.0, micro_batches=32.0) == 59.0
