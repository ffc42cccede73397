"""Equal stages, nothing overlapped: the time of an order, replayed, is what the laws of pipelines say."""

import random
from collections.abc import Iterator

import pytest

from tests.fidelity.slots import EQUAL, length
from volvelle.laws.pipeline import (
    bubble_time,
    dual_pipe_bubble_time,
    micro_batches_in_flight,
    zero_bubble_in_flight,
    zero_bubble_time,
)
from volvelle.mapping.parallelism import Schedule
from volvelle.mapping.schedule import Work, pipeline_order

_PLAIN, _GPIPE, _ZERO, _DUAL = (
    Schedule.ONE_FORWARD_ONE_BACKWARD,
    Schedule.GPIPE,
    Schedule.ZERO_BUBBLE,
    Schedule.DUAL_PIPE,
)
_MOST_SLOTS = 40_000


def _drawn(seed: int, count: int) -> Iterator[tuple[int, int]]:
    """Stages and micro-batches, few enough for CI: all stages occur, and all numbers of micro-batches may."""
    draw = random.Random(seed)
    for _ in range(count):
        stages = draw.choice([1, 2, 3, 4, 7, 8, 16, 31, 64])
        yield stages, draw.randint(1, min(512, _MOST_SLOTS // (3 * stages)))


def _parts(seed: int) -> dict[Work, float]:
    draw = random.Random(seed)
    forward, inputs = draw.uniform(0.1, 3.0), draw.uniform(0.5, 3.0)
    weights = draw.uniform(0.0, 3.0)
    return {
        Work.FORWARD: forward,
        Work.INPUT_GRADIENTS: inputs,
        Work.WEIGHT_GRADIENTS: weights,
        Work.BACKWARD: inputs + weights,
    }


@pytest.mark.parametrize("schedule", [_PLAIN, _GPIPE])
@pytest.mark.parametrize(("stages", "micro_batches"), list(_drawn(1, 24)))
def test_one_forward_one_backward_and_gpipe_wait_as_long_as_the_law_says(
    schedule: Schedule, stages: int, micro_batches: int
) -> None:
    times = _parts(stages * 1000 + micro_batches)
    each = times[Work.FORWARD] + times[Work.BACKWARD]
    order = pipeline_order(schedule, stages=stages, micro_batches=micro_batches)
    law = micro_batches * each + bubble_time(stages * each, each, interleave=1)
    assert length(order, times) == pytest.approx(law, rel=1e-12)


@pytest.mark.parametrize("pieces", [2, 3, 6, 12])
@pytest.mark.parametrize(("stages", "turns"), [(2, 1), (2, 9), (3, 4), (4, 8), (8, 1), (8, 3), (16, 2)])
def test_interleaved_pieces_divide_the_bubble(pieces: int, stages: int, turns: int) -> None:
    times = _parts(pieces * 100 + stages)
    each = times[Work.FORWARD] + times[Work.BACKWARD]
    order = pipeline_order(_PLAIN, stages=stages, micro_batches=stages * turns, interleave=pieces)
    law = stages * turns * each * pieces + bubble_time(stages * pieces * each, pieces * each, interleave=pieces)
    assert length(order, times) == pytest.approx(law, rel=1e-12)
    for stage in range(stages):
        flying = micro_batches_in_flight(stages, stage=stage, interleave=pieces, micro_batches=stages * turns)
        assert order.in_flight(stage) == pytest.approx(float(flying), rel=1e-12)


@pytest.mark.parametrize(("stages", "micro_batches"), list(_drawn(2, 24)))
def test_weight_gradients_fill_the_bubble_as_the_law_says(stages: int, micro_batches: int) -> None:
    """From as many micro-batches as stages on; with fewer there is less to fill it with."""
    micro_batches = max(micro_batches, stages)
    times = _parts(stages + 7 * micro_batches)
    whole = sum(times[work] for work in (Work.FORWARD, Work.INPUT_GRADIENTS, Work.WEIGHT_GRADIENTS))
    order = pipeline_order(_ZERO, stages=stages, micro_batches=micro_batches)
    bubble = zero_bubble_time(
        stages * whole,
        whole,
        forward=times[Work.FORWARD],
        input_gradients=times[Work.INPUT_GRADIENTS],
        weight_gradients=times[Work.WEIGHT_GRADIENTS],
        stages=stages,
    )
    assert length(order, times) == pytest.approx(micro_batches * whole + bubble, rel=1e-12)


@pytest.mark.parametrize(("stages", "micro_batches"), list(_drawn(3, 24)))
def test_every_stage_holds_as_many_micro_batches_as_the_laws_say(stages: int, micro_batches: int) -> None:
    plain = pipeline_order(_PLAIN, stages=stages, micro_batches=micro_batches)
    zero = pipeline_order(_ZERO, stages=stages, micro_batches=micro_batches)
    gpipe = pipeline_order(_GPIPE, stages=stages, micro_batches=micro_batches)
    for stage in range(stages):
        flying = micro_batches_in_flight(stages, stage=stage, interleave=1, micro_batches=micro_batches)
        assert plain.in_flight(stage) == flying
        assert zero.in_flight(stage) == zero_bubble_in_flight(stages, micro_batches=micro_batches)
        assert gpipe.in_flight(stage) == micro_batches


@pytest.mark.parametrize(("stages", "micro_batches"), [(2, 4), (2, 16), (4, 8), (4, 20), (8, 16), (16, 64), (64, 128)])
def test_dual_pipe_waits_as_long_as_the_law_says_where_its_parts_are_equal(stages: int, micro_batches: int) -> None:
    order = pipeline_order(_DUAL, stages=stages, micro_batches=micro_batches)
    bubble = dual_pipe_bubble_time(1.0, 2.0, 1.0, stages=stages)
    assert length(order, EQUAL) == pytest.approx(3.0 * micro_batches + bubble, rel=1e-12)
    assert {order.in_flight(stage) for stage in range(stages)} == {stages + 1}


@pytest.mark.parametrize(
    ("inputs", "weights", "replayed", "law"), [(1.0, 1.0, 2.0, 2.0), (1.2, 0.8, 2.4, 2.6), (0.8, 1.2, 2.0, 1.4)]
)
def test_dual_pipe_is_off_the_law_where_its_parts_are_not_equal(
    inputs: float, weights: float, replayed: float, law: float
) -> None:
    """Bubble for p/2 − 1, with a forward of 1."""
    times = {
        Work.FORWARD: 1.0,
        Work.INPUT_GRADIENTS: inputs,
        Work.WEIGHT_GRADIENTS: weights,
        Work.BACKWARD: inputs + weights,
    }
    order = pipeline_order(_DUAL, stages=8, micro_batches=32)
    assert (length(order, times) - 32 * 3.0) / 3.0 == pytest.approx(replayed)
    assert dual_pipe_bubble_time(1.0, inputs + weights, weights, stages=8.0) / 3.0 == pytest.approx(law)


@pytest.mark.long
@pytest.mark.parametrize(("stages", "turns", "pieces"), [(64, 8, 1), (64, 2, 12), (16, 32, 4)])
def test_the_largest_pipelines_wait_as_long_as_the_law_says(stages: int, turns: int, pieces: int) -> None:
    times = _parts(stages)
    each = times[Work.FORWARD] + times[Work.BACKWARD]
    order = pipeline_order(_PLAIN, stages=stages, micro_batches=stages * turns, interleave=pieces)
    law = stages * turns * each * pieces + bubble_time(stages * pieces * each, pieces * each, interleave=pieces)
    assert length(order, times) == pytest.approx(law, rel=1e-12)
