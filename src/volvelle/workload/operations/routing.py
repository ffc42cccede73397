"""Routing: tokens to experts and back — mixture of experts."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import final

from volvelle.domains import POINT_WORK, number
from volvelle.workload.operations.base import (
    AbstractKind,
    Gradients,
    Operation,
    SplitChoice,
    Unit,
    Work,
    gradients_of_kernel,
)
from volvelle.workload.signature import Signature
from volvelle.workload.tensor_layout import PARTIAL, REPLICATED, TensorLayout, split


@final
@dataclass(frozen=True)
class Routing(AbstractKind):
    """Rows moved to where a router sends them: ``"batch position hidden -> batch experts slots hidden"``.

    A row's place along one dimension becomes a place along another (`carries`: position ↔ slots), so splitting one
    splits the other. Further inputs are weights of the rows (``batch position choices``). No arithmetic but the
    weighting; each row that is sent is read and written once.
    """

    signature: Signature
    carries: tuple[str, str] = ("position", "slots")
    """A dimension before and the dimension after into which it is dealt out."""
    flops: float = number(POINT_WORK, 0.0)
    """FLOP for every point of the larger side."""

    def work(self) -> Work:
        """The weighting, on the vector units."""
        sides = (self.signature.inputs[0], self.signature.outputs[0])
        return Work(Unit.VECTOR, self.flops, max(sides, key=len))

    def whole(self) -> frozenset[str]:
        """Which expert a row goes to is not known before, so experts cannot be split here."""
        return frozenset(dim for dim in self.signature.dims if dim not in self._able())

    def _able(self) -> set[str]:
        return (set(self.signature.inputs[0]) & set(self.signature.outputs[0])) | set(self.carries)

    def sums(self) -> bool:
        """Moving rows is linear, but weights are not."""
        return False

    def choices(self) -> tuple[SplitChoice, ...]:
        """Split a dimension that both sides have, or one that is carried into the other."""
        found = []
        for dim in self.signature.dims:
            if dim not in self._able() or dim == self.carries[1]:
                continue
            also = self.carries[1] if dim == self.carries[0] else dim

            def laid(dims: tuple[str, ...], otherwise: TensorLayout, dim: str = dim, also: str = also) -> TensorLayout:
                return split(dim) if dim in dims else split(also) if also in dims else otherwise

            found.append(
                SplitChoice(
                    dim,
                    tuple(laid(dims, REPLICATED) for dims in self.signature.inputs),
                    tuple(laid(dims, PARTIAL) for dims in self.signature.outputs),
                )
            )
        whole = (REPLICATED,) * len(self.signature.inputs), (REPLICATED,) * len(self.signature.outputs)
        return (*found, SplitChoice(None, *whole))

    def gradients(self, op: Operation, wanted: Sequence[bool]) -> Gradients:
        """Gradients go back the way the rows came; weights get theirs from rows and gradients."""
        read = [(self.signature.outputs[0], f"{op.outputs[0]}.grad")]
        if len(op.inputs) > 1:
            read += zip(self.signature.inputs, op.inputs, strict=True)
        return gradients_of_kernel(op, wanted, read, partial(Routing, carries=self.carries, flops=self.flops))
