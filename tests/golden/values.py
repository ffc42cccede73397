"""A value of any kind as a document of mappings, lists, numbers and words, and long lists as a few figures each."""

import functools
import math
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import PurePath
from typing import Any

__all__ = ["document_of", "summarised"]

LONGEST = 24
"""Items that a list may have and be kept whole."""
_DEEPEST = 6
_FACTS = ("Cluster", "Chip", "Catalogue", "Workload", "Block", "Transformer", "Instance", "References")
"""Types of what a question is about, not of what is answered; inside an answer they are named only."""


def document_of(value: Any) -> Any:
    """Return the fields and the cheap properties of a value, and of the values in it."""
    return summarised(_plain(value, ()))


def summarised(node: Any) -> Any:
    """Return a document in which every long list is a few figures for each path of its items."""
    if isinstance(node, Mapping):
        return {str(key): summarised(value) for key, value in node.items()}
    if isinstance(node, list):
        return [summarised(item) for item in node] if len(node) <= LONGEST else _columns(node)
    return node


def _plain(value: Any, above: tuple[Any, ...]) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value.name if isinstance(value, Enum) else value
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, PurePath):
        return value.name
    if hasattr(value, "tolist") and hasattr(value, "dtype"):
        return _plain(value.tolist(), above)
    if len(above) > _DEEPEST or any(value is one for one in above):
        return None
    if above and any(kind.__name__ in _FACTS for kind in type(value).__mro__):
        return getattr(value, "name", None)
    inside = (*above, value)
    if isinstance(value, Mapping):
        return {str(_plain(key, inside)): _plain(item, inside) for key, item in value.items()}
    if isinstance(value, Set):
        return sorted(str(_plain(item, inside)) for item in value)
    if hasattr(value, "to_dicts"):  # a table of columns
        return [_plain(row, inside) for row in value.to_dicts()]
    if isinstance(value, Sequence | Iterator):
        return [_plain(item, inside) for item in value]
    if callable(value) or isinstance(value, type):
        return None
    return _of_an_object(value, inside)


def _of_an_object(value: Any, inside: tuple[Any, ...]) -> Any:
    kind = type(value)
    names = [field.name for field in fields(value)] if is_dataclass(value) else list(getattr(kind, "model_fields", ()))
    found = {name: _plain(getattr(value, name, None), inside) for name in names if not name.startswith("_")}
    for base in kind.__mro__:
        for name, member in vars(base).items():
            if name.startswith("_") or name in found or not isinstance(member, property | functools.cached_property):
                continue
            try:
                computed = getattr(value, name)
            except Exception:
                continue
            if computed is None or isinstance(computed, bool | int | float | str) or hasattr(computed, "dtype"):
                found[name] = _plain(computed, inside)
    return found or None


def _columns(items: Sequence[Any]) -> dict[str, Any]:
    leaves: dict[str, list[Any]] = {}
    for item in items:
        for path, leaf in _leaves(item, ""):
            leaves.setdefault(path, []).append(leaf)
    return {"items": len(items)} | {path: _figures(values) for path, values in leaves.items()}


def _leaves(node: Any, path: str) -> Iterable[tuple[str, Any]]:
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from _leaves(value, f"{path}/{key}" if path else str(key))
    elif isinstance(node, list):
        for item in node:
            yield from _leaves(item, f"{path}[]")
    elif not (isinstance(node, str) and " " in node):
        yield path or "value", node


def _figures(values: list[Any]) -> dict[str, float]:
    """How many there are; of numbers the sum, the ends and a sum that their order moves; of words a checksum."""
    numbers = [float(value) for value in values if isinstance(value, int | float) and math.isfinite(value)]
    words = [str(value) for value in values if not isinstance(value, int | float) or not math.isfinite(value)]
    found: dict[str, float] = {"count": float(len(values))}
    if numbers:
        ordered = math.fsum(number * (1 + place % 97) for place, number in enumerate(numbers))
        found |= {"sum": math.fsum(numbers), "least": min(numbers), "most": max(numbers), "ordered": ordered}
    if words:
        found["words"] = float(zlib.crc32("\0".join(words).encode()))
    return found
