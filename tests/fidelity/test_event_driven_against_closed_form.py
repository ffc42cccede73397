"""Equal stages, nothing overlapped, a network that takes no time: the replay of a step is the closed form's."""

from dataclasses import replace

import pytest

from tests.conftest import small_chip, small_cluster, small_gpt, small_llama
from volvelle import ClosedForm, Cluster, Dimension, Link, Memory, ParallelMapping, Recompute, Switch, TrainingStep
from volvelle import transformer as forward_pass
from volvelle.estimators.event_driven.estimator import EventDriven
from volvelle.estimators.training import step_time
from volvelle.mapping.parallelism import Schedule
from volvelle.workload.graph import Workload

_AT_ONCE = Link(name="at once", rate=1e18, latency=0.0, setup=0.0)


@pytest.fixture(autouse=True)
def _no_hand_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stages hand over in no time: formulas count every transfer as waited for, a replay only some."""
    monkeypatch.setattr(step_time, "_hand_over_once", lambda *_: 0.0)


def _machine(chips: int) -> Cluster:
    roomy = small_chip(memories=(Memory(name="HBM", capacity=1e15, rate=2e12),))
    return replace(
        small_cluster(chip=roomy),
        dimensions=(Dimension(name="net", size=chips, topology=Switch(), link=_AT_ONCE),),
    )


def _layers_alone(count: int) -> Workload:
    """A model without embedding and head, so that all stages are equal."""
    whole = forward_pass(small_gpt(layers=count))
    (layer,) = (block for block in whole.blocks if block.is_layer)
    return replace(whole, blocks=(layer,), runs=((layer.name, count),))


def _both(step: TrainingStep, machine: Cluster, mapping: ParallelMapping) -> tuple[float, float]:
    closed, event = (one.estimate(step, machine, mapping) for one in (ClosedForm(), EventDriven()))
    assert closed.feasible
    assert event.feasible
    return closed.time, event.time


@pytest.mark.parametrize("recompute", [Recompute.NONE, Recompute.FULL])
@pytest.mark.parametrize(
    ("pipeline", "micro_batches", "interleave", "schedule"),
    [
        (1, 5, 1, Schedule.ONE_FORWARD_ONE_BACKWARD),
        (2, 3, 1, Schedule.ONE_FORWARD_ONE_BACKWARD),
        (4, 2, 1, Schedule.ONE_FORWARD_ONE_BACKWARD),
        (8, 24, 1, Schedule.ONE_FORWARD_ONE_BACKWARD),
        (4, 8, 3, Schedule.ONE_FORWARD_ONE_BACKWARD),
        (2, 8, 6, Schedule.ONE_FORWARD_ONE_BACKWARD),
        (4, 4, 2, Schedule.ONE_FORWARD_ONE_BACKWARD),
        (8, 5, 1, Schedule.GPIPE),
        (4, 16, 1, Schedule.ZERO_BUBBLE),
        (8, 8, 1, Schedule.ZERO_BUBBLE),
    ],
)
def test_equal_stages_take_as_long_replayed_as_by_formulas(
    pipeline: int, micro_batches: int, interleave: int, schedule: Schedule, recompute: Recompute
) -> None:
    step = TrainingStep(model=_layers_alone(24), batch=micro_batches)
    mapping = ParallelMapping(pipeline=pipeline, interleave=interleave, schedule=schedule, recompute=recompute)
    closed, event = _both(step, _machine(pipeline), mapping)
    assert event == pytest.approx(closed, rel=1e-12)


@pytest.mark.parametrize("model", [small_gpt(), small_llama()], ids=["gpt", "llama"])
def test_one_chip_takes_as_long_replayed_as_by_formulas(model) -> None:  # type: ignore[no-untyped-def]
    """Whatever embedding and head take: there is nobody to wait for."""
    step = TrainingStep(model=forward_pass(model), batch=6)
    closed, event = _both(step, _machine(1), ParallelMapping())
    assert event == pytest.approx(closed, rel=1e-12)


@pytest.mark.parametrize("tensor", [1, 2, 4])
def test_what_blocks_on_a_network_takes_as_long_replayed_as_by_formulas(tensor: int) -> None:
    """Exchanges of the tensor axis, but for gathers that are repeated, which need not hide as formulas say."""
    step = TrainingStep(model=forward_pass(small_gpt()), batch=4)
    machine = replace(small_cluster(), dimensions=(replace(small_cluster().dimensions[0], size=tensor),))
    closed, event = _both(step, machine, ParallelMapping(tensor=tensor, sequence_parallel=False))
    assert event == pytest.approx(closed, rel=1e-12)


@pytest.mark.parametrize("schedule", list(Schedule))
def test_every_stage_holds_what_the_closed_form_says_the_fullest_does(schedule: Schedule) -> None:
    """Activations, where stages are equal."""
    step = TrainingStep(model=_layers_alone(24), batch=16)
    mapping = ParallelMapping(pipeline=4, schedule=schedule)
    closed = ClosedForm().estimate(step, _machine(4), mapping)
    (kept,) = (part.bytes for part in closed.memory if part.name == "activations")
    curves = EventDriven().replayed(step, _machine(4), mapping).memory
    assert max(curve.peak for curve in curves) == pytest.approx(kept, rel=1e-9)


@pytest.mark.parametrize("recompute", [Recompute.NONE, Recompute.FULL])
@pytest.mark.parametrize(
    ("pipeline", "interleave", "micro_batches"), [(2, 2, 2), (2, 4, 8), (4, 2, 4), (4, 2, 16), (4, 4, 8), (8, 2, 32)]
)
def test_the_head_of_interleaved_stages_is_held_for_one_micro_batch(
    pipeline: int, interleave: int, micro_batches: int, recompute: Recompute
) -> None:
    """Of a vocabulary so large that the last stage holds most; its piece goes back as soon as it came."""
    step = TrainingStep(model=forward_pass(small_gpt(layers=16, vocabulary=2**18)), batch=micro_batches)
    mapping = ParallelMapping(pipeline=pipeline, interleave=interleave, recompute=recompute)
    closed = ClosedForm().estimate(step, _machine(pipeline), mapping)
    (kept,) = (part.bytes for part in closed.memory if part.name == "activations")
    curves = EventDriven().replayed(step, _machine(pipeline), mapping).memory
    assert max(curve.peak for curve in curves) == pytest.approx(kept, rel=1e-9)


@pytest.mark.parametrize(("pipeline", "micro_batches"), [(2, 8), (4, 8), (4, 24), (8, 16)])
def test_ends_of_dual_pipe_hold_the_embedding_of_one_direction_and_the_head_of_the_other(
    pipeline: int, micro_batches: int
) -> None:
    step = TrainingStep(model=forward_pass(small_gpt(layers=16)), batch=micro_batches)
    mapping = ParallelMapping(pipeline=pipeline, schedule=Schedule.DUAL_PIPE, recompute=Recompute.FULL)
    closed = ClosedForm().estimate(step, _machine(pipeline), mapping)
    (kept,) = (part.bytes for part in closed.memory if part.name == "activations")
    peak = max(curve.peak for curve in EventDriven().replayed(step, _machine(pipeline), mapping).memory)
    assert peak == pytest.approx(kept, rel=1e-9)
