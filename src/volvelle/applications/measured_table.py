"""Tables of measured rows, shipped or a file of one's own: what rows have in common, and which may be fitted to."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Generic, Literal, Protocol, TypeVar, cast, get_args

from volvelle.applications.table_cells import columns_that, fields_from, table_text
from volvelle.errors import DescriptionError

Split = Literal[
    "calibration",
    "calibration_noisy",
    "heldout",
    "heldout_secondary",
    "heldout_interp",
    "excluded",
    "given",
]
"""Constants may be fitted to calibration rows; held-out rows are only ever scored, apart where a setting is unstated
(secondary) or neighbours were fitted (interp); excluded rows are neither; given rows come from a user's file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowHead:
    """What every measured row states."""

    row_id: str
    group: str
    """Rows of one publication."""
    split: Split
    excluded_because: str = ""
    source: str = ""
    flags: str = ""
    notes: str = ""


class Headed(Protocol):
    """Any measured row."""

    @property
    def head(self) -> RowHead:
        """What every row states."""


Row = TypeVar("Row", bound=Headed)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadRow:
    """A row of a file that could not be read, and why."""

    row_id: str
    group: str
    split: Split
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredTable(Generic[Row]):
    """All rows of a table, and those that could not be read."""

    rows: tuple[Row, ...]
    unread: tuple[UnreadRow, ...] = ()

    def only(self, starts: Sequence[str]) -> "MeasuredTable[Row]":
        """Rows of the publications whose names start like any of these; all without any."""
        if not starts:
            return self
        rows = tuple(row for row in self.rows if row.head.group.startswith(tuple(starts)))
        if not rows:
            known = sorted({row.head.group for row in self.rows})
            raise DescriptionError(f"no group starts like {starts[0]!r}; there are {', '.join(known)}")
        unread = tuple(row for row in self.unread if row.group.startswith(tuple(starts)))
        return MeasuredTable(rows=rows, unread=unread)


def joined(*tables: MeasuredTable[Row]) -> MeasuredTable[Row]:
    """The rows of several tables as one."""
    return MeasuredTable(
        rows=tuple(row for table in tables for row in table.rows),
        unread=tuple(row for table in tables for row in table.unread),
    )


def by_columns(kind: type[Row]) -> Callable[[RowHead, Mapping[str, str]], Row]:
    """Builds rows whose fields are columns of a table."""
    build: Any = kind
    return lambda head, row: cast(Row, build(head=head, **fields_from(kind, row)))


def read_columns(name: str, kind: type[Row], *, file: Path | None = None, group: str = "") -> MeasuredTable[Row]:
    """The rows of a table, shipped or of a file, whose columns are the fields of a kind of row."""
    needed, measured = ("row_id", *columns_that(kind, "needed")), columns_that(kind, "measured")
    return read_table(name, by_columns(kind), needed=needed, measured=measured, file=file, group=group)


def read_table(
    name: str,
    build: Callable[[RowHead, Mapping[str, str]], Row],
    *,
    needed: Sequence[str],
    measured: Sequence[str],
    file: Path | None = None,
    group: str = "",
) -> MeasuredTable[Row]:
    """The rows of a shipped table, or of a file in its columns; rows that name no publication are of `group`.

    `needed` columns must be there, and at least one of the `measured` ones. Rows of a user's file that name no split
    are ``given``; a shipped row without split or source does not load.
    """
    source = file or shipped_table(name)
    table = csv.DictReader(io.StringIO(table_text(source)))
    header = [column.strip() for column in table.fieldnames or ()]
    if "row_id" not in header:
        header = ["row_id" if column == "id" else column for column in header]
    missing = [column for column in needed if column not in header]
    if not any(column in header for column in measured):
        missing.append(" or ".join(measured))
    if missing:
        raise DescriptionError(
            f"{source.name} lacks the column{'s' if len(missing) > 1 else ''} {', '.join(missing)}; a table like this "
            f"has the columns of {name}.csv, listed in catalogue/data/measurements/README.md"
        )
    table.fieldnames = header
    rows, unread = [], []
    for row in table:
        clean = {column: (value or "").strip() for column, value in row.items() if isinstance(column, str)}
        if not any(clean.values()):
            continue
        head, problem = _head(clean, table.line_num, group or name, given=file is not None)
        if not problem:
            try:
                rows.append(build(head, clean))
                continue
            except ValueError as error:
                problem = f"it does not read: {error}"
        unread.append(UnreadRow(row_id=head.row_id, group=head.group, split=head.split, reason=problem))
    return MeasuredTable(rows=tuple(rows), unread=tuple(unread))


def shipped_table(name: str) -> Traversable:
    """A table of the package, packed or not."""
    folder = resources.files("volvelle.catalogue") / "data" / "measurements"
    packed = folder / f"{name}.csv.gz"
    return packed if packed.is_file() else folder / f"{name}.csv"


def _head(row: Mapping[str, str], line: int, group: str, *, given: bool) -> tuple[RowHead, str]:
    """What the row states of itself, and what is wrong with that."""
    split = row.get("split") or ("given" if given else "")
    known = split in get_args(Split)
    problem = "" if known else f"its split is {split!r}; it may be {', '.join(get_args(Split))}"
    if not given and not row.get("source"):
        problem = "it names no source; a measurement without one is not read"
    head = RowHead(
        row_id=row["row_id"] or f"line {line}",
        group=row.get("source_group") or row.get("group") or group,
        split=cast(Split, split) if known else "given",
        excluded_because=row.get("excluded_because", ""),
        source=row.get("source", ""),
        flags=row.get("flags", ""),
        notes=row.get("notes", ""),
    )
    return head, problem


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
