"""A model's blocks lowered once for each structure and kept, and how they follow one another."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Generic, TypeVar

from volvelle.mapping.comet_counting import counted_as_comet
from volvelle.mapping.lowered_block import LoweredBlock
from volvelle.mapping.lowering import lower
from volvelle.mapping.parallelism import Structure
from volvelle.workload.graph import Workload
from volvelle.workload.operations import Phase
from volvelle.workload.training import Counting, TrainingStep

Held = TypeVar("Held")


class ByIdentity(Generic[Held]):
    """A value as a key: built once, looked up by identity."""

    __slots__ = ("value",)

    def __init__(self, value: Held) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByIdentity) and other.value is self.value


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredModel:
    """Lowered blocks, and the order in which they run."""

    blocks: tuple[LoweredBlock, ...]
    runs: tuple[tuple[str, int], ...]
    """Block and how many of it in a row, from first to last."""

    @cached_property
    def trains(self) -> bool:
        """Whether there is a backward pass."""
        return any(kernel.phase is Phase.BACKWARD for block in self.blocks for kernel in block.kernels)

    @cached_property
    def is_tuned(self) -> bool:
        """Whether some weights are frozen."""
        return any(block.frozen or block.frozen_tied_bytes for block in self.blocks)

    def works(self, *, casts: bool) -> Mapping[str, tuple[int, ...]]:
        """Block → for every kernel of it the number of its work, equal where kernels of any block do the same.

        Where products are cast to a narrower type, those that stay in 16 bits are told apart.
        """
        return self._works[casts]

    @cached_property
    def _works(self) -> dict[bool, dict[str, tuple[int, ...]]]:
        found: dict[bool, dict[str, tuple[int, ...]]] = {}
        for casts in (False, True):
            numbers: dict[Hashable, int] = {}
            found[casts] = {
                block.name: tuple(
                    numbers.setdefault((kernel.work, casts and kernel.keep_16bit), len(numbers))
                    for kernel in block.kernels
                )
                for block in self.blocks
            }
        return found

    @cached_property
    def _by_name(self) -> dict[str, LoweredBlock]:
        return {block.name: block for block in self.blocks}

    @cached_property
    def _common(self) -> LoweredBlock:
        """The block repeated most."""
        return max(self.blocks, key=lambda block: block.repeat)

    @cached_property
    def _is_layer(self) -> frozenset[str]:
        return frozenset({self._common.name, *(block.name for block in self.blocks if block.is_layer)})

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Every layer, from first to last."""
        return tuple(name for name, count in self.runs if name in self._is_layer for _ in range(count))

    @cached_property
    def uniform(self) -> bool:
        """Whether all layers are of one kind, but for some that lead."""
        return len(self.layers) == 1

    @cached_property
    def lead(self) -> tuple[LoweredBlock, ...]:
        """Layers of other kinds that all come before the first of the common kind, where all that follow are common."""
        start = self.order.index(self._common.name)
        if any(name != self._common.name for name in self.order[start:]):
            return ()
        leading = tuple(self._by_name[name] for name in dict.fromkeys(self.order[:start]))
        # Frozen layers may be many, so those that a stage has are counted one by one.
        return () if any(block.trains is not self._common.trains for block in leading) else leading

    @cached_property
    def leading(self) -> int:
        """How many layers lead."""
        return sum(block.repeat for block in self.lead)

    @cached_property
    def layers(self) -> tuple[LoweredBlock, ...]:
        """Kinds of layers, those that lead aside."""
        leading = {block.name for block in self.lead}
        return tuple(self._by_name[name] for name in dict.fromkeys(self.order) if name not in leading)

    @cached_property
    def before(self) -> tuple[LoweredBlock, ...]:
        """What runs before the layers."""
        return self._ends(first=True)

    @cached_property
    def after(self) -> tuple[LoweredBlock, ...]:
        """What runs after them."""
        return self._ends(first=False)

    def _ends(self, *, first: bool) -> tuple[LoweredBlock, ...]:
        names = [name for name, _ in self.runs]
        start = next(place for place, name in enumerate(names) if name in self._is_layer)
        chosen = names[:start] if first else names[start:]
        return tuple(self._by_name[name] for name in dict.fromkeys(chosen) if name not in self._is_layer)


def lowered_model(step: TrainingStep, structure: Structure) -> LoweredModel:
    """All blocks of a step for one structure."""
    found = _lowered(ByIdentity(step.model), structure, step.expert_load, step.backward)
    return _as_comet(found, step.weight_element) if step.counting is Counting.COMET else found


def split_dims(blocks: Sequence[LoweredBlock]) -> frozenset[str]:
    """Dimensions that tensor parallelism divides."""
    return frozenset().union(*(block.split_dims for block in blocks))


def step_flops(step: TrainingStep) -> float:
    """FLOP of matrix products, forward and backward, recomputation not counted."""
    return step.batch * _flops_each(ByIdentity(step.model), step.backward)


@lru_cache(maxsize=256)
def _lowered(model: ByIdentity[Workload], structure: Structure, expert_load: float, backward: bool) -> LoweredModel:
    whole = _whole(model, backward)
    if expert_load != 1.0 and "slots" in whole.sizes:
        whole = whole.with_sizes(slots=whole.sizes["slots"] * expert_load)
    return LoweredModel(
        blocks=tuple(lower(whole, block, structure) for block in whole.blocks),
        runs=whole.runs,
    )


@lru_cache(maxsize=64)
def _as_comet(model: LoweredModel, element: str) -> LoweredModel:
    return replace(model, blocks=tuple(counted_as_comet(block, element) for block in model.blocks))


@lru_cache(maxsize=256)
def _whole(model: ByIdentity[Workload], backward: bool) -> Workload:
    return TrainingStep(model=model.value, batch=1, backward=backward).whole


@lru_cache(maxsize=1024)
def _flops_each(model: ByIdentity[Workload], backward: bool) -> float:
    """FLOP of matrix products a sequence, forward and backward."""
    return TrainingStep(model=model.value, batch=1, backward=backward).flops
