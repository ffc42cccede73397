"""Fine-tuning: which weights a training changes, and what stands beside those that it does not.

A tuned model is the same graph with frozen weights, and with adapters as operations of their own. Everything that is
counted of a graph (gradients, states, saved activations, exchanges, FLOP) follows from that.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from volvelle.domains import NO_LAYERS, NO_RANK, check_fields, number
from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.workload.graph import Block, Role, Tensor, Workload
from volvelle.workload.operations import Contraction, Operation, Phase, Pointwise
from volvelle.workload.signature import Signature

RANK_DIM = "adapter"
"""The dimension between the two thin matrices of an adapter."""

_PROJECTIONS: Final[dict[str, tuple[str, ...]]] = {
    "q": ("query", "attention_gate", "query_down", "query_up", "index_query", "index_share"),
    "k": ("key_proj", "kv_down", "key_place", "key_up", "index_key"),
    "v": ("value", "value_up"),
    "o": ("attention_out",),
    "gate": ("mlp_gate", "shared_gate"),
    "up": ("mlp_up", "shared_up"),
    "down": ("mlp_down", "shared_down"),
    "experts": ("expert_up", "expert_gate", "expert_down"),
    "state": (
        *("state_in", "state_gate", "state_input", "state_output", "step", "step_down", "step_up", "state_out"),
        *("state_query", "state_key", "state_value", "state_write", "state_decay"),
    ),
}
_GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "all": tuple(_PROJECTIONS),
    "attention": ("q", "k", "v", "o"),
    "mlp": ("gate", "up", "down", "experts"),
}
TARGETS: Final[tuple[str, ...]] = (*_GROUPS, *_PROJECTIONS)
"""Projections that may have an adapter, one by one or several by one word; `all` leaves router and output head out."""
_ONE_MODULE: Final[dict[str, str]] = {
    "key_place": "kv_down",
    "value_up": "key_up",
    "attention_gate": "query",
    "state_gate": "state_in",
    "state_input": "step_down",
    "state_output": "step_down",
}
"""Operations of one linear module, whose adapter has one thin matrix at its input for all of them."""

FROZEN_PARTS: Final[dict[str, tuple[str, ...]]] = {
    "embedding": (),
    "head": (),
    "attention": ("attention", "state space"),
    "mlp": ("feed-forward",),
    "experts": ("experts",),
    "router": ("routing",),
    "norms": ("norms, residuals",),
}
"""What may be frozen → parts of operations inside layers whose weights that are; two are blocks of their own."""
BASES: Final[tuple[str, ...]] = ("bf16", "fp8", "int8", "nf4", "nf4-single")
"""Element types that frozen matrices may be kept in; narrow ones are unpacked to 16 bits before each product."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """How a model is tuned: adapters beside frozen weights, or some of its weights alone."""

    rank: int = number(NO_RANK, 0)
    """Of adapters (LoRA: Hu et al., arXiv:2106.09685), with which all other weights are frozen; 0: none."""
    targets: tuple[str, ...] = ("all",)
    """Projections with an adapter, by the words of `TARGETS`."""
    base: str = "bf16"
    """Element type that frozen matrices of layers are kept in; embedding, head and norms stay in 16 bits."""
    frozen: tuple[str, ...] = ()
    """Parts that are frozen without an adapter, by the words of `FROZEN_PARTS`."""
    frozen_layers: int = number(NO_LAYERS, 0)
    """Layers at the start that are frozen, and have no adapters."""

    def __post_init__(self) -> None:
        check_fields(self, "tuning")
        for kind, words, known in (
            ("LoRA target", self.targets, TARGETS),
            ("part to freeze", self.frozen, FROZEN_PARTS),
            ("element type of frozen weights", (self.base,), BASES),
        ):
            for word in words:
                if word not in known:
                    raise UnknownNameError.among(kind, word, known)
        if self.rank and not self.targets:
            raise DescriptionError("LoRA needs a target; name one or several, like all or q,v")
        if self.base != "bf16" and not (self.rank or self.frozen or self.frozen_layers):
            raise DescriptionError(
                f"frozen weights are to be kept in {self.base}, but nothing is frozen; "
                "give a LoRA rank or parts to freeze"
            )

    @property
    def does_nothing(self) -> bool:
        """Whether all weights are trained as usual."""
        return not (self.rank or self.frozen or self.frozen_layers)

    @property
    def adapted(self) -> frozenset[str]:
        """Operations that have an adapter."""
        words = [word for target in self.targets for word in _GROUPS.get(target, (target,))]
        return frozenset(name for word in words for name in _PROJECTIONS[word]) if self.rank else frozenset()


def tuned(workload: Workload, tuning: Tuning) -> Workload:
    """The forward pass with frozen weights and adapters; itself, where a tuning changes nothing."""
    if tuning.does_nothing:
        return workload
    _check_there(workload, tuning)
    layers = workload.layer_order
    if tuning.frozen_layers > len(layers):
        raise DescriptionError(
            f"{tuning.frozen_layers} layers are to be frozen, but {workload.name} has {len(layers)}; freeze fewer"
        )
    if tuning.frozen_layers:
        workload = _split_off(workload, tuning.frozen_layers)
    found = replace(
        workload,
        sizes={**workload.sizes, RANK_DIM: float(tuning.rank)} if tuning.rank else workload.sizes,
        blocks=tuple(_tuned_block(block, tuning) for block in _ends_frozen(workload, tuning)),
    )
    if not any(block.trainable() for block in found.blocks):
        what = f"none of its operations is among {', '.join(tuning.targets)}" if tuning.rank else "all of it is frozen"
        raise DescriptionError(f"{workload.name} has nothing left to train: {what}")
    return found


_FROZEN_SUFFIX = ", frozen"


def _check_there(workload: Workload, tuning: Tuning) -> None:
    """Refuse words for what a model does not have, and models that are tuned or differentiated already."""
    operations = [op for block in workload.blocks for op in block.operations]
    if workload.is_tuned or any(op.phase is not Phase.FORWARD for op in operations):
        raise DescriptionError(
            f"{workload.name} has frozen weights or a backward pass already; tune its plain forward pass"
        )
    names = {op.name for op in operations}
    for word in tuning.targets if tuning.rank else ():
        if word in _PROJECTIONS and not names.intersection(_PROJECTIONS[word]):
            there = [known for known, own in _PROJECTIONS.items() if names.intersection(own)]
            raise DescriptionError(
                f"{workload.name} has no projection {word!r} to put an adapter beside; it has {', '.join(there)}"
            )
    for word in tuning.frozen:
        if FROZEN_PARTS[word] and not any(op.part in FROZEN_PARTS[word] for op in operations):
            raise DescriptionError(f"{workload.name} has no {word} to freeze; leave it away")


def _split_off(workload: Workload, count: int) -> Workload:
    """The first layers as blocks of their own."""
    layers = {block.name for block in workload.blocks if block.is_layer}
    runs: list[tuple[str, int]] = []
    for name, repeat in workload.runs:
        ahead = min(repeat, count) if name in layers else 0
        count -= ahead
        runs += [(f"{name}{_FROZEN_SUFFIX}", ahead)] if ahead else []
        runs += [(name, repeat - ahead)] if repeat > ahead else []
    blocks: list[Block] = []
    for block in workload.blocks:
        for name in (f"{block.name}{_FROZEN_SUFFIX}", block.name):
            repeat = sum(times for run, times in runs if run == name)
            if repeat:
                blocks.append(replace(block, name=name, repeat=repeat))
    return replace(workload, blocks=tuple(blocks), runs=tuple(runs))


def _ends_frozen(workload: Workload, tuning: Tuning) -> Iterable[Block]:
    """Blocks; those ahead of the layers and behind them frozen where they are named, with what is tied to them."""
    layers = [place for place, (name, _) in enumerate(workload.runs) if workload.block(name).is_layer]
    first, last = (layers[0], layers[-1]) if layers else (len(workload.runs), -1)
    named = {name for name, _ in workload.runs[:first] if "embedding" in tuning.frozen}
    named |= {name for name, _ in workload.runs[last + 1 :] if "head" in tuning.frozen}
    tied = {
        (block.name, tensor.name): tuple(tensor.tied_to.split(".", 1))
        for block in workload.blocks
        for tensor in block.weights()
        if tensor.tied_to
    }
    pairs = [(one, other) for one, other in tied.items() if one[0] in named or other[0] in named]
    frozen = {end for pair in pairs for end in pair}
    for block in workload.blocks:
        yield replace(
            block,
            tensors=tuple(
                replace(tensor, frozen=True)
                if tensor.role is Role.WEIGHT and (block.name in named or (block.name, tensor.name) in frozen)
                else tensor
                for tensor in block.tensors
            ),
        )


def _tuned_block(block: Block, tuning: Tuning) -> Block:
    whole = bool(tuning.rank) or block.name.endswith(_FROZEN_SUFFIX)
    parts = {part for word in tuning.frozen for part in FROZEN_PARTS[word]} if block.is_layer else set()
    of_parts = {name for op in block.operations if op.part in parts for name in op.inputs}
    matrices = (
        {op.inputs[1] for op in block.operations if isinstance(op.kind, Contraction)} if block.is_layer else set()
    )
    stored = "" if tuning.base == "bf16" else tuning.base
    tensors: list[Tensor] = []
    for tensor in block.tensors:
        freeze = tensor.role is Role.WEIGHT and (tensor.frozen or whole or tensor.name in of_parts)
        kept = stored if freeze and tensor.name in matrices else ""
        tensors.append(replace(tensor, frozen=True, stored=kept) if freeze else tensor)
    changed = replace(block, tensors=tuple(tensors))
    return changed if block.name.endswith(_FROZEN_SUFFIX) else _with_adapters(changed, tuning.adapted)


def _with_adapters(block: Block, adapted: frozenset[str]) -> Block:
    """Two thin products beside each adapted one, and their sum: ``y = x W + (x A) B``."""
    known = block.tensor_of
    tensors = list(block.tensors)
    operations: list[Operation] = []
    inner_of: dict[tuple[str, str], str] = {}
    for op in block.operations:
        if op.name not in adapted or not _has_weight(op, known):
            operations.append(op)
            continue
        (result,) = op.outputs
        base, added = f"{op.name}_base", f"{op.name}_adapter"
        taken, weight = op.kind.signature.inputs
        (given,) = op.kind.signature.outputs
        shared = [dim for dim in weight if dim in taken and dim in given]
        summed = [dim for dim in weight if dim in taken and dim not in given]
        fresh = [dim for dim in weight if dim not in taken]
        like = known[result]
        key = (_ONE_MODULE.get(op.name, op.name), op.inputs[0])
        if key not in inner_of:
            inner_of[key] = f"{key[0]}_adapter_in"
            first = (*shared, *summed, RANK_DIM)
            inner = (*(dim for dim in taken if dim not in summed), RANK_DIM)
            tensors += [_thin(f"{inner_of[key]}_weight", first, like), _made(inner_of[key], inner, like)]
            operations.append(
                _beside(op, inner_of[key], Signature((taken, first), (inner,)), f"{inner_of[key]}_weight")
            )
        inner = (*(dim for dim in taken if dim not in summed), RANK_DIM)
        second = (*shared, RANK_DIM, *fresh)
        tensors += [
            _thin(f"{added}_weight", second, like),
            replace(like, name=base),
            replace(like, name=added),
        ]
        operations += [
            replace(op, outputs=(base,)),
            replace(
                _beside(op, added, Signature((inner, second), (given,)), f"{added}_weight"),
                inputs=(inner_of[key], f"{added}_weight"),
            ),
            replace(
                op,
                name=f"{op.name}_adapter_sum",
                kind=Pointwise(Signature((given, given), (given,)), is_sum=True),
                inputs=(base, added),
                outputs=(result,),
            ),
        ]
    return replace(block, tensors=tuple(tensors), operations=tuple(operations))


def _has_weight(op: Operation, known: Mapping[str, Tensor]) -> bool:
    return isinstance(op.kind, Contraction) and op.phase is Phase.FORWARD and known[op.inputs[1]].role is Role.WEIGHT


def _beside(op: Operation, name: str, signature: Signature, weight: str) -> Operation:
    return replace(op, name=name, kind=Contraction(signature), inputs=(op.inputs[0], weight), outputs=(name,))


def _thin(name: str, dims: Sequence[str], like: Tensor) -> Tensor:
    return Tensor(name=name, dims=tuple(dims), element=like.element, role=Role.WEIGHT)


def _made(name: str, dims: Sequence[str], like: Tensor) -> Tensor:
    return Tensor(name=name, dims=tuple(dims), element=like.element)
