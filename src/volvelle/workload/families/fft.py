"""Large Fourier transforms: a length L as a square of side √L, transformed along rows, then along columns.

The six-step algorithm of Bailey ("FFTs in External or Hierarchical Memory", 1990) without its twiddle factors, as
DFModel draws it (arXiv:2412.16432): two kernels, with an all-to-all between them when the square is spread over chips,
because each transform needs its own dimension whole. The all-to-all is not written here; it follows from the split.
"""

from dataclasses import dataclass
from math import isqrt, log, log2

from volvelle.errors import DescriptionError
from volvelle.workload.builder import BlockBuilder
from volvelle.workload.graph import Workload
from volvelle.workload.operations import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Fft:
    """Sizes of a transform."""

    name: str
    length: int
    radix: int | None = None
    """Done as products with dense transforms of this size, on matrix units; None: butterflies on vector units."""
    element: str = "fp32"

    def __post_init__(self) -> None:
        if self.length < 4:
            raise DescriptionError(f"transform {self.name!r} has length {self.length}; it needs a square of at least 2")
        if self.radix is not None and self.radix < 2:
            raise DescriptionError(f"transform {self.name!r}: a dense transform of size {self.radix} does nothing")

    @property
    def side(self) -> int:
        """Rows and columns of the square, √L rounded down."""
        return isqrt(self.length)

    @property
    def depth(self) -> int:
        """Multiplications for each point, where the transform is done as products: 4·r·log_r √L."""
        if self.radix is None:
            raise DescriptionError(f"transform {self.name!r} is not done as products; give it a radix")
        # A hair above, so that log₃₂ 2²⁰ is 4 and not a rounding below it.
        return int(4 * self.radix * log(self.side, self.radix) * (1 + 1e-12))

    @property
    def flops_per_point(self) -> float:
        """FLOP of one kernel for each point."""
        return 5 * log2(self.side) if self.radix is None else 2.0 * self.depth


def fft(shape: Fft) -> Workload:
    """The two transforms."""
    b = BlockBuilder("transforms", element=shape.element)
    x = b.input("signal", "row column")
    unit = Unit.VECTOR if shape.radix is None else Unit.MATRIX
    for along in ("row", "column"):
        x = b.transform(f"along_{along}s", "row column", x, along=along, flops=shape.flops_per_point, unit=unit)
    sizes = {"row": shape.side, "column": shape.side}
    return Workload(name=shape.name, sizes=sizes, blocks=(b.build(outputs=(x,)),))
