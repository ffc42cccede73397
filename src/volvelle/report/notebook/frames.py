"""Rows as a frame of whatever library there is. Only this module knows narwhals, which speaks to all of them."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Literal, get_args

from volvelle.errors import MissingExtraError, UnknownNameError, needs_extra

Library = Literal["pandas", "polars", "pyarrow"]
LIBRARIES: tuple[Library, ...] = get_args(Library)
"""In the order in which one is taken where none is named."""


def frame_of(rows: Sequence[Mapping[str, Any]], library: str = "") -> Any:
    """A frame of the library: pandas, polars or pyarrow; where none is named, the first of them that is installed."""
    if library and library not in LIBRARIES:
        raise UnknownNameError.among("frame library", library, LIBRARIES)
    with needs_extra("frames", "frames are made through narwhals"):
        import narwhals  # noqa: PLC0415 - an extra
    there: list[Library] = [name for name in LIBRARIES if find_spec(name) is not None]
    chosen = next((name for name in there if not library or name == library), None)
    if chosen is None:
        wanted = library or " or ".join(LIBRARIES)
        raise MissingExtraError(
            f"a frame needs {wanted}, which is not installed; run pip install {library or 'pandas'}"
        )
    return narwhals.from_dict(columns_of(rows), backend=chosen).to_native()


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Rows as columns of one kind each; what is nested has the names of all its levels, with dots between."""
    flat = [_flat(row) for row in rows]
    names = dict.fromkeys(name for row in flat for name in row)
    return {name: _of_one_kind([row.get(name) for row in flat]) for name in names}


def _flat(row: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{before}{name}.")
        else:
            found[f"{before}{name}"] = ", ".join(map(str, value)) if isinstance(value, list) else value
    return found


def _of_one_kind(column: list[Any]) -> list[Any]:
    """All text where some is; all floats where some are."""
    kinds = {type(value) for value in column if value is not None}
    kind = next((one for one in (str, float) if one in kinds), None)
    if kind is None or kinds == {kind}:
        return column
    return [None if value is None else kind(value) for value in column]
