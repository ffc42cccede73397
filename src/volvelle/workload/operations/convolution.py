"""Convolution: a window of weights slid over a signal, an image or a volume."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import final

from volvelle.errors import GraphError
from volvelle.workload.operations.base import AbstractKind, Gradients, Operation, Unit, Work
from volvelle.workload.operations.contraction import gradients_of_product
from volvelle.workload.signature import Signature


@final
@dataclass(frozen=True)
class Convolution(AbstractKind):
    """``"batch y x in, ky kx in out -> batch y x out"``: at every place, a product with what the window covers.

    2 FLOP for every point of all dimensions, the window's among them. The result is as large as the signal: borders
    are padded. A window that moves by its own size covers nothing twice, so it needs no convolution: split the
    dimension in two and contract (``"batch y ky in, ky in out -> batch y out"``), and the same backwards to enlarge.
    """

    signature: Signature
    along: tuple[str, ...]
    """Dimensions the window slides over. They are kept whole: parts would need each other's borders."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.signature.inputs) != 2 or len(self.signature.outputs) != 1:
            raise GraphError(f"a convolution takes a signal and a window and gives one tensor, not '{self.signature}'")
        stray = [dim for dim in self.along if dim not in self.signature.dims]
        if stray or not self.along:
            raise GraphError(
                f"the convolution '{self.signature}' slides along {', '.join(self.along) or 'nothing'}; "
                "name dimensions of its signal"
            )

    def work(self) -> Work:
        """Two operations a point, on the matrix units."""
        return Work(Unit.MATRIX, 2.0, self.signature.dims)

    def whole(self) -> frozenset[str]:
        """What the window slides over."""
        return frozenset(self.along)

    def sums(self) -> bool:
        """No: partial × partial is not a summand of the product."""
        return False

    def gradients(self, op: Operation, wanted: Sequence[bool]) -> Gradients:
        """The signal's: the window slid over the result's gradient. The window's: signal times gradient."""
        return gradients_of_product(op, self.signature, wanted, partial(Convolution, along=self.along))
