"""Reads measured HPCG runs: those that ship with the package, or a file of one's own."""

from dataclasses import dataclass
from pathlib import Path

from volvelle.applications.measured_table import MeasuredTable, RowHead, by_columns, read_table
from volvelle.applications.table_cells import column

__all__ = ["HpcgMeasurement", "hpcg_measurements"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HpcgMeasurement:
    """One HPCG run, as its source states it."""

    head: RowHead
    system: str
    date: str
    """Year and month, such as 2022-06 or 202206; the year alone where no month is stated."""
    device: str = column("unit_type")
    """Kind of accelerator or processor."""
    devices: int | None = column("n_units")
    nodes: int | None
    ranks_per_node: int | None = column("ranks_per_node", "units")
    memory_rate: float | None = column("mem_bw_gbs_per_unit", scale=1e9)
    """Peak of one device, bytes per second."""
    memory_rate_basis: str = column("mem_bw_basis")
    rate: float | None = column("hpcg_tflops", scale=1e12)
    """FLOP per second of the whole run."""


def hpcg_measurements(file: Path | None = None) -> MeasuredTable[HpcgMeasurement]:
    """All rows: those of the package, or those of one file (``.csv``, or ``.csv.gz``)."""
    return read_table(
        "hpcg",
        by_columns(HpcgMeasurement),
        needed=("row_id", "unit_type", "n_units", "mem_bw_gbs_per_unit"),
        measured=("hpcg_tflops",),
        file=file,
    )
