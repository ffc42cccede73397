"""An answer as named quantities: every number of a JSON document under a name, in SI units."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["Value", "named"]

Value = float | bool | str | None
_LABELS = (
    "row_id",
    "constant",
    "name",
    "key",
    "id",
    "label",
    "target",
    "run",
    "row",
    "figure",
    "kernel",
    "part",
    "system",
    *("machine", "group"),
)
_TEXT = re.compile(r"^-?\d+(\.\d+)?(e-?\d+)? [^ ]+$")
"""A quantity as text, like ``312 TFLOP/s``."""


def named(document: Any) -> dict[str, Value]:
    """Every leaf of a document by its path; items of a list by what names them, or else by their place.

    Left out: prose. A word without blanks is kept (a schedule, a verdict), and so is a number with its unit.
    """
    return dict(_leaves(document, ""))


def _leaves(node: Any, path: str) -> Iterator[tuple[str, Value]]:
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from _leaves(value, f"{path}/{key}" if path else str(key))
    elif isinstance(node, list):
        seen: dict[str, int] = {}
        for place, item in enumerate(node):
            label = _label(item, place)
            seen[label] = seen.get(label, 0) + 1
            yield from _leaves(item, f"{path}[{label}{f'#{seen[label]}' if seen[label] > 1 else ''}]")
    elif isinstance(node, bool) or node is None:
        yield path, node
    elif isinstance(node, int | float):
        yield path, float(node)
    elif isinstance(node, str) and (" " not in node or _TEXT.match(node)):
        yield path, node


def _label(item: Any, place: int) -> str:
    if isinstance(item, Mapping):
        for key in _LABELS:
            if isinstance(item.get(key), str):
                hidden = ", hidden" if item.get("exposed") is False else ""
                return f"{item[key]}{hidden}"
    return str(place)
