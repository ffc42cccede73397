"""Factorisation: one step of a blocked LU factorisation — High-Performance Linpack."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from volvelle.errors import GraphError
from volvelle.workload.operations.base import AbstractKind, Gradients, Operation, SplitChoice, Unit, Work
from volvelle.workload.signature import Signature
from volvelle.workload.tensor_layout import PARTIAL, REPLICATED, split


@final
@dataclass(frozen=True)
class Factorisation(AbstractKind):
    """``"row column, before panel -> row panel"``: the trailing matrix updated by the panel before it.

    Below its pivot block the panel before has as many rows as the trailing matrix has columns; that part is read, so
    ``before`` may be longer than ``column``. 2 FLOP for every point of row × column × panel.
    """

    signature: Signature

    def __post_init__(self) -> None:
        super().__post_init__()
        shape = [len(dims) for dims in (*self.signature.inputs, *self.signature.outputs)]
        if len(self.signature.inputs) != 2 or shape != [2, 2, 2]:
            raise GraphError(
                f"a step of a factorisation is 'row column, before panel -> row panel', not '{self.signature}'"
            )

    def work(self) -> Work:
        """Two operations a point of the update, on the matrix units."""
        (trailing, panel) = self.signature.inputs
        return Work(Unit.MATRIX, 2.0, (*trailing, panel[1]))

    def whole(self) -> frozenset[str]:
        """Nothing: the update is linear in the matrix."""
        return frozenset()

    def sums(self) -> bool:
        """No: partial × partial is not a summand of the product."""
        return False

    def choices(self) -> tuple[SplitChoice, ...]:
        """Split rows, columns (which leaves partial sums and splits the panel before with them) or the panel."""
        (row, column), (before, panel) = self.signature.inputs
        return (
            SplitChoice(row, (split(row), REPLICATED), (split(row),)),
            SplitChoice(column, (split(column), split(before)), (PARTIAL,)),
            SplitChoice(panel, (REPLICATED, split(panel)), (split(panel),)),
            SplitChoice(None, (REPLICATED, REPLICATED), (REPLICATED,)),
        )

    def gradients(self, op: Operation, wanted: Sequence[bool]) -> Gradients:
        """Refused: nobody trains through a pivoted factorisation."""
        if any(wanted):
            raise GraphError(
                f"operation {op.name!r} is a step of a factorisation, which has no gradient here; declare its tensors "
                "as data, or leave the backward pass out"
            )
        return Gradients()
