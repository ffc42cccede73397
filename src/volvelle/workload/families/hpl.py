"""High-Performance Linpack: the chain of updates of a blocked LU factorisation.

As DFModel draws it (arXiv:2412.16432): step i updates what is left of the matrix, N − i·B on a side, by a panel of B
columns, which it hands to step i + 1. The factorisation of the panel itself and the triangular solves, of lower order
in N, are left out.
"""

from dataclasses import dataclass

from volvelle.errors import DescriptionError
from volvelle.workload.builder import BlockBuilder
from volvelle.workload.graph import Workload
from volvelle.workload.operations import Factorisation
from volvelle.workload.signature import Signature


@dataclass(frozen=True, slots=True, kw_only=True)
class Hpl:
    """Sizes of a factorisation."""

    name: str
    order: int
    """Rows of the matrix, N."""
    block: int
    """Columns of a panel, B (or NB)."""
    steps: int | None = None
    """How many of the N/B updates; None: all. DFModel has the first 64."""
    element: str = "fp64"

    def __post_init__(self) -> None:
        if not 1 <= self.block <= self.order:
            raise DescriptionError(
                f"factorisation {self.name!r}: a panel of {self.block} columns does not fit a matrix of {self.order}"
            )
        if self.steps is not None and not 1 <= self.steps <= self.all_steps:
            raise DescriptionError(
                f"factorisation {self.name!r}: {self.steps} steps of {self.block} columns in a matrix of {self.order}; "
                f"there are 1 to {self.all_steps}"
            )

    @property
    def all_steps(self) -> int:
        """Whole panels in the matrix."""
        return self.order // self.block

    @property
    def sides(self) -> tuple[int, ...]:
        """Rows that are left at each step."""
        return tuple(self.order - step * self.block for step in range(self.steps or self.all_steps))


def hpl(shape: Hpl) -> Workload:
    """The updates one after another, as one block."""
    b = BlockBuilder("updates", element=shape.element)
    sizes: dict[str, float] = {"panel": shape.block}
    before, panel = "column_0", b.data("first_panel", "column_0 panel", element=shape.element)
    for step, side in enumerate(shape.sides):
        row, column = f"row_{step}", f"column_{step}"
        sizes |= {row: side, column: side}
        trailing = b.data(f"trailing_{step}", f"{row} {column}", element=shape.element)
        signature = Signature(((row, column), (before, "panel")), ((row, "panel"),))
        panel = b.add(f"update_{step}", Factorisation(signature), (trailing, panel))
        before = row
    return Workload(name=shape.name, sizes=sizes, blocks=(b.build(outputs=(panel,)),))
