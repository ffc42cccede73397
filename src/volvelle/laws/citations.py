"""Which paper, which equation: the mark every law carries."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """A formula with its provenance."""

    name: str
    paper: str
    """Key of the paper in the catalogue's references."""
    place: str
    """Equation, table or section."""
    function: Callable[..., object]

    @property
    def path(self) -> str:
        """Where the function is, as one would import it."""
        return f"{self.function.__module__}.{self.name}"


LAWS: dict[str, Law] = {}
"""Every law by its name."""


def cites(paper: str, *, place: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Mark a function as the law found at that place of that paper."""

    def mark(function: Callable[P, R]) -> Callable[P, R]:
        name = function.__name__
        if name in LAWS:
            raise AssertionError(f"two laws named {name}: {LAWS[name].path} and {function.__module__}.{name}")
        LAWS[name] = Law(name=name, paper=paper, place=place, function=function)
        return function

    return mark
