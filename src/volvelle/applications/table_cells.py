"""Cells of measured tables: text of a file, packed or not, and numbers that are there or not."""

import gzip
from collections.abc import Mapping
from importlib.resources.abc import Traversable

from volvelle.errors import DescriptionError

__all__ = ["number", "table_text", "whole"]


def table_text(file: Traversable) -> str:
    """The text of a table, unpacked if need be."""
    try:
        raw = file.read_bytes()
        return (gzip.decompress(raw) if file.name.endswith(".gz") else raw).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError, EOFError) as error:
        raise DescriptionError(f"{file.name} cannot be read as a table of measurements: {error}") from None


def number(row: Mapping[str, str], column: str) -> float | None:
    """A positive number, or None where the cell is empty."""
    text = row.get(column, "")
    if not text:
        return None
    try:
        found = float(text)
    except ValueError:
        raise ValueError(f"{column} is {text!r}, not a number") from None
    if not 0 < found < float("inf"):
        raise ValueError(f"{column} is {text}; it must be a positive number")
    return found


def whole(row: Mapping[str, str], column: str) -> int | None:
    """A positive whole number, or None where the cell is empty."""
    found = number(row, column)
    if found is None:
        return None
    if found != int(found):
        raise ValueError(f"{column} is {row[column]}; it must be a whole number")
    return int(found)
