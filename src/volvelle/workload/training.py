"""A training step: what is computed between two updates of the weights."""

from dataclasses import dataclass
from enum import Enum

from volvelle.domains import EXPERT_LOAD, NO_SHARE, NO_SIZE, SEQUENCES, STATE_BYTES, STATE_WORK, check_fields, number
from volvelle.quantities import Bytes
from volvelle.spread import Evidence, Figure, Interval
from volvelle.workload.elements import element_bytes
from volvelle.workload.graph import Workload
from volvelle.workload.operations import Phase
from volvelle.workload.transforms import with_backward
from volvelle.workload.tuning import Tuning


class Counting(Enum):
    """By which rules the kernels, bytes and exchanges of a step are counted."""

    DERIVED = "derived"
    """What the declarations of operations imply, all of it."""
    COMET = "comet"
    """As Tables 1 and 2 of COMET have it, for comparing with that paper."""


RESERVED = Figure(
    value=1.5 * 2**30,
    evidence=Evidence.ASSUMED,
    source="Hugging Face, Model training anatomy: 1 to 2 GB of kernels; libraries of collectives keep buffers beside",
    spread=Interval(1.0e9, 2.5e9),
)
"""Memory that drivers, kernels and communication libraries keep, unless a step states it."""
FRAGMENTATION = Figure(
    value=0.05,
    evidence=Evidence.ASSUMED,
    source="an assumption: allocators lose from 2 to 10 %",
    spread=Interval(0.02, 0.10),
)
"""Memory lost between tensors over what activations take, unless a step states it."""
BUSIEST_EXPERT = Figure(
    value=1.0,
    evidence=Evidence.ASSUMED,
    source="an assumption: the busiest expert of a router kept in balance has up to a fifth more than the mean",
    spread=Interval(1.0, 1.2),
)
"""Tokens on the busiest expert's chip over the even share, unless a step states it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingStep:
    """One optimiser step of a model over a global batch of sequences."""

    model: Workload
    """Forward pass; its backward pass is derived, unless it has one. Micro-batches cut its dimension ``batch``; where
    it has none, each micro-batch is one run of it."""
    batch: int = number(SEQUENCES)
    """Sequences in the global batch, or runs of a model without a dimension ``batch``."""
    element: str = "bf16"
    """Element type of matrix products."""
    weight_element: str = "bf16"
    """Element type weights are kept, gathered and read in."""
    gradient_element: str = "fp32"
    """Element type gradients are accumulated and exchanged in."""
    optimiser_state: Bytes = number(STATE_BYTES, 12.0)
    """Bytes a trainable parameter: fp32 weights, momentum and variance for mixed-precision Adam."""
    master: Bytes = number(STATE_BYTES, 4.0)
    """Of them those of weights in a wider type; none where weights are kept in their own alone."""
    optimiser_work: float = number(STATE_WORK, 0.0)
    """FLOP of products a trainable parameter in the optimiser's step: some turn matrices (Muon)."""
    optimiser: str = "adam"
    """Its name, as commands know it."""
    tuning: Tuning | None = None
    """What of the model is trained, for people and launch files; the model itself has it in its graph already."""

    backward: bool = True
    """False: the forward pass alone, without gradients and optimiser."""
    expert_load: float = number(EXPERT_LOAD, BUSIEST_EXPERT.value)
    """Tokens on the busiest expert's chip over the even share: routing out of balance, or a capacity padded to."""
    counting: Counting = Counting.DERIVED
    split_heads: bool = False
    """Tensor parallelism may cut through heads and other units that it splits; else its degree has to divide them."""
    reserved: Bytes = number(NO_SIZE, RESERVED.value)
    """Memory that drivers, kernels and communication libraries keep."""
    fragmentation: float = number(NO_SHARE, FRAGMENTATION.value)
    """Memory lost between tensors over what activations take."""

    def __post_init__(self) -> None:
        check_fields(self, "training step")
        element_bytes(self.element)
        element_bytes(self.gradient_element)
        element_bytes(self.weight_element)

    @property
    def flops(self) -> float:
        """FLOP of all matrix products, forward and backward, recomputation not counted."""
        whole = self.whole
        if "batch" in whole.sizes:
            whole = whole.with_sizes(batch=1)
        return self.batch * (whole.flops(phase=Phase.FORWARD) + whole.flops(phase=Phase.BACKWARD))

    @property
    def whole(self) -> Workload:
        """The model with its backward pass: its own, or derived; or without, if the step is a forward pass alone."""
        own = any(op.phase is Phase.BACKWARD for block in self.model.blocks for op in block.operations)
        return with_backward(self.model) if self.backward and not own else self.model

    @property
    def tokens(self) -> int:
        """Tokens in the global batch, where the model has positions."""
        return self.batch * int(self.model.sizes.get("position", 1))
