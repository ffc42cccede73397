"""Pointwise operations: activations, residual sums, biases, masks, rotations."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import final

from volvelle.domains import POINT_WORK, number
from volvelle.workload.operations.base import AbstractKind, Gradients, Operation, Unit, Work, gradients_of_kernel
from volvelle.workload.signature import Signature


@final
@dataclass(frozen=True)
class Pointwise(AbstractKind):
    """Each point of the output from the same point of the inputs; a smaller input is repeated.

    The gradient of an input is a pointwise operation on the output's gradient and the `saves` tensors,
    summed over the dimensions the input lacks.
    """

    signature: Signature
    flops: float = number(POINT_WORK, 1.0)
    """FLOP for every point."""
    saves: tuple[int, ...] = ()
    """Which tensors its gradient reads: input numbers, or with ~n output numbers."""
    is_sum: bool = False
    """A plain sum of its inputs: gradients pass unchanged, partial sums stay partial sums."""
    over: tuple[str, ...] = ()
    """The dimensions whose points it works on, where tensors are laid side by side; empty: all it names."""

    def work(self) -> Work:
        """`flops` a point, on the vector units."""
        return Work(Unit.VECTOR, self.flops, self.over or self.signature.dims)

    def whole(self) -> frozenset[str]:
        """Nothing: every point stands alone."""
        return frozenset()

    def sums(self) -> bool:
        """Only a plain sum of equal shapes keeps partial sums partial."""
        return self.is_sum and self._even()

    def _even(self) -> bool:
        return all(dims == self.signature.outputs[0] for dims in self.signature.inputs)

    def gradients(self, op: Operation, wanted: Sequence[bool]) -> Gradients:
        """One backward kernel for all inputs; none at all for a sum of equal shapes."""
        gradient = f"{op.outputs[0]}.grad"
        if self.sums():
            return Gradients((), {index: gradient for index, want in enumerate(wanted) if want})
        sources = self.signature.inputs, self.signature.outputs
        names = op.inputs, op.outputs
        saved = [(sources[n < 0][n if n >= 0 else ~n], names[n < 0][n if n >= 0 else ~n]) for n in self.saves]
        read = ((self.signature.outputs[0], gradient), *saved)
        return gradients_of_kernel(op, wanted, read, partial(Pointwise, flops=self.flops, over=self.over))
