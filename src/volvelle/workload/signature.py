"""Signatures: the one line from which everything about an operation is derived.

``"batch position hidden, hidden ffn -> batch position ffn"`` names the dimensions of each input and each
output. A dimension that is in no output is summed over.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

from volvelle.domains import check_fields
from volvelle.errors import GraphError


@dataclass(frozen=True)
class Signature:
    """Named dimensions of an operation's inputs and outputs."""

    inputs: tuple[tuple[str, ...], ...]
    outputs: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        check_fields(self, "signature", error=GraphError)

    @classmethod
    def parse(cls, text: str) -> "Signature":
        """Read ``"a b, b c -> a c"``."""
        left, arrow, right = text.partition("->")
        if not arrow:
            raise GraphError(f"the signature {text!r} has no '->': write it like 'm k, k n -> m n'")
        inputs, outputs = (tuple(tuple(part.split()) for part in side.split(",")) for side in (left, right))
        signature = cls(inputs, outputs)
        for dims in (*inputs, *outputs):
            if len(set(dims)) != len(dims):
                raise GraphError(f"the signature {text!r} names a dimension twice in one tensor: {' '.join(dims)}")
        unknown = set(signature.output_dims) - {dim for dims in inputs for dim in dims}
        if unknown:
            raise GraphError(f"the signature {text!r} has {', '.join(sorted(unknown))} in an output but in no input")
        return signature

    @cached_property
    def dims(self) -> tuple[str, ...]:
        """Every dimension, in order of first appearance."""
        return tuple(dict.fromkeys(dim for dims in (*self.inputs, *self.outputs) for dim in dims))

    @cached_property
    def output_dims(self) -> tuple[str, ...]:
        """Every dimension of an output."""
        return tuple(dict.fromkeys(dim for dims in self.outputs for dim in dims))

    @cached_property
    def summed(self) -> tuple[str, ...]:
        """The dimensions in no output: those summed over."""
        return tuple(dim for dim in self.dims if dim not in self.output_dims)

    @cached_property
    def shared(self) -> tuple[str, ...]:
        """The dimensions in every input and output: one independent instance for each of their points."""
        return tuple(dim for dim in self.dims if all(dim in dims for dims in (*self.inputs, *self.outputs)))

    def points(self, sizes: Mapping[str, float]) -> float:
        """How many index combinations there are."""
        return prod(sizes[dim] for dim in self.dims)

    def __str__(self) -> str:
        left, right = (", ".join(" ".join(dims) for dims in side) for side in (self.inputs, self.outputs))
        return f"{left} -> {right}"
