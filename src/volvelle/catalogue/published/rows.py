"""Reads a table of published figures into typed rows: every column known, every cell of its kind, every row sourced."""

import csv
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_type_hints

from volvelle.errors import DescriptionError, SourceError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Row = TypeVar("Row", bound="DataclassInstance")


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    scale: float


def column(name: str, *, scale: float = 1.0) -> Any:
    """A field that the file keeps under another name, in another unit."""
    return field(metadata={"column": _Column(name, scale)})


def read_rows(file: Traversable, kind: type[Row]) -> tuple[Row, ...]:
    """All rows of a file, each as one value of `kind`.

    A field is read from the column of its name or that of :func:`column`. An empty cell is None where the field may be
    None, and refused elsewhere. A field that is a tuple is written with slashes between its parts.
    """
    if not file.is_file():
        raise DescriptionError(f"{file.name} is missing from {str(file).removesuffix(file.name)!r}; put it there")
    hints = get_type_hints(kind)
    columns = {each.name: _column(each) for each in fields(kind)}
    with file.open("r", encoding="utf-8") as lines:
        reader = csv.DictReader(lines, strict=True)
        found, wanted = set(reader.fieldnames or ()), {each.name for each in columns.values()}
        if found != wanted:
            raise DescriptionError(
                f"{file.name} has the columns {_listed(found - wanted)} too many and lacks {_listed(wanted - found)}"
            )
        rows = []
        for number, cells in enumerate(reader, 2):
            where = f"{file.name}, line {number}"
            if None in cells or None in cells.values():
                raise DescriptionError(f"{where} has not as many cells as there are columns")
            if not cells.get("source"):
                raise SourceError(f"{where} names no source; a figure without one is not read")
            values = {name: _cell(cells, each, hints[name], where) for name, each in columns.items()}
            rows.append(kind(**values))
    if not rows:
        raise DescriptionError(f"{file.name} has no rows")
    return tuple(rows)


def _column(each: "Field[Any]") -> _Column:
    stated = each.metadata.get("column")
    return stated if isinstance(stated, _Column) else _Column(each.name, 1.0)


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _cell(cells: Mapping[str, str], at: _Column, hint: Any, where: str) -> Any:
    text = cells[at.name]
    options = get_args(hint)
    if type(None) in options:
        if not text:
            return None
        hint = next(each for each in options if each is not type(None))
    try:
        if getattr(hint, "__origin__", None) is tuple:
            of = get_args(hint)[0]
            return tuple(_value(part, of, at.scale) for part in text.split("/") if text)
        return _value(text, hint, at.scale)
    except ValueError:
        wanted = getattr(hint, "__name__", str(hint))
        raise DescriptionError(f"{where}: {at.name} is {text!r}; it must be of the kind {wanted}") from None


def _value(text: str, kind: Any, scale: float) -> Any:
    if kind is str:
        return text
    if kind is int:
        return int(text)
    if kind is float:
        return float(text) * scale
    options = get_args(kind)
    if text not in options:
        raise ValueError
    return text
