"""Chips and their memories."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from volvelle.domains import BYTE_RATE, FLOP_RATE, NO_SIZE, POWER, PRICE, SIZE, UNITS, check_fields, number
from volvelle.errors import OutsideDomainError
from volvelle.presentable import folded
from volvelle.quantities import (
    BYTES,
    BYTES_PER_SECOND,
    FLOP_PER_SECOND,
    WATTS,
    Bytes,
    BytesPerSecond,
    Count,
    Dollars,
    FlopPerSecond,
    Watts,
    brief_quantity,
)
from volvelle.spread import AS_SET, Evidence, Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One tier of memory, as the chip that owns it sees it."""

    name: str
    capacity: Bytes = number(NO_SIZE)
    """0: there is none after all; the first tier has some."""
    rate: BytesPerSecond = number(BYTE_RATE)

    def __post_init__(self) -> None:
        check_fields(self, f"memory {self.name!r}")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Chip:
    """An accelerator: what it computes at most and what it holds. How near to that it gets, calibrations say."""

    name: str
    family: str = ""
    """Chips of one design, by which constants fitted on one stand for another."""
    matrix_rates: Mapping[str, FlopPerSecond] = number(FLOP_RATE)
    """Dense peak of the matrix units by element type."""
    vector_rates: Mapping[str, FlopPerSecond] = number(FLOP_RATE)
    """Peak of the ordinary units by element type."""
    buffer: Bytes = number(SIZE)
    """On-chip memory that all its units share."""
    memories: tuple[Memory, ...]
    """Off-chip tiers, fastest first."""
    dataflow: bool = False
    """Kernels stay on the chip side by side and stream tiles to each other; else they run one after another."""
    units: Count | None = number(UNITS, None)
    """Streaming multiprocessors, compute units or Xe cores, over which a GPU schedules tiles and blocks.

    None: the chip has none that compare to these, or nobody stated their number. A TPU core, for example, draws the
    whole memory rate alone.
    """
    tile: Count | None = number(UNITS, None)
    """Elements of a tile of a matrix product, fitted to training runs. None: training steps, DLRM and HPL on the chip
    are timed without partly filled waves, as their constants were fitted."""
    power: Watts | None = number(POWER, None)
    price: Dollars | None = number(PRICE, None)
    figures: Mapping[str, Figure] = field(default_factory=dict)
    """How sure we are of the fields above, by name: spread, evidence, source."""

    def __post_init__(self) -> None:
        check_fields(self, f"chip {self.name!r}")
        first = self.memories[0].capacity if self.memories else None
        if isinstance(first, int | float):
            SIZE.check(first, f"chip {self.name!r}: the capacity of {self.memory.name!r}")

    def __repr__(self) -> str:
        rates = ", ".join(f"{brief_quantity(rate, FLOP_PER_SECOND)} {name}" for name, rate in self.matrix_rates.items())
        held = f"{brief_quantity(self.capacity, BYTES)} at {brief_quantity(self.memory.rate, BYTES_PER_SECOND)}"
        power = "" if self.power is None else f"; {brief_quantity(self.power, WATTS)}"
        return folded(f"Chip({self.name!r}: {rates}; {held}{power})")

    @property
    def memory(self) -> Memory:
        """The fastest tier."""
        return self.memories[0]

    @property
    def capacity(self) -> Bytes:
        """Bytes in the two fastest tiers: local memory, and expansion memory if there is any."""
        return self.memory.capacity + self.memories[1].capacity if len(self.memories) > 1 else self.memory.capacity

    def priced(self, price: Dollars) -> "Chip":
        """Return the chip at a price that the user gives."""
        stated = Figure(value=float(price), evidence=Evidence.ASSUMED, source=AS_SET)
        return replace(self, price=price, figures={**self.figures, "price": stated})

    def matrix_rate(self, element: str) -> FlopPerSecond:
        """Dense peak for an element type; bf16 and fp16 stand for each other, fp32 may stand in for tf32."""
        for name in (element, *_STAND_INS.get(element, ())):
            if name in self.matrix_rates:
                return self.matrix_rates[name]
        raise OutsideDomainError(
            f"chip {self.name!r} has no dense matrix rate for {element}; it has "
            f"{', '.join(sorted(self.matrix_rates)) or 'none at all'}"
        )

    def vector_rate(self) -> FlopPerSecond:
        """Peak of the ordinary units in fp32, in which norms, activations and sums are computed."""
        for name in ("fp32", "fp64"):
            if name in self.vector_rates:
                return self.vector_rates[name]
        raise OutsideDomainError(f"chip {self.name!r} states no vector rate in fp32 or fp64; add one to its entry")


_STAND_INS = {"bf16": ("fp16",), "fp16": ("bf16",), "tf32": ("fp32",)}
