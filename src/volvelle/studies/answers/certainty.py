"""How likely a design meets what is asked of it: the one that is sure enough, and the one of an even chance."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from volvelle.studies.answers.best import Best
from volvelle.studies.design_space.evaluate import Evaluator
from volvelle.studies.design_space.expressions import Expression
from volvelle.studies.design_space.job_measures import run_chance
from volvelle.studies.design_space.measures import OF_STEPS, Outcome, sampled_measure

_SIGNS: Mapping[str, Callable[[NDArray[np.float64], float], NDArray[np.bool_]]] = {
    "<=": np.less_equal,
    ">=": np.greater_equal,
    "<": np.less,
    ">": np.greater,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance:
    """A condition that is to hold with some probability."""

    text: str
    measure: str
    sign: str
    bound: str
    asked: float
    """How likely it is to be, at least."""

    def of(self, outcome: Outcome) -> float | None:
        """How likely a point meets it; None: the bound is no number."""
        bound = Expression(self.bound)
        if bound.names:
            return None
        limit, holds = float(bound.value({})), _SIGNS[self.sign]
        if self.measure in OF_STEPS:
            return float(np.mean(holds(sampled_measure(outcome, self.measure), limit)))
        return float(np.max(run_chance(outcome, self.measure, lambda column: holds(column, limit))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Certainty:
    """How likely two designs meet a condition: the one that is as sure as asked, and the one of an even chance."""

    condition: str
    asked: float
    chance: float | None
    """Of the answer; None: there is none, or the bound is no number; as of the next."""
    median_chance: float | None
    """Of the design that an even chance would choose."""


def certainties_of(
    evaluator: Evaluator, chances: Sequence[Chance], best: Best, median: Best | None
) -> tuple[Certainty, ...]:
    """How likely both designs meet each condition; they are evaluated again, as the results have quantiles alone."""
    if not chances:
        return ()

    def outcome(found: Best | None) -> Outcome | None:
        return None if found is None or found.design is None else evaluator.explain(found.design.number).outcome

    sure, even = outcome(best), outcome(median)
    return tuple(
        Certainty(
            condition=chance.text,
            asked=chance.asked,
            chance=None if sure is None else chance.of(sure),
            median_chance=None if even is None else chance.of(even),
        )
        for chance in chances
    )
