"""Reads measured HPCG runs: those that ship with the package, or a file of one's own."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from volvelle.applications.measured_table import MeasuredTable, RowHead, read_table
from volvelle.applications.table_cells import number, whole

__all__ = ["HpcgMeasurement", "hpcg_measurements"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HpcgMeasurement:
    """One HPCG run, as its source states it."""

    head: RowHead
    system: str
    date: str
    """Year and month, such as 202206; the year alone where no month is stated."""
    device: str
    """Kind of accelerator or processor."""
    devices: int | None
    nodes: int | None
    ranks_per_node: int | None
    memory_rate: float | None
    """Peak of one device, bytes per second."""
    memory_rate_basis: str
    local_grid: tuple[int, int, int] | None
    rate: float | None
    """FLOP per second of the whole run."""


def hpcg_measurements(file: Path | None = None) -> MeasuredTable[HpcgMeasurement]:
    """All rows: those of the package, or those of one file (``.csv``, or ``.csv.gz``)."""
    return read_table(
        "hpcg",
        _measurement,
        needed=("row_id", "unit_type", "n_units", "mem_bw_gbs_per_unit"),
        measured=("hpcg_tflops",),
        file=file,
    )


def _measurement(head: RowHead, row: Mapping[str, str]) -> HpcgMeasurement:
    grid = tuple(whole(row, f"local_n{axis}") for axis in "xyz")
    speed, memory_rate = number(row, "hpcg_tflops"), number(row, "mem_bw_gbs_per_unit")
    return HpcgMeasurement(
        head=head,
        system=row.get("system", ""),
        date=row.get("date", "").replace("-", ""),
        device=row["unit_type"],
        devices=whole(row, "n_units"),
        nodes=whole(row, "nodes"),
        ranks_per_node=whole(row, "ranks_per_node") or whole(row, "units"),
        memory_rate=None if memory_rate is None else memory_rate * 1e9,
        memory_rate_basis=row.get("mem_bw_basis", ""),
        local_grid=(grid[0], grid[1], grid[2]) if grid[0] and grid[1] and grid[2] else None,
        rate=None if speed is None else speed * 1e12,
    )
