"""A lowered block as a program: it can run in the order it is written in, and frees what it holds."""

from collections import Counter
from itertools import product

import pytest

from volvelle import TrainingStep, transformer
from volvelle.catalogue import Catalogue
from volvelle.mapping.actions import Exchange, Kernel, Transfer
from volvelle.mapping.axis_shardings import axis_shardings
from volvelle.mapping.lowered_block import LoweredBlock
from volvelle.mapping.lowering import lower
from volvelle.mapping.parallelism import Recompute, Structure
from volvelle.mapping.symbols import merged
from volvelle.workload.graph import Block, Workload
from volvelle.workload.operations import Phase

MODELS = ("gpt3-175b", "llama3-70b", "mixtral-8x7b", "deepseek-v3", "gemma3-27b", "jamba-1.5-large")
STRUCTURES = [
    Structure(sequence_parallel=sequence, recompute=recompute, fused_attention=fused, ulysses=ulysses)
    for sequence, recompute, fused, ulysses in product((False, True), Recompute, (False, True), (False, True))
]
ORDER = {Phase.FORWARD: 0, Phase.RECOMPUTE: 1, Phase.BACKWARD: 1}


@pytest.fixture(scope="module", params=MODELS)
def lowered(request: pytest.FixtureRequest) -> list[tuple[Workload, Block, Structure, LoweredBlock]]:
    model = transformer(Catalogue().model(request.param))
    whole = TrainingStep(model=model, batch=1).whole
    return [(whole, block, way, lower(whole, block, way)) for way in STRUCTURES for block in whole.blocks]


Cases = list[tuple[Workload, Block, Structure, LoweredBlock]]


def test_every_task_waits_only_for_tasks_before_it(lowered: Cases) -> None:
    for _, _, _, block in lowered:
        for place, task in enumerate(block.tasks):
            assert all(earlier < place for earlier in task.after)
            for value in task.reads:
                lifetime = block.lifetimes[value]
                assert (lifetime.made is None) or lifetime.made in task.after
                assert lifetime.freed is not None
                assert lifetime.freed >= place


def test_the_backward_pass_begins_when_the_forward_pass_has_ended(lowered: Cases) -> None:
    for _, _, _, block in lowered:
        phases = [ORDER[task.phase] for task in block.tasks]
        assert phases == sorted(phases)


def test_every_activation_that_is_read_was_made_or_handed_over_before(lowered: Cases) -> None:
    """Otherwise it would have to be a weight or data, which the step holds."""
    for _, block, _, program in lowered:
        held = {tensor.name for tensor in block.tensors} - {name for op in block.operations for name in op.outputs}
        held -= set(block.inputs)
        made_inside = {name for op in block.operations if op.region for name in op.outputs}
        for task in program.tasks:
            read = {program.lifetimes[value].tensor for value in task.reads}
            operations = [block.operation_of[name] for name in task.operations]
            for name in {name for op in operations for name in op.inputs} - read - held:
                assert name in made_inside, (task.operations, name)


def test_a_products_shape_is_its_work_under_every_degree(lowered: Cases) -> None:
    """Degrees are symbols in the sizes, so equal powers say that it holds for all of them."""
    for _, _, way, block in lowered:
        for task in block.tasks:
            kernel = task.action
            if isinstance(kernel, Kernel) and kernel.product is not None and kernel.matrix_work is not None:
                shape = kernel.rows * kernel.columns * kernel.depth * kernel.instances
                assert shape.powers == kernel.matrix_work.powers, (kernel.name, kernel.phase, way)
                assert 2.0 * shape.coefficient == pytest.approx(kernel.matrix_work.coefficient)


def test_every_operation_runs_once_in_its_phase(lowered: Cases) -> None:
    for _, block, _, program in lowered:
        runs = Counter(name for task in program.tasks if task.phase is not Phase.RECOMPUTE for name in task.operations)
        assert runs == Counter(op.name for op in block.operations)


def test_freeing_what_nobody_reads_again_leaves_what_is_saved(lowered: Cases) -> None:
    """Walk the program with a memory: what is alive between the passes is what the closed form counts as saved."""
    for _, block, _, program in lowered:
        alive = {
            place for place, value in enumerate(program.lifetimes) if value.made is None and value.born is Phase.FORWARD
        }
        for place, task in enumerate(program.tasks):
            if task.phase is not Phase.FORWARD:
                break
            alive |= set(task.writes)
            alive -= {value for value in task.reads if program.lifetimes[value].freed == place}
        alive -= {value for value in alive if program.lifetimes[value].freed is None}
        tensors = {program.lifetimes[value].tensor for value in alive}
        assert set(block.inputs) & tensors or not block.inputs or block.name == "embedding"
        sizes = {
            program.lifetimes[value].tensor: program.lifetimes[value].size for value in sorted(alive, reverse=True)
        }
        assert sorted(merged(list(sizes.values()))) == sorted(program.saved)


def test_nothing_but_gradients_outlives_the_backward_pass(lowered: Cases) -> None:
    for _, block, _, program in lowered:
        left = {value.tensor for value in program.lifetimes if value.freed is None and value.born is Phase.BACKWARD}
        gradients = {f"{tensor.name}.grad" for tensor in block.tensors}
        assert left <= gradients, left - gradients


def test_collectives_are_those_of_the_shardings(lowered: Cases) -> None:
    for whole, block, structure, program in lowered:
        made = Counter(
            (action.axis, action.collective)
            for action in (task.action for task in program.tasks if task.phase is not Phase.RECOMPUTE)
            if isinstance(action, Exchange) and not action.per_step
        )
        wanted = Counter(
            (axis, change.collective)
            for axis, sharded in axis_shardings(whole, block, structure).items()
            for change in sharded.conversions
            if not change.of_weight
        )
        assert made == wanted


def test_a_block_sends_on_what_it_makes_and_sends_back_its_gradient(lowered: Cases) -> None:
    for _, block, _, program in lowered:
        sent = Counter(task.phase for task in program.tasks if isinstance(task.action, Transfer))
        assert sent[Phase.FORWARD] == len(block.outputs)
        assert sent[Phase.BACKWARD] == len(block.inputs)


def test_the_kernels_of_a_layer_follow_one_another(lowered: Cases) -> None:
    """The products of attention before those of the feed-forward part, and in the other order backward."""
    for _, block, _, program in lowered:
        places = {
            (task.phase, name): place
            for place, task in enumerate(program.tasks)
            if isinstance(task.action, Kernel)
            for name in task.operations
        }
        for op in block.operations:
            if op.phase is Phase.FORWARD and (Phase.FORWARD, op.name) in places:
                gradients = [
                    place
                    for (phase, name), place in places.items()
                    if phase is Phase.BACKWARD and block.operation_of[name].of == op.name
                ]
                assert all(place > places[Phase.FORWARD, op.name] for place in gradients)
