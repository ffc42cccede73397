"""Chips and their memories."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from volvelle.errors import OutsideDomainError
from volvelle.quantities import Bytes, BytesPerSecond, Count, Dollars, FlopPerSecond, Fraction, Seconds, Watts
from volvelle.spread import Figure

__all__ = ["Chip", "Memory"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One tier of memory, as the chip that owns it sees it."""

    name: str
    capacity: Bytes
    rate: BytesPerSecond


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """An accelerator: what it computes at most, what it holds, and how near to its peaks it gets."""

    name: str
    matrix_rates: Mapping[str, FlopPerSecond]
    """Dense peak of the matrix units by element type."""
    vector_rates: Mapping[str, FlopPerSecond]
    """Peak of the ordinary units by element type."""
    buffer: Bytes
    """On-chip memory that all its units share."""
    memories: tuple[Memory, ...]
    """Off-chip tiers, fastest first."""
    matrix_efficiency: Fraction = 1.0
    """Sustained fraction of the dense peak on large matrix products."""
    memory_efficiency: Fraction = 1.0
    """Sustained fraction of the peak rate of memory."""
    dataflow: bool = False
    """Kernels stay on the chip side by side and stream tiles to each other; else they run one after another."""
    units: Count | None = None
    """Units that each work on one tile of a matrix product; None: products are not cut into tiles of fixed size."""
    tile: Count = 8192.0
    """Elements of such a tile."""
    gemm_k_half: Count = 0.0
    """Inner steps of a product that starting and writing a tile is worth."""
    kernel_launch_time: Seconds = 0.0
    """Time a kernel takes beyond its work: starting and ending on all units."""
    host_dispatch_time: Seconds = 0.0
    """Time the host takes to prepare a kernel, while the chip works on those before it."""
    communication_sm_share: Fraction = 0.0
    """Share of its units that communication takes while it runs beside computation."""
    attention_efficiency: Fraction = 1.0
    """Rate of a fused attention kernel over that of large matrix products."""
    attention_kv_half: Count = 0.0
    """Keys that starting and ending a query tile of such a kernel is worth."""
    step_error: float | None = None
    """How far whole steps on such chips were off in calibration, one standard deviation as a factor; None: unknown."""
    power: Watts | None = None
    price: Dollars | None = None
    figures: Mapping[str, Figure] = field(default_factory=dict)
    """How sure we are of the fields above, by name: spread, evidence, source."""

    @property
    def memory(self) -> Memory:
        """The fastest tier."""
        return self.memories[0]

    @property
    def capacity(self) -> Bytes:
        """Bytes in the two fastest tiers: local memory, and expansion memory if there is any."""
        return self.memory.capacity + self.memories[1].capacity if len(self.memories) > 1 else self.memory.capacity

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
