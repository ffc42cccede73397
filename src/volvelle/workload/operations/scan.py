"""Scan: a recurrence along one dimension — state-space models, recurrent networks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

from volvelle.domains import POINT_WORK, number
from volvelle.errors import GraphError
from volvelle.workload.operations.base import AbstractKind, Gradients, Operation, Unit, Work, gradients_of_kernel
from volvelle.workload.signature import Signature


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
    flops: float = number(POINT_WORK, 2.0)
    """FLOP for every point of all dimensions: a multiplication and an addition, if nothing else is said."""
    unit: Unit = Unit.VECTOR
    """The matrix units where it is done in chunks, as products."""

    def __post_init__(self) -> None:
        super().__post_init__()
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
        gradient = (self.signature.outputs[0], f"{op.outputs[0]}.grad")
        read = (gradient, *zip(self.signature.inputs, op.inputs, strict=True))
        flops = self.flops * (2 if self.unit is Unit.MATRIX else 3)
        return gradients_of_kernel(op, wanted, read, lambda ends: replace(self, signature=ends, flops=flops))
