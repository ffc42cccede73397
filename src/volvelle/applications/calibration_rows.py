"""Which rows of a table a fit may read."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic

from volvelle.applications.measured_table import MeasuredTable, Row
from volvelle.errors import DescriptionError

__all__ = ["CalibrationRows", "calibration_rows"]


@dataclass(frozen=True, slots=True)
class CalibrationRows(Generic[Row]):
    """Rows that a fit may read: there is no such value with a row of any other split."""

    rows: tuple[Row, ...]

    def __post_init__(self) -> None:
        strange = [row.head for row in self.rows if row.head.split != "calibration"]
        if strange:
            names = ", ".join(f"{head.row_id} ({head.split})" for head in strange[:3])
            raise DescriptionError(
                f"a fit takes calibration rows only, and {len(strange)} of {len(self.rows)} are not: {names}"
                f"{' …' if len(strange) > 3 else ''}; leave them out, or write calibration into their column split"
            )

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


def calibration_rows(table: MeasuredTable[Row], *, shipped: bool) -> CalibrationRows[Row]:
    """Rows marked calibration of a shipped table; all of a user's, refused if any is marked otherwise."""
    if shipped:
        return CalibrationRows(tuple(row for row in table.rows if row.head.split == "calibration"))
    if table.unread:
        first = table.unread[0]
        more = f", and {len(table.unread) - 1} more rows do not either" if len(table.unread) > 1 else ""
        raise DescriptionError(f"row {first.row_id} of the table cannot be fitted to: {first.reason}{more}")
    if not table.rows:
        raise DescriptionError("the table has no rows to fit to")
    return CalibrationRows(table.rows)
