"""Reads measured Fourier transforms: those that ship with the package, or a file of one's own."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log2
from pathlib import Path

from volvelle.applications.measured_table import MeasuredTable, RowHead, read_table
from volvelle.applications.table_cells import number, whole

__all__ = ["FftMeasurement", "fft_measurements"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FftMeasurement:
    """One timed transform, or one timed transposition, as its source states it."""

    head: RowHead
    library: str
    system: str
    accelerator: str
    chips: int | None
    chips_per_node: int | None
    transport: str
    """How data travel: nccl, host-staged or cuda-aware-mpi; empty where not stated."""
    shape: tuple[int, int, int] | None
    points: float | None
    """Of the whole grid, where its sides are not stated."""
    transform: str
    precision: str
    decomposition: str
    seconds: float | None
    """One transform, forward or backward."""
    rounded: bool
    """Whether the time was computed from a printed rate."""


def fft_measurements(file: Path | None = None) -> MeasuredTable[FftMeasurement]:
    """All rows: those of the package, or those of one file (``.csv``, or ``.csv.gz``)."""
    return read_table(
        "fft",
        _measurement,
        needed=("row_id", "accel", "n_accel", "nx", "ny", "nz", "transform", "precision"),
        measured=("time_s_per_transform", "tflops"),
        file=file,
    )


def _measurement(head: RowHead, row: Mapping[str, str]) -> FftMeasurement:
    sides = tuple(whole(row, f"n{axis}") for axis in "xyz")
    shape = (sides[0], sides[1], sides[2]) if sides[0] and sides[1] and sides[2] else None
    points = float(shape[0] * shape[1] * shape[2]) if shape else number(row, "points")
    seconds, speed = number(row, "time_s_per_transform"), number(row, "tflops")
    from_rate = seconds is None and speed is not None and points is not None
    if seconds is None and speed is not None and points is not None:
        seconds = 5.0 * points * log2(points) / (speed * 1e12)
    return FftMeasurement(
        head=head,
        library=row.get("library", ""),
        system=row.get("system", ""),
        accelerator=row["accel"],
        chips=whole(row, "n_accel"),
        chips_per_node=whole(row, "accel_per_node"),
        transport=row.get("transport", ""),
        shape=shape,
        points=points,
        transform=row["transform"],
        precision=row["precision"],
        decomposition=row.get("decomposition", ""),
        seconds=seconds,
        rounded=from_rate,
    )
