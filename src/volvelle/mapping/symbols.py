"""Sizes before any number of chips is known: coefficients times powers of what a mapping decides.

The symbols are the micro-batch, and for every axis that cuts blocks the share that one of its chips has.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from volvelle.mapping.axes import CUTTING, Axis

MICRO_BATCH = "micro_batch"
SYMBOLS: tuple[str, ...] = (MICRO_BATCH, *(axis.name for axis in CUTTING))
"""In the order in which they are multiplied."""

Powers = tuple[tuple[str, int], ...]
"""Symbols with their powers, in the order of `SYMBOLS`; those that do not occur are left out."""


def powers(**of: int) -> Powers:
    """Powers of symbols by name."""
    return tuple((symbol, of[symbol]) for symbol in SYMBOLS if of.get(symbol))


@dataclass(frozen=True, slots=True, order=True)
class Term:
    """A coefficient times powers of symbols."""

    coefficient: float
    powers: Powers = ()

    def __mul__(self, other: "Term") -> "Term":
        return Term(self.coefficient * other.coefficient, _shifted(self.powers, other.powers, 1))

    def __truediv__(self, other: "Term") -> "Term":
        return Term(self.coefficient / other.coefficient, _shifted(self.powers, other.powers, -1))

    def power(self, symbol: str) -> int:
        """Of one symbol; 0 where it does not occur."""
        return dict(self.powers).get(symbol, 0)


def _shifted(first: Powers, second: Powers, sign: int) -> Powers:
    if not second:
        return first
    total = dict(first)
    for symbol, power in second:
        total[symbol] = total.get(symbol, 0) + sign * power
    return powers(**total)


ONE = Term(1.0)


def share(axis: Axis) -> Term:
    """One chip's share along an axis."""
    return Term(1.0, powers(**{axis.name: 1}))


def merged(terms: Sequence[Term]) -> tuple[Term, ...]:
    """Terms with equal powers, added."""
    sums: dict[Powers, float] = {}
    for term in terms:
        sums[term.powers] = sums.get(term.powers, 0.0) + term.coefficient
    return tuple(Term(coefficient, powers) for powers, coefficient in sums.items())
