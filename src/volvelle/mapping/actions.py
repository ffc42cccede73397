"""What a chip does with a block: kernels of its own, collectives over the chips of an axis, transfers to a stage."""

from collections.abc import Hashable
from dataclasses import dataclass

from volvelle.mapping.axes import Axis
from volvelle.mapping.symbols import ONE, Term
from volvelle.workload.operations import Phase
from volvelle.workload.tensor_layout import Collective


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """Something that runs on one chip: arithmetic and memory traffic."""

    name: str
    part: str
    phase: Phase
    matrix_work: Term | None
    vector_work: Term | None
    product: tuple[Term, Term, Term] | None = None
    """Operands and result of one instance of a matrix product, whose traffic depends on the buffer."""
    instances: Term = ONE
    traffic: tuple[Term, ...] = ()
    """Bytes moved, where they do not depend on the buffer."""
    rows: Term = ONE
    """Rows, columns and depth of one instance of a matrix product."""
    columns: Term = ONE
    depth: Term = ONE
    of_weight: bool = False
    """Makes a weight's gradient, which nothing waits for before the step's end."""
    only_weights: bool = False
    """Makes nothing else, so that nothing of the backward pass waits for it; a norm's makes its input's beside."""
    attention_core: bool = False
    """Belongs to a region between projections, behind which context exchanges hide."""
    keep_16bit: bool = False
    """Stays in 16 bits where other products are narrower: attention cores, and blocks that do not repeat."""
    unpacks: bool = False
    """Makes a 16-bit copy of a weight that is kept in fewer: its traffic is the weight as kept, then the copy."""

    @property
    def work(self) -> Hashable:
        """What its time depends on beside `keep_16bit`: kernels of equal work take equal time."""
        product = None if self.product is None else (*sorted(self.product[:2]), self.product[2])
        sides = (*sorted((self.rows, self.columns)), self.depth)
        fused = self.attention_core and self.product is None
        return self.matrix_work, self.vector_work, product, sides, self.instances, self.traffic, fused


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A collective over the chips of one axis."""

    axis: Axis
    collective: Collective
    size: Term
    phase: Phase
    repeated_in_backward: bool
    """Repeated in the backward pass, behind the weight gradients."""
    per_step: bool
    """Once a step, not once a micro-batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """Activations, or their gradients, sent to the neighbouring stage where the block is the last of its own."""

    size: Term
    phase: Phase


Action = Kernel | Exchange | Transfer
"""What a task does: on the chip, over the chips of an axis, or to another stage."""
