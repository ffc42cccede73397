"""Sizes before any number of chips is known: coefficients times powers of what a mapping decides."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

__all__ = ["ONE", "Axis", "Powers", "Term", "merged"]


class Axis(Enum):
    """A way to cut a block over chips."""

    TENSOR = 1
    CONTEXT = 2
    EXPERT = 3


Powers = tuple[int, int, int, int]
"""Powers of the micro-batch, and of the shares of tensor, context and expert parallelism."""


@dataclass(frozen=True, slots=True, order=True)
class Term:
    """coefficient · batch^b · (1/tensor)^t · (1/context)^c · (1/expert)^e."""

    coefficient: float
    powers: Powers = (0, 0, 0, 0)

    def __mul__(self, other: "Term") -> "Term":
        return Term(self.coefficient * other.coefficient, _shifted(self.powers, other.powers, 1))

    def __truediv__(self, other: "Term") -> "Term":
        return Term(self.coefficient / other.coefficient, _shifted(self.powers, other.powers, -1))


def _shifted(first: Powers, second: Powers, sign: int) -> Powers:
    b, t, c, e = (one + sign * other for one, other in zip(first, second, strict=True))
    return b, t, c, e


ONE = Term(1.0)


def merged(terms: Sequence[Term]) -> tuple[Term, ...]:
    """Terms with equal powers, added."""
    found: dict[Powers, float] = {}
    for term in terms:
        found[term.powers] = found.get(term.powers, 0.0) + term.coefficient
    return tuple(Term(coefficient, powers) for powers, coefficient in found.items())
