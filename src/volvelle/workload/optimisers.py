"""Optimisers: what each keeps of a parameter from step to step, declared by name."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Final

from volvelle.errors import UnknownNameError
from volvelle.workload.graph import Workload
from volvelle.workload.operations import Contraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimiser:
    """What an optimiser keeps beside the weights, and whether it works on whole matrices."""

    name: str
    moments: int = 0
    """Numbers kept of every parameter, in a type that can be chosen."""
    narrow_moments: int = 0
    """Numbers kept of every parameter in 8 bits, with a scale for every block of them."""
    factored_moments: int = 0
    """Numbers kept of every row and every column of a matrix; of a vector, one of every parameter."""
    orthogonalises: bool = False
    """Turns the update of a layer's matrices into an orthogonal one; the other weights go by Adam."""


OPTIMISERS: Final[dict[str, Optimiser]] = {
    one.name: one
    for one in (
        Optimiser(name="adam", moments=2),
        Optimiser(name="adam-8bit", narrow_moments=2),
        Optimiser(name="adafactor", factored_moments=1),
        Optimiser(name="lion", moments=1),
        Optimiser(name="sgd"),
        Optimiser(name="sgd-momentum", moments=1),
        Optimiser(name="muon", moments=1, orthogonalises=True),
    )
}
MASTERS: Final[tuple[str, ...]] = ("fp32", "bf16", "none")
"""Element types of the copy of the weights that is updated; none: the weights themselves are."""


def optimiser(name: str) -> Optimiser:
    """The optimiser of that name."""
    if name not in OPTIMISERS:
        raise UnknownNameError.among("optimizer", name, OPTIMISERS)
    return OPTIMISERS[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightShape:
    """A trainable weight as an optimiser sees it."""

    rows: float
    columns: float
    """1 for a vector."""
    count: float
    """How many there are of it in the model: of every layer, and of every expert."""
    in_layer: bool
    """In a layer, not in the embedding or the output head."""

    @property
    def parameters(self) -> float:
        """In all of them."""
        return self.rows * self.columns * self.count

    @property
    def is_matrix(self) -> bool:
        """Whether it has both rows and columns."""
        return min(self.rows, self.columns) > 1


def trainable_shapes(workload: Workload) -> Iterator[WeightShape]:
    """Every trainable weight of a model, each counted once."""
    for block in workload.blocks:
        shared: dict[str, tuple[set[str], set[str]]] = {}
        for op in block.operations:
            if isinstance(op.kind, Contraction):
                taken, weight = op.kind.signature.inputs
                (given,) = op.kind.signature.outputs
                summed = {dim for dim in weight if dim in taken and dim not in given}
                shared.setdefault(op.inputs[1], (summed, {dim for dim in weight if dim in taken and dim in given}))
        for tensor in block.trainable():
            if tensor.tied_to:
                continue
            first = set(tensor.dims[:1]) if len(tensor.dims) > 1 else set(tensor.dims)
            inward, side_by_side = shared.get(tensor.name, (first, set()))
            sizes = workload.sizes
            yield WeightShape(
                rows=prod(sizes[dim] for dim in tensor.dims if dim in inward),
                columns=prod(sizes[dim] for dim in tensor.dims if dim not in inward and dim not in side_by_side),
                count=block.repeat * prod(sizes[dim] for dim in tensor.dims if dim in side_by_side),
                in_layer=block.is_layer,
            )
