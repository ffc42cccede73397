"""Reads measured collectives: those that ship with the package, or a file of one's own.

What every column means and where each row comes from is said in ``data/measurements/README.md``.
"""

from dataclasses import dataclass
from pathlib import Path

from volvelle.applications.measured_table import MeasuredTable, RowHead, joined, read_columns
from volvelle.applications.table_cells import column


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveMeasurement:
    """One timed collective, or one timed message between two chips."""

    head: RowHead
    operation: str = column("op", needed=True)
    system: str = column("system", needed=True)
    accelerator: str
    chips: int | None = column("chips", needed=True)
    nodes: int | None = column("nodes", needed=True)
    cluster: str = column("cluster", needed=True)
    """The catalogue's entry for the system; empty where there is none."""
    library: str = column("library", needed=True)
    algorithm: str = column("algorithm", needed=True)
    """As the source says; empty where the library chose."""
    size: float | None = column("size_bytes", zero=True, needed=True)
    """Bytes, by the convention of :mod:`volvelle.laws.collectives`; an empty message has a time."""
    time: float | None = column("time_us", scale=1e-6, measured=True)
    """Seconds."""


def collective_measurements(file: Path | None = None) -> MeasuredTable[CollectiveMeasurement]:
    """All rows: those of the package, or those of one file (``.csv``, or ``.csv.gz``)."""
    if file is not None:
        return read_columns("collectives", CollectiveMeasurement, file=file)
    names = ("collectives", "collectives_peers", "collectives_logs")
    return joined(*(read_columns(name, CollectiveMeasurement) for name in names))
