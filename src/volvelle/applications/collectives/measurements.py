"""Reads measured collectives: those that ship with the package, or a file of one's own.

What every column means and where each row comes from is said in ``data/measurements/README.md``.
"""

from dataclasses import dataclass
from pathlib import Path

from volvelle.applications.measured_table import MeasuredTable, RowHead, by_columns, joined, read_table
from volvelle.applications.table_cells import column

__all__ = ["CollectiveMeasurement", "collective_measurements"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveMeasurement:
    """One timed collective, or one timed message between two chips."""

    head: RowHead
    operation: str = column("op")
    system: str
    accelerator: str
    chips: int | None
    nodes: int | None
    cluster: str
    """The catalogue's entry for the system; empty where there is none."""
    library: str
    algorithm: str
    """As the source says; empty where the library chose."""
    size: float | None = column("size_bytes", zero=True)
    """Bytes, by the convention of :mod:`volvelle.laws.collectives`; an empty message has a time."""
    time: float | None = column("time_us", scale=1e-6)
    """Seconds."""


def collective_measurements(file: Path | None = None) -> MeasuredTable[CollectiveMeasurement]:
    """All rows: those of the package, or those of one file (``.csv``, or ``.csv.gz``)."""
    if file is not None:
        return _read(file=file)
    return joined(_read("collectives"), _read("collectives_peers"))


def _read(name: str = "collectives", *, file: Path | None = None) -> MeasuredTable[CollectiveMeasurement]:
    needed = ("row_id", "op", "system", "chips", "nodes", "cluster", "library", "algorithm", "size_bytes")
    return read_table(name, by_columns(CollectiveMeasurement), needed=needed, measured=("time_us",), file=file)
