"""What one repetition of a block becomes under a mapping: a program, and what it holds in memory."""

from dataclasses import dataclass

from volvelle.mapping.actions import Exchange, Kernel
from volvelle.mapping.program import Lifetime, Task
from volvelle.mapping.symbols import Term
from volvelle.workload.operations import Phase


@dataclass(frozen=True, slots=True, kw_only=True)
class LoweredBlock:
    """One repetition of a block as a program, its sizes in terms."""

    name: str
    repeat: int
    tasks: tuple[Task, ...]
    """Kernels, collectives and transfers in the order in which they run: forward, recomputed, backward."""
    lifetimes: tuple[Lifetime, ...]
    """Activations and gradients in memory. Weights and data, which the step holds anyway, are not among them."""
    kernels: tuple[Kernel, ...]
    """Those of the tasks."""
    exchanges: tuple[Exchange, ...]
    """Those of the tasks."""
    saved: tuple[Term, ...]
    """Bytes kept for the backward pass."""
    saved_for_products: tuple[Term, ...]
    """Of these, what only products read again: kept in their type where that is narrower."""
    working: tuple[Term, ...]
    """Bytes that live again while one repetition is recomputed."""
    scored: tuple[Term, ...]
    """Logits that a loss is made of, counted."""
    weights: tuple[Term, ...]
    """Trainable parameters that all replicas hold."""
    expert_weights: tuple[Term, ...]
    """Trainable parameters that replicas share out among them."""
    tied: tuple[Term, ...]
    """Trainable parameters that are another block's, held again if that block is on another chip."""
    output_bytes: tuple[Term, ...]
    """Bytes handed to the next block."""
    split_dims: frozenset[str]
    """Dimensions that the tensor-parallel chips share."""
    is_layer: bool
    """Hands on what it takes."""
    copies: float
    """Experts that each token is sent to."""
    frozen: tuple[Term, ...] = ()
    """Parameters that training leaves as they are, of all kinds."""
    frozen_bytes: tuple[Term, ...] = ()
    """Bytes of those that all replicas hold, as they are kept."""
    frozen_expert_bytes: tuple[Term, ...] = ()
    """Bytes of those that replicas share out among them."""
    frozen_tied_bytes: tuple[Term, ...] = ()
    """Bytes of those that are another block's."""

    @property
    def trains(self) -> bool:
        """Whether it has a backward pass."""
        return any(kernel.phase is Phase.BACKWARD for kernel in self.kernels)
