"""Cells of measured tables: text of a file, packed or not, and the fields of a row by what each is."""

import gzip
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.resources.abc import Traversable
from typing import Any, get_args, get_origin, get_type_hints

from volvelle.errors import DescriptionError
from volvelle.input_limits import other_reader


def table_text(file: Traversable) -> str:
    """The text of a table, unpacked if need be."""
    try:
        raw = file.read_bytes()
        return (gzip.decompress(raw) if file.name.endswith(".gz") else raw).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError, EOFError) as error:
        other = other_reader(str(file), raw[:64]) if isinstance(error, UnicodeDecodeError) else ""
        if other:
            raise DescriptionError(f"{str(file)!r} is no table of measurements: {other}") from None
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


@dataclass(frozen=True, slots=True)
class _Column:
    names: tuple[str, ...]
    scale: float = 1.0
    zero: bool = False
    needed: bool = False
    measured: bool = False


def column(*names: str, default: object = None, **how: Any) -> Any:
    """A field that tables keep under other names, the first that is filled counting.

    It may have a `scale` to SI units and may be `zero`; a table is not read without the column where it is `needed`,
    nor without any of those that hold what was `measured`.
    """
    return field(default=default, metadata={"column": _Column(names, **how)})


def columns_that(kind: type, which: str) -> tuple[str, ...]:
    """Columns that are ``needed``, or ``measured``."""
    return tuple(at.names[0] for _, at, _ in _columns(kind) if getattr(at, which))


def fields_from(kind: type, row: Mapping[str, str]) -> dict[str, Any]:
    """The fields of a measured row, but for its head, each from the column of its name or that of :func:`column`."""
    return {name: _cell(row, at, hint) for name, at, hint in _columns(kind)}


@cache
def _columns(kind: Any) -> list[tuple[str, _Column, Any]]:
    hints = get_type_hints(kind)
    return [
        (each.name, each.metadata.get("column") or _Column((each.name,)), hints[each.name])
        for each in fields(kind)
        if each.name != "head"
    ]


def _cell(row: Mapping[str, str], at: _Column, hint: Any) -> Any:
    name = next((name for name in at.names if row.get(name)), at.names[0])
    text, kinds = row.get(name, ""), get_args(hint) or (hint,)
    if str in kinds:
        return text
    if get_origin(hint) is tuple:
        return _widths(text, name)
    if bool in kinds:
        return _truth(text, name)
    if at.zero and text in ("0", "0.0"):
        return 0.0
    value = whole(row, name) if int in kinds else number(row, name)
    if value is None and type(None) not in kinds:
        raise ValueError(f"it states no {name}")
    return value if value is None or int in kinds else value * at.scale


def _truth(text: str, name: str) -> bool | None:
    if not text:
        return None
    if text.lower() not in ("0", "1", "true", "false", "yes", "no"):
        raise ValueError(f"{name} is {text.lower()!r}; it must be 0 or 1")
    return text.lower() in ("1", "true", "yes")


def _widths(text: str, name: str) -> tuple[int, ...]:
    parts = text.split("-") if text else []
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise ValueError(f"{name} is {text!r}; it must be widths joined by hyphens, like 512-256-128")
    return tuple(int(part) for part in parts)
