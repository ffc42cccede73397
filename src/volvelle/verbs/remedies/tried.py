"""Candidate changes of a question: asked again with each, and only those that lead to an answer are kept."""

from collections.abc import Callable, Iterable, Iterator
from time import perf_counter
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


def first_of_each(
    groups: Iterable[Iterable[Candidate]], works: Callable[[Candidate], bool], *, seconds: float
) -> Iterator[Candidate]:
    """Yield the first candidate of every group that leads to an answer; no try begins after so many seconds."""
    end = perf_counter() + seconds

    def in_time(candidates: Iterable[Candidate]) -> Iterator[Candidate]:
        for candidate in candidates:
            if perf_counter() > end:
                return
            yield candidate

    for group in groups:
        for candidate in tried(in_time(group), works):
            yield candidate
            break


def larger_machines(name: str, accelerators: int, *, doublings: int = 6) -> Iterator[str]:
    """Yield names of machines of the same kind with 2, 4, 8, … times the accelerators."""
    kind = name.partition("/")[0]
    yield from (f"{kind}/{accelerators * 2**power}" for power in range(1, doublings + 1))


def smaller_machines(name: str, accelerators: int) -> Iterator[str]:
    """Yield names of machines of the same kind with a half, a quarter, … of the accelerators, down to one."""
    kind = name.partition("/")[0]
    while accelerators > 1:
        accelerators //= 2
        yield f"{kind}/{accelerators}"
