"""Plans of a model's blocks, made once for each structure and kept."""

from collections.abc import Sequence
from functools import lru_cache

from volvelle.mapping.lowering import LoweredBlock, lower
from volvelle.mapping.parallelism import Structure
from volvelle.workload.graph import Workload
from volvelle.workload.training import TrainingStep
from volvelle.workload.transforms import with_backward

__all__ = ["ByIdentity", "lowered_blocks", "split_dims", "step_flops"]


class ByIdentity:
    """A model as a key: built once, looked up by identity."""

    __slots__ = ("model",)

    def __init__(self, model: Workload) -> None:
        self.model = model

    def __hash__(self) -> int:
        return id(self.model)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByIdentity) and other.model is self.model


def lowered_blocks(step: TrainingStep, structure: Structure) -> tuple[LoweredBlock, ...]:
    """Plans of all blocks for one structure."""
    return _plans(ByIdentity(step.model), structure, step.expert_load)


def split_dims(plans: Sequence[LoweredBlock]) -> frozenset[str]:
    """Dimensions that tensor parallelism divides."""
    return frozenset().union(*(plan.split_dims for plan in plans))


def step_flops(step: TrainingStep) -> float:
    """FLOP of matrix products, forward and backward, recomputation not counted."""
    return step.batch * _flops_each(ByIdentity(step.model))


@lru_cache(maxsize=256)
def _plans(model: ByIdentity, structure: Structure, expert_load: float) -> tuple[LoweredBlock, ...]:
    whole = _with_backward(model)
    if expert_load != 1.0 and "slots" in whole.sizes:
        whole = whole.with_sizes(slots=whole.sizes["slots"] * expert_load)
    return tuple(lower(whole, block, structure) for block in whole.blocks)


@lru_cache(maxsize=64)
def _with_backward(model: ByIdentity) -> Workload:
    return with_backward(model.model)


@lru_cache(maxsize=64)
def _flops_each(model: ByIdentity) -> float:
    """FLOP of matrix products a sequence, forward and backward."""
    return TrainingStep(model=model.model, batch=1).flops
