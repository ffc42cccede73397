"""Fourier: fast Fourier transforms along one dimension."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from volvelle.domains import POINT_WORK, number
from volvelle.errors import GraphError
from volvelle.workload.operations.base import AbstractKind, Gradients, Operation, Unit, Work, gradients_of_kernel
from volvelle.workload.signature import Signature


@final
@dataclass(frozen=True)
class Fourier(AbstractKind):
    """``"row column -> row column"`` along ``row``: every column transformed, in place.

    The dimension it runs along is needed whole, so transforming along one dimension after another means that the
    data change hands in between: split columns → split rows is an all-to-all, which is derived.
    """

    signature: Signature
    along: str
    flops: float = number(POINT_WORK)
    """FLOP for every point: 5·log₂ n for a transform of length n by the usual count."""
    unit: Unit = Unit.VECTOR
    """Matrix, where the transform is done as products with small dense transforms."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.signature.inputs) != 1 or self.signature.inputs != self.signature.outputs:
            raise GraphError(f"a Fourier transform takes one tensor and gives one like it, not '{self.signature}'")
        if self.along not in self.signature.dims:
            raise GraphError(
                f"the transform '{self.signature}' runs along {self.along!r}, which is none of its dimensions"
            )

    def work(self) -> Work:
        """`flops` a point."""
        return Work(self.unit, self.flops, self.signature.dims)

    def whole(self) -> frozenset[str]:
        """The dimension it runs along."""
        return frozenset({self.along})

    def sums(self) -> bool:
        """Yes: it is linear."""
        return True

    def gradients(self, op: Operation, wanted: Sequence[bool]) -> Gradients:
        """The transform back, of the gradient; nothing else is read."""
        read = ((self.signature.outputs[0], f"{op.outputs[0]}.grad"),)
        return gradients_of_kernel(op, wanted, read, lambda _: self)
