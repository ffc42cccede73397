"""Contraction: products summed over dimensions — matrix multiplication in any number of dimensions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import final

from volvelle.errors import GraphError
from volvelle.workload.operations.base import AbstractKind, Gradients, Operation, Phase, Unit, Work
from volvelle.workload.signature import Signature


@final
@dataclass(frozen=True)
class Contraction(AbstractKind):
    """Products of two tensors, summed over the dimensions in no output.

    2 FLOP (a multiplication and an addition) for every point. Linear in each input, so any dimension may be
    split: a summed one leaves partial sums.
    """

    signature: Signature
    window: str = ""
    """A dimension along which each point meets only so many neighbours: the tensor itself may be longer there, as
    keys are where attention is local."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.signature.inputs) != 2 or len(self.signature.outputs) != 1:
            raise GraphError(f"a contraction takes two tensors and gives one, not '{self.signature}'")
        first, second = self.signature.inputs
        (result,) = self.signature.outputs
        lonely = (set(first) ^ set(second)) - set(result)
        if lonely:
            raise GraphError(
                f"the contraction '{self.signature}' sums {', '.join(sorted(lonely))} over one input alone; "
                "sum it with a Pointwise operation first"
            )
        if self.window and self.window not in self.signature.dims:
            raise GraphError(f"the contraction '{self.signature}' has no dimension {self.window!r} for its window")

    def work(self) -> Work:
        """Two operations a point, on the matrix units."""
        return Work(Unit.MATRIX, 2.0, self.signature.dims)

    def whole(self) -> frozenset[str]:
        """Nothing, as a contraction is linear in everything; but a window slides, so it has no parts."""
        return self.windows()

    def windows(self) -> frozenset[str]:
        """The window, if it has one."""
        return frozenset({self.window}) if self.window else frozenset()

    def sums(self) -> bool:
        """No: partial × partial is not a summand of the product."""
        return False

    def gradients(self, op: Operation, wanted: Sequence[bool]) -> Gradients:
        """For C = A·B: dA = dC·B and dB = A·dC, each again a contraction."""
        return gradients_of_product(op, self.signature, wanted, partial(Contraction, window=self.window))


def gradients_of_product(
    op: Operation, signature: Signature, wanted: Sequence[bool], made: Callable[[Signature], AbstractKind]
) -> Gradients:
    """Of an operation linear in each of two inputs: for each wanted one, the result's gradient with the other."""
    (result,) = signature.outputs
    operations = []
    carried = {}
    for index, want in enumerate(wanted):
        if not want:
            continue
        other = 1 - index
        name = op.gradient_name(index)
        operations.append(
            Operation(
                name=name,
                kind=made(Signature((result, signature.inputs[other]), (signature.inputs[index],))),
                inputs=(f"{op.outputs[0]}.grad", op.inputs[other]),
                outputs=(name,),
                phase=Phase.BACKWARD,
                of=op.name,
                part=op.part,
                region=op.region,
            )
        )
        carried[index] = name
    return Gradients(tuple(operations), carried)
