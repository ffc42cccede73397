"""What a pipeline waits for of its transfers: replays of equal stages against the laws."""

from dataclasses import replace

import pytest

from tests.fidelity.test_event_driven_against_closed_form import _layers_alone, _machine
from volvelle import ClosedForm, ParallelMapping, TrainingStep
from volvelle.estimators.calibration import Calibrations
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


def test_a_replay_waits_for_the_share_of_a_transfer_that_software_does_not_hide(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(step_time, "_hand_over_once", lambda *_: 1e-7)
    step, mapping = TrainingStep(model=_layers_alone(24), batch=8), ParallelMapping(pipeline=4)

    def taken(estimator: ClosedForm | EventDriven, exposure: float) -> float:
        constants = Calibrations.of(matrix_efficiency=0.8, memory_efficiency=0.8, hand_over_exposure=exposure)
        return estimator.estimate(step, replace(_machine(4), calibrations=constants), mapping).time

    for estimator in (ClosedForm(), EventDriven()):
        none, some, all_of_it = (taken(estimator, exposure) for exposure in (0.0, 0.3, 1.0))
        assert some - none == pytest.approx(0.3 * (all_of_it - none), rel=1e-4)
        assert all_of_it > none
    assert taken(EventDriven(), 0.3) == pytest.approx(taken(ClosedForm(), 0.3), rel=1e-9)
