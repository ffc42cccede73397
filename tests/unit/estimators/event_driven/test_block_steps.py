"""Blocks taken apart for a replay: the closed form's seconds, none lost and none made."""

import numpy as np
import pytest

from tests.conftest import small_cluster, small_gpt, small_llama
from volvelle import ParallelMapping, Recompute, TrainingStep, transformer
from volvelle.estimators.event_driven.block_steps import BlockSteps, How
from volvelle.estimators.event_driven.moved import Group
from volvelle.estimators.rates import SustainedRates
from volvelle.estimators.training.block_time import BlockTime
from volvelle.estimators.training.blocks import Blocks
from volvelle.estimators.training.lines import SLOWED
from volvelle.mapping.lowered_model import lowered_model
from volvelle.mapping.parallelism import MappingTable
from volvelle.mapping.schedule import Work
from volvelle.workload.families.shape import Transformer

_MAPPINGS = [
    ParallelMapping(),
    ParallelMapping(tensor=4),
    ParallelMapping(tensor=4, sequence_parallel=False, fused_attention=False, recompute=Recompute.SELECTIVE),
    ParallelMapping(tensor=2, recompute=Recompute.FULL),
    ParallelMapping(tensor=2, recompute=Recompute.LIGHT),
    ParallelMapping(tensor=2, context=2),
    ParallelMapping(tensor=2, context=2, ulysses=True),
]
_COMPUTED = (How.KERNEL, How.GATHERED_KERNEL, How.CORE_KERNEL)


def _blocks(model: Transformer, mapping: ParallelMapping, **constants: float) -> tuple[Blocks, float]:
    step = TrainingStep(model=transformer(model), batch=8)
    machine = SustainedRates.of(small_cluster(**constants), "bf16", None)
    blocks = Blocks(lowered_model(step, mapping.structure), machine, MappingTable.of([mapping]))
    return blocks, float(np.max(machine.communication_sm_share))


def _steps(blocks: Blocks, time: BlockTime, share: float) -> BlockSteps:
    groups = dict.fromkeys(blocks.axes, Group(2, 1))
    return BlockSteps(time, groups, blocks.sizes, beside=False, sm_share=share)


def _alone(time: BlockTime, steps: BlockSteps, work: Work) -> float:
    """Seconds of kernels, of what is waited for, and of what does not hide of the rest."""
    own = sum(
        step.seconds for step in steps.works[work] if step.line is not SLOWED and step.how in (*_COMPUTED, How.BLOCKING)
    )
    phases = {"FORWARD"} if work is Work.FORWARD else {"RECOMPUTE", "BACKWARD"}
    tasks = {id(task.action): task for task in time.plan.tasks}
    behind = [
        float(np.max(time.exposed_time(exchange, seconds)))
        for exchange, seconds in time.exchanges
        if exchange.phase.name in phases and not exchange.per_step
        if steps._how(tasks[id(exchange)]) is not How.BLOCKING
    ]
    return own + sum(behind)


@pytest.mark.parametrize("model", [small_gpt(), small_llama()], ids=["gpt", "llama"])
@pytest.mark.parametrize("mapping", _MAPPINGS, ids=str)
@pytest.mark.parametrize("constants", [{}, {"host_dispatch_time": 1e-3}, {"tensor_exposure": 0.6}], ids=str)
def test_steps_of_a_block_add_up_to_its_forward_and_backward(
    model: Transformer, mapping: ParallelMapping, constants: dict[str, float]
) -> None:
    blocks, share = _blocks(model, mapping, **constants)
    for time in blocks.times.values():
        steps = _steps(blocks, time, share)
        assert _alone(time, steps, Work.FORWARD) == pytest.approx(float(np.max(time.forward)), rel=1e-12)
        assert _alone(time, steps, Work.BACKWARD) == pytest.approx(float(np.max(time.backward)), rel=1e-12)


@pytest.mark.parametrize("mapping", _MAPPINGS, ids=str)
def test_a_backward_is_its_gradients_of_inputs_and_of_weights(mapping: ParallelMapping) -> None:
    blocks, share = _blocks(small_gpt(), mapping, communication_sm_share=0.2)
    for time in blocks.times.values():
        works = _steps(blocks, time, share).works
        apart = [step for work in (Work.INPUT_GRADIENTS, Work.WEIGHT_GRADIENTS) for step in works[work]]
        seconds = sum(step.seconds for step in works[Work.BACKWARD])
        assert sum(step.seconds for step in apart) == pytest.approx(seconds, rel=1e-12)
        of_weights = sum(step.seconds for step in works[Work.WEIGHT_GRADIENTS] if step.how in _COMPUTED)
        slowed = sum(step.seconds for step in works[Work.WEIGHT_GRADIENTS] if step.line is SLOWED)
        assert of_weights - slowed == pytest.approx(float(np.max(time.weight_gradients)), rel=1e-12)


def test_a_norm_makes_the_gradient_of_its_input_too_and_is_waited_for() -> None:
    blocks, share = _blocks(small_gpt(), ParallelMapping())
    works = _steps(blocks, blocks.times["layer"], share).works
    assert "attention_norm" in {step.name for step in works[Work.INPUT_GRADIENTS]}
    assert "attention_norm" not in {step.name for step in works[Work.WEIGHT_GRADIENTS]}


def test_a_gather_that_only_weight_gradients_read_goes_with_them() -> None:
    blocks, share = _blocks(small_gpt(), ParallelMapping(tensor=4))
    works = _steps(blocks, blocks.times["layer"], share).works
    repeated = [step for step in works[Work.WEIGHT_GRADIENTS] if step.how is How.BEHIND_KERNEL]
    assert len(repeated) == 2
    assert not [step for step in works[Work.INPUT_GRADIENTS] if step.how is How.BEHIND_KERNEL]
