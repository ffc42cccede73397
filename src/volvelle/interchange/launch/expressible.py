"""What all emitters ask of a layout before they write it down."""

from dataclasses import dataclass
from typing import Final

from volvelle.errors import MappingError
from volvelle.mapping.axes import CONTEXT, DATA, EXPERT, PIPELINE, TENSOR
from volvelle.mapping.parallelism import Graphs, ParallelMapping, Recompute
from volvelle.workload.families.shape import Transformer
from volvelle.workload.training import TrainingStep

MIXED_STATE: Final = 12.0
"""Bytes a parameter of fp32 weights, momentum and variance: what every framework keeps under mixed precision."""


@dataclass(frozen=True, slots=True)
class Framework:
    """A training framework, and what it asks of a layout before it can be written down."""

    name: str
    second_copies: bool = False
    """Whether near replicas may keep the weights a second time."""
    alternates: bool = False
    """Whether it may keep what attention and every second product make."""

    def cannot(self, what: str, instead: str) -> MappingError:
        """What to raise where it has no setting for a part of a layout."""
        return MappingError(f"{self.name} cannot express {what}; {instead}")

    def plainly_routed(self, mapping: ParallelMapping) -> None:
        """Refuse ways to route tokens and share sequences that only Megatron-LM has settings for."""
        if mapping.hierarchical_dispatch:
            raise self.cannot("tokens that cross to a node once", "turn hierarchical_dispatch off, or use Megatron-LM")
        if mapping.expert_overlap:
            raise self.cannot("tokens that travel behind computation", "turn expert_overlap off, or use Megatron-LM")
        if mapping.ulysses and mapping.context > 1:
            raise self.cannot("positions swapped for heads", "turn ulysses off, or use Megatron-LM")

    def check_axes(self, mapping: ParallelMapping) -> None:
        """Refuse axes and settings that no writer of launch files knows."""
        if mapping.graphs is not Graphs.NONE:
            raise self.cannot("recorded graphs by options that last", "set graphs to none, and switch them on by hand")
        if mapping.recompute is Recompute.LIGHT:
            raise self.cannot("light recomputation by options that last", "set recompute to none, selective or full")
        if mapping.recompute is Recompute.ALTERNATE and not self.alternates:
            raise self.cannot(
                "recomputation of all but every second product", "set recompute to none, selective or full"
            )
        if mapping.narrow_attention:
            raise self.cannot("attention in a narrow type by options that last", "turn narrow_attention off")
        if mapping.zero_secondary and not self.second_copies:
            raise self.cannot("a second copy of the weights", "set zero_secondary to 0, or use DeepSpeed")
        for axis, degree in mapping.shown:
            if axis not in (TENSOR, PIPELINE, DATA, CONTEXT, EXPERT):
                raise self.cannot(f"{axis.name} parallelism of {degree}", f"set {axis.name} to 1")

    def accumulation(self, step: TrainingStep, mapping: ParallelMapping) -> int:
        """Micro-batches a replica works on in one step."""
        replicas, size = mapping.data, mapping.micro_batch
        at_once = replicas * size
        if step.batch % at_once:
            raise self.cannot(
                f"a global batch of {step.batch} over {replicas} replicas in micro-batches of {size}",
                f"make it a multiple of {at_once}",
            )
        return step.batch // at_once

    def hybrid_groups(self, mapping: ParallelMapping) -> int:
        """Groups of ranks that each hold a whole copy between them: 1 where ZeRO shares out among all."""
        copies = mapping.data * mapping.context
        if mapping.zero == 0 or mapping.zero_group in (0, copies):
            return 1
        if mapping.zero_group > copies or copies % mapping.zero_group:
            raise self.cannot(
                f"sharding over {mapping.zero_group} of {copies} replicas",
                f"shard over a divisor of {copies}, or over all (0)",
            )
        return copies // mapping.zero_group

    def check_trains_all(self, step: TrainingStep) -> None:
        """Refuse adapters, frozen weights and packed documents, which its settings do not know."""
        if step.model.is_tuned:
            what = "LoRA" if step.tuning is not None and step.tuning.rank else "frozen weights"
            raise self.cannot(what, "leave that to a training script with PEFT: --emit fsdp writes its settings")
        if is_packed(step):
            raise self.cannot("packed documents that see only themselves", "leave --lengths away, or use --emit fsdp")

    def check_adam(self, step: TrainingStep) -> None:
        """Refuse other optimisers, and a size of state that its Adam does not have."""
        if step.optimiser != "adam":
            raise self.cannot(f"the optimizer {step.optimiser}", "its settings are written for Adam")
        self.check_optimiser_state(step)

    def check_optimiser_state(self, step: TrainingStep) -> None:
        """Refuse a size of optimiser state that its Adam does not have."""
        expected = (8.0, MIXED_STATE) if step.element == "fp32" else (MIXED_STATE,)
        if step.optimiser_state not in expected:
            raise self.cannot(
                f"an optimiser state of {step.optimiser_state:g} bytes a parameter",
                f"its Adam keeps {MIXED_STATE:g} (fp32 weights, momentum and variance)",
            )

    def check_fully_sharded(self, mapping: ParallelMapping) -> None:
        """Refuse what FSDP, under whichever trainer, always does, or never."""
        if mapping.data > 1 and not mapping.overlap:
            raise self.cannot("gradients exchanged only after the backward pass", "set overlap")
        if mapping.recompute is Recompute.FULL and mapping.recompute_every != 1:
            raise self.cannot(f"kept inputs every {mapping.recompute_every} layers", "set recompute_every to 1")
        if mapping.offload_activations:
            raise self.cannot("activations in host memory", "recompute them")
        if mapping.offload_weights is not mapping.offload_optimiser:
            raise self.cannot(
                f"only {' and '.join(mapping.offloaded)} in host memory",
                "it off-loads weights, gradients and optimiser state together",
            )

    def replica_groups(self, mapping: ParallelMapping) -> int:
        """Groups of replicas that each hold a whole copy between them."""
        groups = self.hybrid_groups(mapping)
        if mapping.data % groups:
            raise self.cannot(
                f"sharding over {mapping.zero_group} ranks where {mapping.context} split each sequence",
                "shard over a multiple of context",
            )
        return groups


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


def is_packed(step: TrainingStep) -> bool:
    """Whether documents are packed into its sequences, each seeing only itself."""
    sizes = step.model.sizes
    return "key" in sizes and sizes["key"] != sizes.get("position")


def sequence_length(shape: Transformer, step: TrainingStep) -> int:
    """Positions in the sequences of this step, which may be fewer than the model was made for."""
    return int(step.model.sizes.get("position", shape.sequence))


def recomputes_core(mapping: ParallelMapping) -> bool:
    """Whether the attention core has to be told to run again: a fused one does so by itself, in its own kernel."""
    return mapping.recompute is Recompute.SELECTIVE and not mapping.fused_attention
