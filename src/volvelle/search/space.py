"""The space of layouts: every degree that divides, every choice that is allowed, as columns."""

from dataclasses import dataclass, field
from typing import Any, TypeVar

from volvelle.domains import SEQUENCES, check_fields, number
from volvelle.errors import MappingError
from volvelle.mapping.parallelism import CHOICES, Choices, Graphs, Recompute, Schedule

Declared = TypeVar("Declared")


def _searched_unless_given(space: type[Declared]) -> type[Declared]:
    """Give every field the values that its declaration says a search considers."""
    for choice in CHOICES:
        space.__annotations__[choice.name] = tuple[Any, ...]
        setattr(space, choice.name, field(default=choice.searched))
    return space


@dataclass(frozen=True, slots=True, kw_only=True)
@_searched_unless_given
class Space(
    Choices[
        tuple[int, ...],
        tuple[bool, ...],
        tuple[bool, ...],
        tuple[Schedule, ...],
        tuple[Recompute, ...],
        tuple[Graphs, ...],
    ],
):
    """What may vary: of every field of a mapping the values to consider. Of degrees none means every one that divides.

    `expert_tensor_parallel` counts only where there are experts, tensor and sequence parallelism, `ulysses` only where
    heads divide over tensor and context parallelism, `hierarchical_dispatch` only where experts are dealt out.
    """

    largest_micro_batch: int = number(SEQUENCES, 16)

    def __post_init__(self) -> None:
        check_fields(self, "space", error=MappingError)
        for choice in CHOICES:
            object.__setattr__(self, choice.name, tuple(map(choice.read, getattr(self, choice.name))))


def usual_context(length: int) -> tuple[int, ...]:
    """Degrees of context parallelism to look through where nothing is said: each chip keeps a thousand positions."""
    return tuple(degree for degree in (1, 2, 4, 8, 16) if length // degree >= 1024 or degree == 1)


usual_gaps = (1, 2, 4)
"""Layers between kept inputs to look through where nothing is said."""
