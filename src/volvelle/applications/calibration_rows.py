"""Which rows of a table a fit may read."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from volvelle.applications.measured_table import MeasuredTable, RowHead
from volvelle.errors import DescriptionError

__all__ = ["calibration_rows", "refuse_other_splits"]


class _Headed(Protocol):
    @property
    def head(self) -> RowHead: ...


Row = TypeVar("Row", bound=_Headed)


def calibration_rows(table: MeasuredTable[Row], *, shipped: bool) -> tuple[Row, ...]:
    """Rows marked calibration of a shipped table; all rows of a user's, of which the fit refuses any other."""
    if shipped:
        return tuple(row for row in table.rows if row.head.split == "calibration")
    if table.unread:
        first = table.unread[0]
        more = f", and {len(table.unread) - 1} more rows do not either" if len(table.unread) > 1 else ""
        raise DescriptionError(f"row {first.row_id} of the table cannot be fitted to: {first.reason}{more}")
    if not table.rows:
        raise DescriptionError("the table has no rows to fit to")
    refuse_other_splits(table.rows)
    return table.rows


def refuse_other_splits(rows: Sequence[_Headed]) -> None:
    """Raise unless every row is marked calibration."""
    strange = [row.head for row in rows if row.head.split != "calibration"]
    if strange:
        names = ", ".join(f"{head.row_id} ({head.split})" for head in strange[:3])
        raise DescriptionError(
            f"a fit takes calibration rows only, and {len(strange)} of {len(rows)} are not: {names}"
            f"{' …' if len(strange) > 3 else ''}; leave them out, or write calibration into their column split"
        )
