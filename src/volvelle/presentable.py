"""Values that show themselves in a notebook: one screen of text, a breakdown with its picture, a document, a frame.

Answers are made far below the room that knows how they look. So they know only the name of that room, and it is loaded
when the first of them is shown.
"""

from dataclasses import fields
from enum import Enum
from importlib import import_module
from textwrap import fill
from typing import Any

_PRESENTATION = "volvelle.report.notebook.presentation"
_WIDTH = 100
"""Columns of a screen."""
_MANY = 8


class Presentable:
    """What answers have in common."""

    __slots__ = ()

    def __repr__(self) -> str:
        """The answer on one screen: at most 24 lines of 100 columns."""
        return str(import_module(_PRESENTATION).screen(self))

    def _repr_html_(self) -> str:
        """What a notebook shows: the answer, its picture where pictures can be drawn, and the breakdown."""
        return str(import_module(_PRESENTATION).fragment(self))

    def to_dict(self) -> dict[str, Any]:
        """The document that the command prints with ``--json``, as plain dictionaries, lists, numbers and text."""
        found: dict[str, Any] = import_module(_PRESENTATION).document(self)
        return found

    def to_frame(self, library: str = "") -> Any:
        """The rows of the answer as a frame of pandas, or of ``"polars"`` or ``"pyarrow"``; units as in `to_dict`."""
        return import_module(_PRESENTATION).frame(self, library)


def only_what_is_set(value: Any) -> str:
    """A dataclass as the call that makes it, without the fields that have their defaults."""
    said = ((part.name, getattr(value, part.name), part.default) for part in fields(value) if part.repr)
    words = (f"{name}={_brief(found)}" for name, found, default in said if not _same(found, default))
    return folded(f"{type(value).__name__}({', '.join(words)})")


def folded(text: str) -> str:
    """Text in lines that a screen has room for."""
    return fill(text, _WIDTH, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)


def _brief(found: Any) -> str:
    """A value, or the first of many."""
    if isinstance(found, Enum):
        return f"{type(found).__name__}.{found.name}"
    if isinstance(found, tuple) and len(found) > _MANY:
        return f"({found[0]!r}, … {len(found)} in all)"
    return repr(found)


def _same(found: Any, default: Any) -> bool:
    """Whether a field has its default; a column never has."""
    return found is default or (isinstance(found, int | float | str | tuple) and bool(found == default))
