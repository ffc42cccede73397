"""Normalisation along one dimension: layer norm, RMS norm, softmax, cross-entropy."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import final

from volvelle.domains import POINT_WORK, number
from volvelle.workload.operations.base import AbstractKind, Gradients, Operation, Unit, Work, gradients_of_kernel
from volvelle.workload.signature import Signature


@final
@dataclass(frozen=True)
class Normalisation(AbstractKind):
    """Each row along one dimension scaled by a statistic of that row; more inputs are scale and shift.

    The dimension it runs along is needed whole, unless `statistics_reduced` says that its statistics are
    summed between chips (as the cross-entropy over a split vocabulary does: its output is then partial).
    """

    signature: Signature
    along: str
    flops: float = number(POINT_WORK, 5.0)
    """FLOP for every point of the first input."""
    saves_output: bool = False
    """Its gradient reads the output (softmax) rather than the input (layer norm)."""
    statistics_reduced: bool = False

    def work(self) -> Work:
        """`flops` a point, on the vector units."""
        return Work(Unit.VECTOR, self.flops, self.signature.dims)

    def whole(self) -> frozenset[str]:
        """The dimension it runs along."""
        return frozenset() if self.statistics_reduced else frozenset({self.along})

    def sums(self) -> bool:
        """No: scaling by a statistic is not linear."""
        return False

    def gradients(self, op: Operation, wanted: Sequence[bool]) -> Gradients:
        """One backward kernel that reads the saved tensor and writes every wanted gradient."""
        ends = self.signature
        kept = op.outputs[0] if self.saves_output else op.inputs[0]
        read = [(ends.inputs[0], kept), (ends.outputs[0], f"{op.outputs[0]}.grad")]
        read += [(ends.inputs[1], op.inputs[1])] if len(op.inputs) > 1 else []
        made = partial(
            Normalisation, along=self.along, flops=2 * self.flops, statistics_reduced=self.statistics_reduced
        )
        return gradients_of_kernel(op, wanted, read, made)


def is_loss(op: Operation) -> bool:
    """Whether it makes one number of each row of logits."""
    return isinstance(op.kind, Normalisation) and op.kind.statistics_reduced
