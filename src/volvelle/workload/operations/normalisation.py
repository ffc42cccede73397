"""Normalisation along one dimension: layer norm, RMS norm, softmax, cross-entropy."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from volvelle.workload.operations.base import AbstractKind, Gradients, Operation, Phase, Unit, Work
from volvelle.workload.signature import Signature

__all__ = ["Normalisation"]


@final
@dataclass(frozen=True)
class Normalisation(AbstractKind):
    """Each row along one dimension scaled by a statistic of that row; more inputs are scale and shift.

    The dimension it runs along is needed whole, unless `statistics_reduced` says that its statistics are
    summed between chips (as the cross-entropy over a split vocabulary does: its output is then partial).
    """

    signature: Signature
    along: str
    flops: float = 5.0
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
        targets = [index for index, want in enumerate(wanted) if want]
        if not targets:
            return Gradients()
        read = op.outputs[0] if self.saves_output else op.inputs[0]
        scale = 1 if len(op.inputs) > 1 else None
        extra = () if scale is None else (self.signature.inputs[scale],)
        outputs = tuple(op.gradient_name(index) for index in targets)
        backward = Operation(
            name=f"{op.name}.backward",
            kind=Normalisation(
                Signature(
                    (self.signature.inputs[0], self.signature.outputs[0], *extra),
                    tuple(self.signature.inputs[index] for index in targets),
                ),
                along=self.along,
                flops=2 * self.flops,
                statistics_reduced=self.statistics_reduced,
            ),
            inputs=(read, f"{op.outputs[0]}.grad", *(() if scale is None else (op.inputs[scale],))),
            outputs=outputs,
            phase=Phase.BACKWARD,
            of=op.name,
            part=op.part,
            region=op.region,
            fused=op.fused,
        )
        return Gradients((backward,), dict(zip(targets, outputs, strict=True)))
