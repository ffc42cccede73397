"""Reads measured Fourier transforms: those that ship with the package, or a file of one's own."""

from dataclasses import dataclass
from math import log2
from pathlib import Path

from volvelle.applications.measured_table import MeasuredTable, RowHead, by_columns, read_table
from volvelle.applications.table_cells import column

__all__ = ["FftMeasurement", "fft_measurements"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FftMeasurement:
    """One timed transform, or one timed transposition, as its source states it."""

    head: RowHead
    library: str
    system: str
    accelerator: str = column("accel")
    chips: int | None = column("n_accel")
    chips_per_node: int | None = column("accel_per_node")
    transport: str
    """How data travel: nccl, host-staged or cuda-aware-mpi; empty where not stated."""
    nx: int | None
    ny: int | None
    nz: int | None
    stated_points: float | None = column("points")
    """Of the whole grid, where its sides are not stated."""
    transform: str
    precision: str
    decomposition: str
    stated_seconds: float | None = column("time_s_per_transform")
    rate: float | None = column("tflops", scale=1e12)

    @property
    def shape(self) -> tuple[int, int, int] | None:
        """Sides of the grid, where all are stated."""
        return (self.nx, self.ny, self.nz) if self.nx and self.ny and self.nz else None

    @property
    def points(self) -> float | None:
        """Of the whole grid."""
        return float(self.shape[0] * self.shape[1] * self.shape[2]) if self.shape else self.stated_points

    @property
    def rounded(self) -> bool:
        """Whether the time was computed from a printed rate."""
        return self.stated_seconds is None and self.seconds is not None

    @property
    def seconds(self) -> float | None:
        """One transform, forward or backward."""
        if self.stated_seconds is not None or self.rate is None or self.points is None:
            return self.stated_seconds
        return 5.0 * self.points * log2(self.points) / self.rate


def fft_measurements(file: Path | None = None) -> MeasuredTable[FftMeasurement]:
    """All rows: those of the package, or those of one file (``.csv``, or ``.csv.gz``)."""
    return read_table(
        "fft",
        by_columns(FftMeasurement),
        needed=("row_id", "accel", "n_accel", "nx", "ny", "nz", "transform", "precision"),
        measured=("time_s_per_transform", "tflops"),
        file=file,
    )
