"""A table with words and numbers, however it is shown."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A table of a page; columns whose cells are numbers are aligned to the right."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[str] = frozenset()
    """Names of the columns that hold numbers."""
    note: str = ""


def markdown_of(sheet: Sheet, *, without: tuple[str, ...] = ()) -> str:
    """A table for a page of the documentation."""
    kept = [place for place, name in enumerate(sheet.columns) if name not in without]

    def row(cells: tuple[str, ...]) -> str:
        return f"| {' | '.join(cells[place] for place in kept)} |"

    ruler = tuple("---:" if name in sheet.numbers else "---" for name in sheet.columns)
    return "\n".join([row(sheet.columns), row(ruler), *(row(cells) for cells in sheet.rows)]) + "\n"
