"""Which of several shortest ways through a network a message takes: part of a machine's description."""

from dataclasses import dataclass
from enum import Enum
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from volvelle.domains import SEED, check_fields, number
from volvelle.errors import UnknownNameError, plainly

Numbers: TypeAlias = NDArray[np.int64]
RuleWord: TypeAlias = Literal["d-mod-k", "random", "adaptive"]


class Rule(Enum):
    """How one of several shortest ways is chosen."""

    DESTINATION = "d-mod-k"
    """By the number of the destination, modulo the ways there are: static tables of a subnet manager."""
    RANDOM = "random"
    """By chance, once for every two ends: hashed paths (ECMP)."""
    ADAPTIVE = "adaptive"
    """All of them, packet by packet: spread evenly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """A rule, and the seed that its draws come from."""

    rule: Rule
    seed: int = number(SEED, 0)

    def __post_init__(self) -> None:
        check_fields(self, "routing")

    @classmethod
    def named(cls, word: str, *, seed: int = 0) -> "Routing":
        """The rule that a word stands for, whatever its case and punctuation."""
        known = {plainly(rule.value): rule for rule in Rule}
        if plainly(word) not in known:
            raise UnknownNameError.among("routing rule", word, [rule.value for rule in Rule])
        return cls(rule=known[plainly(word)], seed=seed)

    def picks(self, sources: Numbers, targets: Numbers) -> Numbers:
        """A number for every two ends, of which the remainder by the ways there are says which is taken.

        It depends on nothing but the two, and the seed: not on who asked before.
        """
        if self.rule is not Rule.RANDOM:
            return np.asarray(targets, dtype=np.int64)
        mixed = _mixed(np.asarray(sources).astype(np.uint64) ^ _mixed(np.full(1, self.seed, dtype=np.uint64)))
        mixed = _mixed(mixed ^ np.asarray(targets).astype(np.uint64))
        return (mixed >> np.uint64(2)).astype(np.int64)


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finisher of SplitMix64: every bit depends on every other."""
    with np.errstate(over="ignore"):
        values = values + np.uint64(0x9E3779B97F4A7C15)
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return values ^ (values >> np.uint64(31))
