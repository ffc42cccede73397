"""Sharding a block over one axis of chips: a choice for each operation, and the collectives that follow.

Nothing here knows Megatron. Each operation offers the splits its declaration allows; a tensor produced in one
layout and needed in another takes the conversion between the two; that is all. Megatron's tensor and sequence
parallelism are two of the combinations (:func:`by_dimension` names them by the dimensions they split).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from volvelle.domains import within_domains
from volvelle.errors import MappingError
from volvelle.workload.graph import Block, Role, Tensor
from volvelle.workload.operations import Operation, Phase, SplitChoice
from volvelle.workload.tensor_layout import PARTIAL, REPLICATED, Collective, TensorLayout, conversion, split
from volvelle.workload.transforms import seed_of

Objective = Literal["time", "bytes"]
"""Time of work and collectives, or bytes that collectives send, as DFModel has it; then work decides between equals."""
END = ""
"""Reader of what leaves a block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorSharding:
    """Which dimension every forward operation splits over the tensor-parallel chips, where that is not Megatron's."""

    splits: tuple[tuple[str, tuple[tuple[str, str | None], ...]], ...]
    """Block → operation → the dimension of its signature it splits (None: it is not split)."""
    boundary: TensorLayout = REPLICATED
    """Of the activations handed from block to block."""

    @classmethod
    def of(cls, splits: Mapping[str, Mapping[str, str | None]], boundary: TensorLayout) -> "TensorSharding":
        """From mappings."""
        return cls(splits=tuple((block, tuple(ops.items())) for block, ops in splits.items()), boundary=boundary)

    def dims(self, block: Block) -> dict[str, str | None]:
        """Operation → dimension, for one block; what is not named is not split."""
        return dict(dict(self.splits).get(block.name, ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """A tensor changes its layout, by a collective over the axis."""

    tensor: str
    collective: Collective
    phase: Phase
    found: TensorLayout
    wanted: TensorLayout
    repeated_in_backward: bool = False
    """The backward pass repeats a conversion of the forward pass, rather than keeping its result: a gather, whose
    result is larger than what it was made of. Sums and swapped dimensions are kept."""
    of_weight: bool = False
    """A weight's gradient: converted once a step, not once a micro-batch."""
    readers: tuple[str, ...] = ()
    """Operations that read what it makes, the first of them first; `END` where it leaves the block so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardedBlock:
    """A block with one split chosen for every operation."""

    block: Block
    dims: Mapping[str, str | None]
    """Operation → the dimension of its signature that is split (None: not split)."""
    layouts: Mapping[str, TensorLayout]
    """Tensor → the layout it is produced (or kept) in."""
    conversions: tuple[Conversion, ...]

    def collectives(self, phase: Phase, *, weights: bool = False) -> tuple[tuple[Collective, str], ...]:
        """Collective and tensor of every first-time conversion in a phase, without those of weight gradients."""
        return tuple(
            (found.collective, found.tensor)
            for found in self.conversions
            if found.phase is phase and not found.repeated_in_backward and (weights or not found.of_weight)
        )


@within_domains
def shard(block: Block, dims: Mapping[str, str | None], *, boundary: TensorLayout = REPLICATED) -> ShardedBlock:
    """Shard a block by a dimension for each forward operation; the rest follows.

    Backward operations split the same dimension as the forward operation they belong to, sums take their
    summands as they come. `boundary` is the layout of the activations handed from block to block.
    """
    layouts: dict[str, TensorLayout] = {name: _fitting(boundary, block.tensor_of[name]) for name in block.inputs}
    chosen: dict[str, str | None] = {}
    conversions: dict[tuple[str, TensorLayout, Phase], Conversion] = {}
    readers: dict[tuple[str, TensorLayout, Phase], list[str]] = {}

    def need(tensor: str, wanted: TensorLayout, phase: Phase, *, reader: str = END, of_weight: bool = False) -> None:
        if tensor not in layouts:  # weights and data start in whatever layout their first reader needs
            layouts[tensor] = wanted
            return
        collective = conversion(layouts[tensor], wanted)
        if collective is None:
            return
        again = phase is Phase.BACKWARD and (tensor, wanted, Phase.FORWARD) in conversions
        key = (tensor, wanted, Phase.FORWARD if again and kept_for_backward(collective) else phase)
        readers.setdefault(key, []).append(reader)
        if key in conversions:
            return
        conversions[key] = Conversion(
            tensor=tensor,
            collective=collective,
            phase=phase,
            found=layouts[tensor],
            wanted=wanted,
            repeated_in_backward=again,
            of_weight=of_weight,
        )

    for name in block.outputs:
        if seed_of(name) in block.tensor_of:
            layouts[seed_of(name)] = _fitting(boundary, block.tensor_of[name])
    for op in block.operations:
        choice = _choice(op, block, dims, layouts)
        chosen[op.name] = choice.dim
        for name, wanted in zip(op.inputs, _inward(op, choice, block), strict=True):
            need(name, wanted, op.phase, reader=op.name)
        layouts |= dict(zip(op.outputs, _outward(op, choice, block), strict=True))
    for name in block.outputs:
        need(name, _fitting(boundary, block.tensor_of[name]), Phase.FORWARD)
    for tensor in block.tensors:
        gradient = f"{tensor.name}.grad"
        if gradient in layouts and (tensor.role is Role.WEIGHT or tensor.name in block.inputs):
            need(gradient, layouts[tensor.name], Phase.BACKWARD, of_weight=tensor.role is Role.WEIGHT)
    placed = tuple(replace(made, readers=tuple(readers[key])) for key, made in conversions.items())
    return ShardedBlock(block=block, dims=chosen, layouts=layouts, conversions=placed)


def kept_for_backward(collective: Collective) -> bool:
    """Whether the backward pass reads what a collective made forward: it does unless a gather made it larger."""
    return collective is not Collective.ALL_GATHER


@within_domains
def by_dimension(block: Block, preferred: Sequence[str], *, otherwise: str | None = None) -> dict[str, str | None]:
    """For each forward operation the first of the preferred dimensions it can split, or else `otherwise`.

    ``by_dimension(layer, ("kv_heads", "ffn", "vocab"))`` is Megatron's tensor parallelism;
    with ``otherwise="position"`` it is tensor with sequence parallelism.
    """
    dims: dict[str, str | None] = {}
    for op in block.operations:
        if op.phase is Phase.FORWARD:
            able = [choice.dim for choice in op.kind.choices() if choice.dim is not None]
            dims[op.name] = next((dim for dim in (*preferred, otherwise) if dim in able), None)
    return dims


@within_domains
def all_shardings(
    block: Block, *, dims: Sequence[str] | None = None, boundaries: Sequence[TensorLayout] = (REPLICATED,)
) -> Iterator[tuple[TensorLayout, ShardedBlock]]:
    """Every combination of splits of the forward operations (of the given dimensions only, if given)."""
    forward = [op for op in block.operations if op.phase is Phase.FORWARD]
    options = [
        list(
            dict.fromkeys(
                choice.dim for choice in op.kind.choices() if choice.dim is None or dims is None or choice.dim in dims
            )
        )
        for op in forward
    ]
    for boundary in boundaries:
        for combination in product(*options):
            yield (
                boundary,
                shard(
                    block,
                    {op.name: dim for op, dim in zip(forward, combination, strict=True)},
                    boundary=boundary,
                ),
            )


def _choice(
    op: Operation, block: Block, dims: Mapping[str, str | None], layouts: Mapping[str, TensorLayout]
) -> SplitChoice:
    choices = op.kind.choices()
    if op.kind.sums() and op.phase is Phase.BACKWARD:
        return _sum_choice(op, choices, [layouts[name] for name in op.inputs])
    dim = dims.get(op.of or op.name)
    for choice in choices:
        if choice.dim == dim:
            return choice
    if op.phase is Phase.FORWARD:
        able = ", ".join(str(choice.dim) for choice in choices if choice.dim)
        raise MappingError(
            f"operation {op.name!r} of block {block.name!r} cannot be split along {dim!r}; it can along: {able}"
        )
    return next(choice for choice in choices if choice.dim is None)


def _sum_choice(op: Operation, choices: Sequence[SplitChoice], found: Sequence[TensorLayout]) -> SplitChoice:
    """Add summands as they come: all partial stay partial, otherwise as the first that is not."""
    wanted = next((layout for layout in found if layout != PARTIAL), PARTIAL)
    names = op.kind.signature.inputs[0]
    for choice in choices:
        if choice.inputs[0] == (split(wanted.dim) if wanted.dim in names else wanted):
            return choice
    raise MappingError(f"the sum {op.name!r} of {' '.join(names)} cannot be taken {wanted}")


def _fitting(layout: TensorLayout, tensor: Tensor) -> TensorLayout:
    return layout if not layout.dim or layout.dim in tensor.dims else REPLICATED


def _inward(op: Operation, choice: SplitChoice, block: Block) -> list[TensorLayout]:
    return [
        _renamed(layout, dims, block.tensor_of[name])
        for layout, dims, name in zip(choice.inputs, op.kind.signature.inputs, op.inputs, strict=True)
    ]


def _outward(op: Operation, choice: SplitChoice, block: Block) -> list[TensorLayout]:
    return [
        _renamed(layout, dims, block.tensor_of[name])
        for layout, dims, name in zip(choice.outputs, op.kind.signature.outputs, op.outputs, strict=True)
    ]


def _renamed(layout: TensorLayout, dims: tuple[str, ...], tensor: Tensor) -> TensorLayout:
    """An operation may know a tensor's dimension by another name (keys are positions)."""
    return split(tensor.dims[dims.index(layout.dim)]) if layout.dim else layout
