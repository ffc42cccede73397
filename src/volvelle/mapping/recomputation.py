"""Which operations of a block run again for the backward pass, and what need not be kept because of it."""

from collections.abc import Collection, Sequence

from volvelle.mapping.parallelism import Recompute
from volvelle.workload.operations import Contraction, Normalisation, Operation, Pointwise


def run_again(
    forward: Sequence[Operation], kind: Recompute, *, repeats: bool, fused: Collection[str]
) -> Sequence[Operation]:
    """Forward operations that run again: a block that repeats whole, regions that are not fused, or what is cheap.

    Or all but regions and every second product beside them, in the order in which they run.
    """
    if kind is Recompute.FULL and repeats:
        return forward
    if kind is Recompute.SELECTIVE:
        return [op for op in forward if op.region and op.region not in fused]
    if kind is Recompute.LIGHT and repeats:
        return [op for op in forward if not op.region and is_light(op)]
    if kind is Recompute.ALTERNATE and repeats:
        kept = [op for op in forward if not op.region and isinstance(op.kind, Contraction)][::2]
        return [op for op in forward if not op.region and op not in kept]
    return []


def is_light(op: Operation) -> bool:
    """Norms, activation functions, and products with what is of low rank."""
    if isinstance(op.kind, Normalisation):
        return not op.kind.saves_output
    if isinstance(op.kind, Pointwise):
        return not op.kind.is_sum and len(op.outputs) == 1
    return isinstance(op.kind, Contraction) and any(dim.endswith("_rank") for dim in op.kind.signature.inputs[0])


def made_inside(forward: Sequence[Operation], again: Sequence[Operation]) -> set[str]:
    """Tensors made inside a region that is recomputed by itself, and needed nowhere else forward."""
    alone = {op.region for op in again if op.region}
    made = {name for op in forward if op.region in alone for name in op.outputs}
    used_outside = {name for op in forward if op.region not in alone for name in op.inputs}
    return made - used_outside
