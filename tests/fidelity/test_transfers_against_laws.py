"""What a pipeline waits for of its transfers: replays of equal stages against the laws."""

import pytest

from tests.fidelity.test_event_driven_against_closed_form import _layers_alone, _machine
from volvelle import ClosedForm, ParallelMapping, TrainingStep
from volvelle.estimators.event_driven.estimator import EventDriven
from volvelle.estimators.training import step_time
from volvelle.mapping.parallelism import Schedule


@pytest.mark.parametrize(
    ("schedule", "pipeline", "micro_batches", "interleave"),
    [
        (Schedule.ONE_FORWARD_ONE_BACKWARD, 2, 8, 1),
        (Schedule.ONE_FORWARD_ONE_BACKWARD, 4, 1, 1),
        (Schedule.ONE_FORWARD_ONE_BACKWARD, 4, 7, 1),
        (Schedule.ONE_FORWARD_ONE_BACKWARD, 4, 10, 1),
        (Schedule.ONE_FORWARD_ONE_BACKWARD, 8, 64, 1),
        (Schedule.ONE_FORWARD_ONE_BACKWARD, 4, 8, 3),
        (Schedule.ONE_FORWARD_ONE_BACKWARD, 2, 8, 6),
        (Schedule.ONE_FORWARD_ONE_BACKWARD, 8, 64, 3),
        (Schedule.GPIPE, 8, 24, 1),
        (Schedule.ZERO_BUBBLE, 4, 16, 1),
        (Schedule.ZERO_BUBBLE, 8, 9, 1),
        (Schedule.DUAL_PIPE, 4, 12, 1),
        (Schedule.DUAL_PIPE, 8, 64, 1),
        (Schedule.DUAL_PIPE, 12, 24, 1),
    ],
)
def test_short_transfers_are_waited_for_as_often_as_the_law_says(
    monkeypatch: pytest.MonkeyPatch, schedule: Schedule, pipeline: int, micro_batches: int, interleave: int
) -> None:
    step = TrainingStep(model=_layers_alone(24), batch=micro_batches)
    mapping = ParallelMapping(pipeline=pipeline, interleave=interleave, schedule=schedule)

    def waited(estimator: ClosedForm | EventDriven) -> float:
        """Transfers, from how much later a step with them ends."""
        times = []
        for once in (0.0, 1e-7):
            monkeypatch.setattr(step_time, "_hand_over_once", lambda *_, once=once: once)
            times.append(estimator.estimate(step, _machine(pipeline), mapping).time)
        return (times[1] - times[0]) / 1e-7

    assert waited(EventDriven()) == pytest.approx(waited(ClosedForm()), abs=1e-3)
