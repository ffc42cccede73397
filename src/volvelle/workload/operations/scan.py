"""Scan: a recurrence along one dimension — state-space models, recurrent networks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from volvelle.errors import GraphError
from volvelle.workload.operations.base import AbstractKind, Gradients, Operation, Phase, Unit, Work
from volvelle.workload.signature import Signature

__all__ = ["Scan"]


@final
@dataclass(frozen=True)
class Scan(AbstractKind):
    """Each place along one dimension from the place before it.

    ``h[t] = a[t]·h[t-1] + b[t]·x[t]`` and ``y[t] = c[t]·h[t]``, say.
    ``"batch t inner, inner state, batch t state -> batch t inner"``: a dimension in no output (``state``) is summed
    over. The state stays on the chip; only the named tensors are read and written.
    """

    signature: Signature
    along: str
    flops: float = 2.0
    """FLOP for every point of all dimensions: a multiplication and an addition, if nothing else is said."""
    unit: Unit = Unit.VECTOR
    """The matrix units where it is done in chunks, as products."""

    def __post_init__(self) -> None:
        if self.along not in self.signature.dims:
            raise GraphError(f"the scan '{self.signature}' runs along {self.along!r}, which is none of its dimensions")

    def work(self) -> Work:
        """`flops` a point."""
        return Work(self.unit, self.flops, self.signature.dims)

    def whole(self) -> frozenset[str]:
        """The dimension it runs along."""
        return frozenset({self.along})

    def sums(self) -> bool:
        """No: its factors are inputs too."""
        return False

    def gradients(self, op: Operation, wanted: Sequence[bool]) -> Gradients:
        """One scan the other way, which makes the states again and writes every wanted gradient.

        Done as products it counts like those, twice the forward work: what products make again is counted nowhere.
        """
        targets = [index for index, want in enumerate(wanted) if want]
        if not targets:
            return Gradients()
        outputs = tuple(op.gradient_name(index) for index in targets)
        backward = Operation(
            name=f"{op.name}.backward",
            kind=Scan(
                Signature(
                    (self.signature.outputs[0], *self.signature.inputs),
                    tuple(self.signature.inputs[index] for index in targets),
                ),
                along=self.along,
                flops=self.flops * (2 if self.unit is Unit.MATRIX else 3),
                unit=self.unit,
            ),
            inputs=(f"{op.outputs[0]}.grad", *op.inputs),
            outputs=outputs,
            phase=Phase.BACKWARD,
            of=op.name,
            part=op.part,
            region=op.region,
            fused=op.fused,
        )
        return Gradients((backward,), dict(zip(targets, outputs, strict=True)))
