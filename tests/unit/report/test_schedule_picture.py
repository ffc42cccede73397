"""The picture of a replayed step."""

import pytest

from tests.conftest import small_cluster, small_gpt
from volvelle import ParallelMapping, TrainingStep, transformer
from volvelle.estimators.event_driven.estimator import EventDriven, ReplayedStep
from volvelle.mapping.parallelism import Schedule
from volvelle.report.schedule_picture import _PIXELS, _WORDS, _instants, schedule_picture


def _replayed(**choices: object) -> ReplayedStep:
    mapping = ParallelMapping(tensor=2, pipeline=4, data=4, **choices)  # type: ignore[arg-type]
    return EventDriven().replayed(TrainingStep(model=transformer(small_gpt()), batch=32), small_cluster(), mapping)


def test_a_stage_waits_in_the_picture_as_long_as_in_the_step() -> None:
    replayed = _replayed()
    for stage in range(4):
        shown = int((_instants(replayed, stage) == _WORDS.index("waiting")).sum()) / _PIXELS
        idle = replayed.idle(stage).time()
        pipeline = sum(seconds for line, seconds in idle.items() if line.part == "pipeline") / replayed.time
        assert shown == pytest.approx(pipeline, abs=0.06)


def test_the_last_stage_waits_for_the_first_forward_and_the_first_for_the_last_backward() -> None:
    replayed = _replayed()
    assert _WORDS[_instants(replayed, 3)[0]] == "waiting"
    assert _WORDS[_instants(replayed, 0)[0]] == "forward"


@pytest.mark.parametrize(
    ("schedule", "kind"),
    [(Schedule.ZERO_BUBBLE, "weight gradients"), (Schedule.DUAL_PIPE, "forward with backward")],
)
def test_every_kind_of_slot_is_seen(schedule: Schedule, kind: str) -> None:
    assert _WORDS.index(kind) in _instants(_replayed(schedule=schedule), 2)


def test_the_picture_says_what_is_waited_for() -> None:
    assert "waits for: bubble" in str(schedule_picture(_replayed()).to_dict())
