"""Candidate changes of a question: asked again with each, and only those that lead to an answer are kept."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from volvelle.errors import VolvelleError

Candidate = TypeVar("Candidate")


def tried(candidates: Iterable[Candidate], works: Callable[[Candidate], bool]) -> Iterator[Candidate]:
    """Yield the candidates that lead to an answer; one that is not a valid question does not."""
    for candidate in candidates:
        try:
            found = works(candidate)
        except VolvelleError:
            continue
        if found:
            yield candidate
