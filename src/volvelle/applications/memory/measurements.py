"""Reads measured amounts of memory: those that ship with the package, or a file of one's own."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from volvelle.applications.measured_table import MeasuredTable, RowHead, by_columns, read_table
from volvelle.applications.table_cells import column

__all__ = ["MemoryMeasurement", "memory_measurements"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryMeasurement:
    """One measured amount of memory."""

    head: RowHead
    model: str
    layers: int | None = column("n_layers")
    hidden: int | None
    sequence: int | None = column("seq")
    tensor: int | None = column("TP")
    pipeline: int | None = column("PP")
    data: int | None = column("DP")
    micro_batch: int | None
    recompute: str
    value: float
    """In the unit that the quantity names."""

    @property
    def quantity(self) -> str:
        """What was measured; amounts of one quantity are scored together."""
        return self.head.group


def memory_measurements(file: Path | None = None) -> MeasuredTable[MemoryMeasurement]:
    """All rows. Those of shares state no layout; it is that of the same model's other rows."""
    table = read_table(
        "llm_memory", _measurement, needed=("row_id", "model", "recompute", "quantity"), measured=("value",), file=file
    )
    stating = {row.model: row for row in table.rows if row.tensor is not None}
    names = ("layers", "hidden", "sequence", "tensor", "pipeline", "data", "micro_batch")
    rows = (
        row
        if row.tensor is not None or row.model not in stating
        else replace(row, **{name: getattr(stating[row.model], name) for name in names})
        for row in table.rows
    )
    return MeasuredTable(rows=tuple(rows), unread=table.unread)


def _measurement(head: RowHead, row: Mapping[str, str]) -> MemoryMeasurement:
    return by_columns(MemoryMeasurement)(replace(head, group=row["quantity"]), row)
