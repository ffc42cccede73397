"""Reads measured collectives: those that ship with the package, or a file of one's own.

What every column means and where each row comes from is said in ``data/measurements/README.md``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from volvelle.applications.measured_table import MeasuredTable, RowHead, joined, read_table
from volvelle.applications.table_cells import number, whole

__all__ = ["CollectiveMeasurement", "collective_measurements"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveMeasurement:
    """One timed collective, or one timed message between two chips."""

    head: RowHead
    operation: str
    system: str
    accelerator: str
    chips: int | None
    nodes: int | None
    cluster: str
    """The catalogue's entry for the system; empty where there is none."""
    library: str
    algorithm: str
    """As the source says; empty where the library chose."""
    size: float | None
    """Bytes, by the convention of :mod:`volvelle.laws.collectives`."""
    time: float | None
    """Seconds."""


def collective_measurements(file: Path | None = None) -> MeasuredTable[CollectiveMeasurement]:
    """All rows: those of the package, or those of one file (``.csv``, or ``.csv.gz``)."""
    if file is not None:
        return _read(file=file)
    return joined(_read("collectives"), _read("collectives_peers"))


def _read(name: str = "collectives", *, file: Path | None = None) -> MeasuredTable[CollectiveMeasurement]:
    needed = ("row_id", "op", "system", "chips", "nodes", "cluster", "library", "algorithm", "size_bytes")
    return read_table(name, _measurement, needed=needed, measured=("time_us",), file=file)


def _measurement(head: RowHead, row: Mapping[str, str]) -> CollectiveMeasurement:
    microseconds = number(row, "time_us")
    return CollectiveMeasurement(
        head=head,
        operation=row["op"],
        system=row["system"],
        accelerator=row.get("accelerator", ""),
        chips=whole(row, "chips"),
        nodes=whole(row, "nodes"),
        cluster=row["cluster"],
        library=row["library"],
        algorithm=row["algorithm"],
        size=0.0 if row["size_bytes"] in ("0", "0.0") else number(row, "size_bytes"),  # an empty message has a time
        time=None if microseconds is None else microseconds * 1e-6,
    )
