"""A lowered block as COMET counts it (Kadiyala et al., Tables 1 and 2), instead of as its declarations derive it.

* Of forward kernels, matrix products count, and norms and residual additions, which read once what they write; other
  pointwise steps are inside products. Embedding and output head hold weights and take no time.
* The input-gradient pass takes as long as the forward pass, with as many kernels; what it recomputes is not charged.
* The weight-gradient pass streams a product's input past its weights and optimiser states in full precision, and stores
  gradients, weights and both states: 12 and 16 bytes a parameter. The optimiser has no pass of its own.
* A node keeps what one layer writes between two checkpoints, attention scores aside; checkpoints are on the host.
* Parameters are those of products and tables.

What a step does beside its blocks follows from the same rules in the estimator: replicas sum the gradients of layers by
an all-reduce at any stage of ZeRO, hidden behind the weight-gradient pass alone.
"""

from collections.abc import Iterator
from dataclasses import replace

from volvelle.mapping.actions import Action, Exchange, Kernel
from volvelle.mapping.lowered_block import LoweredBlock
from volvelle.mapping.program import Task
from volvelle.mapping.symbols import Term, merged
from volvelle.workload.elements import element_bytes
from volvelle.workload.operations import Phase

_KEPT = 12.0
"""Bytes a parameter of weights, momentum and variance in full precision."""
_STORED = 16.0
"""The same, and the gradient."""
_STREAM = "norms, residuals"
"""The part of pointwise kernels that count."""


def counted_as_comet(block: LoweredBlock, element: str) -> LoweredBlock:
    """The block by these rules; its weights are of such elements."""
    each = element_bytes(element)
    weights = block.weights if block.expert_weights else merged([size / Term(each) for size in _gradients(block)])
    if block.tied:
        weights = ()
    kept = replace(block, weights=weights, saved=(), saved_for_products=(), working=(), scored=())
    if not block.is_layer:
        return replace(kept, kernels=(), exchanges=(), tasks=())
    forward = [(task, _forward(block, task, action)) for task, action in _kernels(block, Phase.FORWARD)]
    counted = [(task, kernel) for task, kernel in forward if kernel is not None]
    again = [(task, replace(kernel, phase=Phase.BACKWARD)) for task, kernel in counted]
    first = {kernel.name: kernel for _, kernel in counted if kernel.product is not None}
    of_weights = [
        (task, _weight_gradient(action, first[action.name], each))
        for task, action in _kernels(block, Phase.BACKWARD)
        if action.of_weight and action.product is not None and action.name in first
    ]
    exchanged = [task for task in block.tasks if isinstance(task.action, Exchange) and _blocking(task.action)]
    ahead = [task for task in exchanged if task.phase is Phase.FORWARD]
    back = [task for task in exchanged if task.phase is Phase.BACKWARD]
    tasks = (
        *(_alone(task, kernel) for task, kernel in counted),
        *(_alone(task, task.action) for task in ahead),
        *(_alone(task, kernel) for task, kernel in again),
        *(_alone(task, task.action) for task in back),
        *(_alone(task, kernel) for task, kernel in of_weights),
    )
    actions = [task.action for task in tasks]
    return replace(
        kept,
        tasks=tasks,
        kernels=tuple(action for action in actions if isinstance(action, Kernel)),
        exchanges=tuple(action for action in actions if isinstance(action, Exchange)),
        working=merged(list(_between_checkpoints(block, [task for task, _ in counted]))),
    )


def _kernels(block: LoweredBlock, phase: Phase) -> Iterator[tuple[Task, Kernel]]:
    for task in block.tasks:
        if isinstance(task.action, Kernel) and task.phase is phase:
            yield task, task.action


def _written(block: LoweredBlock, task: Task) -> Term:
    return block.lifetimes[task.writes[0]].size


def _alone(task: Task, action: Action | None) -> Task:
    """A task that other tasks do not hold up: the order of passes is all that counts."""
    assert isinstance(action, Kernel | Exchange), "others were left out"
    return replace(task, action=action, phase=action.phase, after=(), reads=())


def _forward(block: LoweredBlock, task: Task, kernel: Kernel) -> Kernel | None:
    """A kernel of the forward pass; None: it is inside another."""
    if kernel.product is not None:
        return kernel
    if kernel.part != _STREAM:
        return None
    return replace(kernel, vector_work=None, matrix_work=None, traffic=(_written(block, task) * Term(2.0),))


def _weight_gradient(kernel: Kernel, forward: Kernel, each: float) -> Kernel:
    """The product of a weight's gradient: the forward product's input against weights and states."""
    assert kernel.product is not None, "looked at before"
    assert forward.product is not None, "looked at before"
    states = kernel.product[2]
    operands = (forward.product[0], states * Term(_KEPT / each), states * Term(_STORED / each))
    return replace(kernel, product=operands)


def _blocking(exchange: Exchange) -> bool:
    return not exchange.per_step and not exchange.repeated_in_backward


def _gradients(block: LoweredBlock) -> Iterator[Term]:
    """Bytes of gradients of weights that products and tables have; norms make theirs in passing."""
    for task, kernel in _kernels(block, Phase.BACKWARD):
        if kernel.of_weight and len(task.writes) == 1:
            yield _written(block, task)


def _between_checkpoints(block: LoweredBlock, counted: list[Task]) -> Iterator[Term]:
    """What counted kernels write, but for the checkpoint itself and what only attention reads."""
    cores = [task for task in counted if isinstance(task.action, Kernel) and task.action.attention_core]
    for task in counted[:-1]:
        if task not in cores[:-1]:
            yield _written(block, task)
