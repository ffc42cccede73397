"""Training steps replayed task by task."""

from dataclasses import replace

import numpy as np
import pytest

from tests.conftest import small_cluster, small_gpt
from volvelle import ClosedForm, ParallelMapping, TrainingStep, transformer
from volvelle.errors import MappingError
from volvelle.estimators.event_driven.estimator import EventDriven
from volvelle.estimators.event_driven.slot_tasks import STREAMS
from volvelle.estimators.training.lines import BUBBLE, HAND_OVER
from volvelle.mapping.parallelism import Schedule

_STEP = TrainingStep(model=transformer(small_gpt()), batch=64)
_MAPPINGS = [
    ParallelMapping(tensor=4, pipeline=2, data=4),
    ParallelMapping(tensor=4, pipeline=2, data=4, interleave=2),
    ParallelMapping(tensor=2, pipeline=4, data=4, schedule=Schedule.ZERO_BUBBLE),
    ParallelMapping(tensor=4, pipeline=4, data=2, schedule=Schedule.DUAL_PIPE),
    ParallelMapping(tensor=4, pipeline=2, data=4, schedule=Schedule.GPIPE, overlap=False),
    *(ParallelMapping(tensor=4, pipeline=2, data=4, zero=zero) for zero in (0, 2, 3)),
    ParallelMapping(tensor=4, pipeline=2, data=4, zero=3, zero_group=2),
    ParallelMapping(tensor=4, pipeline=2, data=4, zero=3, zero_secondary=2),
    ParallelMapping(tensor=4, data=8),
]


@pytest.mark.parametrize("mapping", _MAPPINGS, ids=str)
def test_what_was_done_and_waited_for_is_the_length_of_the_step(mapping: ParallelMapping) -> None:
    cluster = small_cluster(communication_sm_share=0.2)
    estimate, replayed = (one(_STEP, cluster, mapping) for one in (EventDriven().estimate, EventDriven().replayed))
    assert estimate.time == pytest.approx(replayed.time, rel=1e-12)
    assert all(part.time > 0.0 for part in estimate.contributions)


@pytest.mark.parametrize("mapping", [one for one in _MAPPINGS if one.zero < 2], ids=str)
def test_a_replay_is_near_the_closed_form(mapping: ParallelMapping) -> None:
    """On a small model, whose ends weigh much; where replicas exchange all the time, more hides than formulas say."""
    closed, event = (one.estimate(_STEP, small_cluster(), mapping).time for one in (ClosedForm(), EventDriven()))
    assert event == pytest.approx(closed, rel=0.15)


def test_every_kernel_of_every_micro_batch_runs_once() -> None:
    mapping = ParallelMapping(tensor=4, pipeline=2, data=4)
    step = EventDriven().replayed(_STEP, small_cluster(), mapping).step
    queries = [number for number, label in enumerate(step.labels) if label.name == "layer: query"]
    layers, micro_batches, passes = _STEP.model.layers, 16, 3
    assert int(np.isin(step.label, queries).sum()) == layers * micro_batches * passes


def test_no_two_tasks_of_a_stream_overlap() -> None:
    replayed = EventDriven().replayed(_STEP, small_cluster(), _MAPPINGS[1])
    for stream in range(len(replayed.step.graph.names)):
        own = replayed.step.graph.streams == stream
        assert np.all(replayed.starts[own][1:] >= replayed.ends[own][:-1])


def test_a_transfer_between_stages_is_waited_for_as_long_as_it_runs() -> None:
    """The last of two stages waits for the first forward, then for its transfer."""
    replayed = EventDriven().replayed(_STEP, small_cluster(), _MAPPINGS[0])
    idle = replayed.idle(1)
    assert idle.lines[idle.line[0]] == BUBBLE
    assert idle.lines[idle.line[1]] == HAND_OVER
    assert idle.end[1] - idle.start[1] == pytest.approx(float(np.max(replayed.closed.basis.hand_over)))  # type: ignore[union-attr]


def test_all_memory_is_freed_when_the_step_ends() -> None:
    for mapping in _MAPPINGS:
        for curve in EventDriven().replayed(_STEP, small_cluster(), mapping).memory:
            assert curve.peak > 0.0
            assert curve.bytes[-1] == pytest.approx(0.0, abs=1e-6 * curve.peak)


def test_a_schedule_without_an_order_is_answered_with_its_violation() -> None:
    mapping = ParallelMapping(tensor=4, pipeline=4, data=2, schedule=Schedule.DUAL_PIPE)
    few = EventDriven().estimate(replace(_STEP, batch=8), small_cluster(), mapping)
    assert [violation.name for violation in few.violations] == ["schedule"]
    assert "at least two micro-batches a stage" in few.violations[0].problem


def test_micro_batches_that_are_no_whole_number_are_answered_with_their_violation() -> None:
    found = EventDriven().estimate(replace(_STEP, batch=30), small_cluster(), _MAPPINGS[0])
    assert "batch" in [violation.name for violation in found.violations]


def test_a_forward_pass_alone_has_no_backward_and_no_optimiser() -> None:
    forward = replace(_STEP, backward=False)
    mapping = ParallelMapping(tensor=4, pipeline=2, data=4)
    event, closed = (one.estimate(forward, small_cluster(), mapping) for one in (EventDriven(), ClosedForm()))
    assert event.time < closed.time * 1.1
    assert "optimiser" not in event.parts()


def test_streams_are_those_of_one_rank_a_stage() -> None:
    step = EventDriven().replayed(_STEP, small_cluster(), _MAPPINGS[2]).step
    assert len(step.graph.names) == 4 * len(STREAMS)
    assert step.graph.bytes_per_task <= 48.0


def test_a_stage_at_half_its_speed_holds_all_others_up() -> None:
    """By what more its own work takes, as far as nothing hid behind it; contributions still are the step's length."""
    mapping = _MAPPINGS[0]
    plain = EventDriven().replayed(_STEP, small_cluster(), mapping)
    slow = EventDriven(stragglers=((1, 0.5),))
    found = slow.estimate(_STEP, small_cluster(), mapping)
    own = plain.step.graph.streams == plain.step.stream(1)
    more = float(plain.step.graph.durations[own].sum())
    assert plain.time + 0.5 * more <= found.time <= plain.time + 1.01 * more
    assert found.time == pytest.approx(slow.replayed(_STEP, small_cluster(), mapping).time, rel=1e-12)


def test_stragglers_at_full_speed_change_nothing() -> None:
    whole = EventDriven(stragglers=((0, 1.0),)).replayed(_STEP, small_cluster(), _MAPPINGS[1])
    assert np.array_equal(whole.ends, EventDriven().replayed(_STEP, small_cluster(), _MAPPINGS[1]).ends)


@pytest.mark.parametrize("straggler", [(7, 0.5), (0, 0.0), (0, 1.5)])
def test_a_straggler_that_cannot_be_is_refused(straggler: tuple[int, float]) -> None:
    with pytest.raises(MappingError, match="a straggler at stage"):
        EventDriven(stragglers=(straggler,)).replayed(_STEP, small_cluster(), _MAPPINGS[0])
