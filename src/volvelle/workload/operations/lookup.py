"""Lookup: rows of a table chosen by index — embeddings."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import final

from volvelle.errors import GraphError
from volvelle.workload.operations.base import AbstractKind, Gradients, Operation, Unit, Work, gradients_of_kernel
from volvelle.workload.signature import Signature


@final
@dataclass(frozen=True)
class Lookup(AbstractKind):
    """``"batch position, vocab hidden -> batch position hidden"``: one table row for each index.

    No arithmetic. It touches as many table rows as there are indices, not the whole table. Splitting the
    rows over chips leaves partial results (zero where a chip does not hold the row).
    """

    signature: Signature
    scatter: bool = False
    """The backward direction: add rows into the table's gradient."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.signature.inputs) != 2 or len(self.signature.outputs) != 1:
            raise GraphError(f"a lookup takes indices and a table and gives rows, not '{self.signature}'")

    def work(self) -> Work:
        """Nothing but one addition a point when scattering."""
        dims = self.signature.inputs[1] if self.scatter else self.signature.outputs[0]
        return Work(Unit.VECTOR, 1.0 if self.scatter else 0.0, dims)

    def whole(self) -> frozenset[str]:
        """Nothing."""
        return frozenset()

    def sums(self) -> bool:
        """No: indices are not numbers to be summed."""
        return False

    def gradients(self, op: Operation, wanted: Sequence[bool]) -> Gradients:
        """Add each output row's gradient into the row it came from."""
        read = ((self.signature.inputs[0], op.inputs[0]), (self.signature.outputs[0], f"{op.outputs[0]}.grad"))
        return gradients_of_kernel(op, (False, wanted[1]), read, partial(Lookup, scatter=True))
