"""What all emitters ask of a layout before they write it down."""

from typing import Final

from volvelle.errors import MappingError
from volvelle.mapping.axes import CONTEXT, DATA, EXPERT, PIPELINE, TENSOR
from volvelle.mapping.parallelism import ParallelMapping, Recompute
from volvelle.workload.families.shape import Transformer
from volvelle.workload.training import TrainingStep

MIXED_STATE: Final = 12.0
"""Bytes a parameter of fp32 weights, momentum and variance: what every framework keeps under mixed precision."""


def refusal(framework: str, what: str, instead: str) -> MappingError:
    """What to raise where a framework has no setting for a part of a layout."""
    return MappingError(f"{framework} cannot express {what}; {instead}")


def plainly_routed(framework: str, mapping: ParallelMapping) -> None:
    """Refuse ways to route tokens and share sequences that only Megatron-LM has settings for."""
    if mapping.hierarchical_dispatch:
        raise refusal(
            framework, "tokens that cross to a node once", "turn hierarchical_dispatch off, or use Megatron-LM"
        )
    if mapping.ulysses and mapping.context > 1:
        raise refusal(framework, "positions swapped for heads", "turn ulysses off, or use Megatron-LM")


def check_axes(framework: str, mapping: ParallelMapping) -> None:
    """Refuse axes that no writer of launch files knows."""
    for axis, degree in mapping.shown:
        if axis not in (TENSOR, PIPELINE, DATA, CONTEXT, EXPERT):
            raise refusal(framework, f"{axis.name} parallelism of {degree}", f"set {axis.name} to 1")


def one_line(name: str) -> str:
    """A model's name as it may stand in a comment: a line break in it would end the comment and start a command."""
    return " ".join(name.split())


def check_model(shape: Transformer, step: TrainingStep) -> None:
    """The step must be one of this model: a launch file of another would run, and be wrong."""
    sizes = step.model.sizes
    for size, expected in (("hidden", shape.hidden), ("vocab", shape.vocabulary), ("kv_heads", shape.kv_heads)):
        if sizes.get(size) != expected:
            raise MappingError(
                f"the training step is of {step.model.name!r} with {size} {sizes.get(size)!r}, the shape is "
                f"{shape.name!r} with {expected}; give the step of transformer(shape)"
            )


def sequence_length(shape: Transformer, step: TrainingStep) -> int:
    """Positions in the sequences of this step, which may be fewer than the model was made for."""
    return int(step.model.sizes.get("position", shape.sequence))


def accumulation(framework: str, step: TrainingStep, mapping: ParallelMapping) -> int:
    """Micro-batches a replica works on in one step."""
    at_once = mapping.data * mapping.micro_batch
    if step.batch % at_once:
        raise refusal(
            framework,
            f"a global batch of {step.batch} over {mapping.data} replicas in micro-batches of {mapping.micro_batch}",
            f"make it a multiple of {at_once}",
        )
    return step.batch // at_once


def hybrid_groups(framework: str, mapping: ParallelMapping) -> int:
    """Groups of ranks that each hold a whole copy between them: 1 where ZeRO shares out among all."""
    copies = mapping.data * mapping.context
    if mapping.zero == 0 or mapping.zero_group in (0, copies):
        return 1
    if mapping.zero_group > copies or copies % mapping.zero_group:
        raise refusal(
            framework,
            f"sharding over {mapping.zero_group} of {copies} replicas",
            f"shard over a divisor of {copies}, or over all (0)",
        )
    return copies // mapping.zero_group


def check_optimiser_state(framework: str, step: TrainingStep) -> None:
    """Refuse a size of optimiser state that the framework's Adam does not have."""
    expected = (8.0, MIXED_STATE) if step.element == "fp32" else (MIXED_STATE,)
    if step.optimiser_state not in expected:
        raise refusal(
            framework,
            f"an optimiser state of {step.optimiser_state:g} bytes a parameter",
            f"its Adam keeps {MIXED_STATE:g} (fp32 weights, momentum and variance)",
        )


def recomputes_core(mapping: ParallelMapping) -> bool:
    """Whether the attention core has to be told to run again: a fused one does so by itself, in its own kernel."""
    return mapping.recompute is Recompute.SELECTIVE and not mapping.fused_attention


def check_fully_sharded(framework: str, mapping: ParallelMapping) -> None:
    """Refuse what FSDP, under whichever trainer, always does, or never."""
    if mapping.data > 1 and not mapping.overlap:
        raise refusal(framework, "gradients exchanged only after the backward pass", "set overlap")
    if mapping.recompute is Recompute.FULL and mapping.recompute_every != 1:
        raise refusal(framework, f"kept inputs every {mapping.recompute_every} layers", "set recompute_every to 1")
    if mapping.offload_activations:
        raise refusal(framework, "activations in host memory", "recompute them")
    if mapping.offload_weights is not mapping.offload_optimiser:
        raise refusal(
            framework,
            f"only {' and '.join(mapping.offloaded)} in host memory",
            "it off-loads weights, gradients and optimiser state together",
        )


def replica_groups(framework: str, mapping: ParallelMapping) -> int:
    """Groups of replicas that each hold a whole copy between them."""
    groups = hybrid_groups(framework, mapping)
    if mapping.data % groups:
        raise refusal(
            framework,
            f"sharding over {mapping.zero_group} ranks where {mapping.context} split each sequence",
            "shard over a multiple of context",
        )
    return groups
