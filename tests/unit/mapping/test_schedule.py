"""Orders of pipeline schedules."""

from collections import Counter

import pytest

from tests.fidelity.slots import EQUAL, length
from volvelle.errors import MappingError
from volvelle.mapping.parallelism import Schedule
from volvelle.mapping.schedule import PipelineOrder, Work, order_problem, pipeline_order

_ORDERS = [
    (Schedule.ONE_FORWARD_ONE_BACKWARD, 1, 1, 1),
    (Schedule.ONE_FORWARD_ONE_BACKWARD, 4, 2, 1),
    (Schedule.ONE_FORWARD_ONE_BACKWARD, 4, 13, 1),
    (Schedule.ONE_FORWARD_ONE_BACKWARD, 4, 4, 3),
    (Schedule.ONE_FORWARD_ONE_BACKWARD, 4, 12, 3),
    (Schedule.GPIPE, 3, 5, 1),
    (Schedule.ZERO_BUBBLE, 1, 3, 1),
    (Schedule.ZERO_BUBBLE, 4, 2, 1),
    (Schedule.ZERO_BUBBLE, 4, 9, 1),
    (Schedule.DUAL_PIPE, 2, 4, 1),
    (Schedule.DUAL_PIPE, 6, 14, 1),
]


def _order(schedule: Schedule, stages: int, micro_batches: int, pieces: int) -> PipelineOrder:
    return pipeline_order(schedule, stages=stages, micro_batches=micro_batches, interleave=pieces)


@pytest.mark.parametrize("of", _ORDERS, ids=str)
def test_every_part_of_the_model_works_on_every_micro_batch_once(of: tuple[Schedule, int, int, int]) -> None:
    order = _order(*of)
    done = Counter(
        (order.position(stage, slot.piece), slot.work, slot.micro_batch)
        for stage, slots in enumerate(order.slots)
        for slot in slots
    )
    assert set(done.values()) == {1}
    for place in range(order.positions):
        for batch in range(order.micro_batches):
            assert done[place, Work.FORWARD, batch] == 1
            apart = done[place, Work.INPUT_GRADIENTS, batch]
            assert apart == done[place, Work.WEIGHT_GRADIENTS, batch]
            assert apart + done[place, Work.BACKWARD, batch] == 1


@pytest.mark.parametrize("of", _ORDERS, ids=str)
def test_no_order_waits_for_itself(of: tuple[Schedule, int, int, int]) -> None:
    assert length(_order(*of), EQUAL) > 0.0


@pytest.mark.parametrize("of", _ORDERS, ids=str)
def test_on_a_stage_gradients_come_after_what_they_are_made_of(of: tuple[Schedule, int, int, int]) -> None:
    for slots in _order(*of).slots:
        seen: set[tuple[Work, int, int]] = set()
        for slot in slots:
            if slot.work in (Work.BACKWARD, Work.INPUT_GRADIENTS):
                assert (Work.FORWARD, slot.piece, slot.micro_batch) in seen
            if slot.work is Work.WEIGHT_GRADIENTS:
                assert (Work.INPUT_GRADIENTS, slot.piece, slot.micro_batch) in seen
            seen.add((slot.work, slot.piece, slot.micro_batch))


def test_a_place_is_where_its_position_says() -> None:
    for of in _ORDERS:
        order = _order(*of)
        for stage in range(order.stages):
            for piece in range(order.pieces):
                assert order.place(order.position(stage, piece), piece) == (stage, piece)


def test_a_forward_pass_alone_has_only_forwards() -> None:
    order = pipeline_order(Schedule.DUAL_PIPE, stages=4, micro_batches=8, backward=False)
    assert {slot.work for slots in order.slots for slot in slots} == {Work.FORWARD}
    assert not any(slot.paired for slots in order.slots for slot in slots)


@pytest.mark.parametrize(
    ("schedule", "stages", "micro_batches", "pieces", "said"),
    [
        (Schedule.ONE_FORWARD_ONE_BACKWARD, 4, 6, 2, "not a multiple of 4 stages"),
        (Schedule.ONE_FORWARD_ONE_BACKWARD, 4, 2.5, 1, "2.5 micro-batches"),
        (Schedule.ZERO_BUBBLE, 4, 8, 2, "2 pieces"),
        (Schedule.DUAL_PIPE, 3, 8, 1, "even number of stages"),
        (Schedule.DUAL_PIPE, 4, 6, 1, "6 micro-batches"),
    ],
)
def test_what_has_no_order_is_said(
    schedule: Schedule, stages: int, micro_batches: float, pieces: int, said: str
) -> None:
    problem = order_problem(schedule, stages=stages, micro_batches=micro_batches, interleave=pieces)
    assert problem is not None
    assert said in problem


def test_an_order_that_cannot_be_is_refused() -> None:
    with pytest.raises(MappingError, match="choose other numbers"):
        pipeline_order(Schedule.DUAL_PIPE, stages=3, micro_batches=8)
    with pytest.raises(MappingError, match="at least one each"):
        pipeline_order(Schedule.GPIPE, stages=0, micro_batches=8)
