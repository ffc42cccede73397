"""A table with words and numbers, however it is shown."""

from dataclasses import dataclass

__all__ = ["Sheet"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A table of a page; columns whose cells are numbers are aligned to the right."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[str] = frozenset()
    """Names of the columns that hold numbers."""
    note: str = ""
