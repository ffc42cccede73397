"""Published points of curves: tokens that a step of a target yields, by the number of drafted tokens."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from volvelle.applications.measured_table import MeasuredTable, RowHead, read_table
from volvelle.applications.table_cells import number, whole
from volvelle.workload.serving.drafting import Windows

SHORT = 3
"""Windows from which a curve is found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceMeasurement:
    """One point of a curve, and the short windows of that curve."""

    head: RowHead
    method: str
    model: str
    dataset: str
    window: int | None
    tokens: float | None
    short: Windows = ()

    @property
    def curve(self) -> tuple[str, str, str, str]:
        """Which points belong together."""
        return (self.head.group, self.method, self.model, self.dataset)


def acceptance_measurements(
    file: Path | None = None, *, table: str = "serving_acceptance"
) -> MeasuredTable[AcceptanceMeasurement]:
    """All rows, each with the short windows of its curve."""
    read = read_table(
        table,
        _measurement,
        needed=("row_id", "model", "window"),
        measured=("tokens_per_step",),
        file=file,
    )
    short: dict[tuple[str, str, str, str], list[tuple[int, float]]] = {}
    for row in read.rows:
        if row.window is not None and row.tokens is not None and row.window <= SHORT:
            short.setdefault(row.curve, []).append((row.window, row.tokens))
    rows = (replace(row, short=tuple(sorted(short.get(row.curve, ())))) for row in read.rows)
    return MeasuredTable(rows=tuple(rows), unread=read.unread)


def _measurement(head: RowHead, row: Mapping[str, str]) -> AcceptanceMeasurement:
    return AcceptanceMeasurement(
        head=head,
        method=row.get("method", ""),
        model=row["model"],
        dataset=row.get("dataset", ""),
        window=whole(row, "window"),
        tokens=number(row, "tokens_per_step"),
    )
