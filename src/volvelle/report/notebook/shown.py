"""What there is to show of an answer, whether as text or as HTML."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from volvelle.report.figures.engine import Chart
from volvelle.report.sheet import Sheet

Drawing = Callable[[float], Chart | None]
"""Draws a picture so many pixels wide; None: there is nothing to draw."""
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """An answer in words: a title, the figures that matter, warnings, pictures and tables, the most telling first."""

    title: str
    figures: Sequence[str] = ()
    """One line each."""
    warnings: Sequence[str] = ()
    pictures: Sequence[Drawing] = ()
    sheets: Sequence[Sheet] = ()
    details: Sequence[Sheet] = ()
    """Tables that a notebook folds away, and text leaves out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Presentation:
    """How answers of one kind are shown; what it is given is such an answer."""

    verb: str
    """Whose ``--json`` document it is."""
    document: Callable[[Any], object]
    """The document, or the value that the verb's first document is read from."""
    rows: Callable[[Any, Mapping[str, Any]], Sequence[Row]]
    """Of an answer and its document: what is one row each of a frame."""
    shown: Callable[[Any], Shown]
    settings: Mapping[str, Any] = field(default_factory=dict)
    """How the document is written, as the command does."""


def itself(answer: object) -> object:
    """A value that its verb's first document is read from."""
    return answer


def under(key: str) -> Callable[[Any, Mapping[str, Any]], Sequence[Row]]:
    """Rows that a document has under a key."""
    return lambda answer, document: document[key] or ()
