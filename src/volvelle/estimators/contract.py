"""The contract of every estimator."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from volvelle.domains import check_fields
from volvelle.errors import MappingError
from volvelle.estimators.result import Estimate, TrainingEstimate, Violation
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep

Work = TypeVar("Work")
Decision = TypeVar("Decision")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking(Generic[Work, Decision]):
    """Candidates that can run, best first, and those that cannot."""

    best: tuple[Estimate[Work, Decision], ...]
    considered: int
    refused: tuple[Estimate[Work, Decision], ...]
    """The fastest that cannot run, if there is one."""

    @property
    def first(self) -> Estimate[Work, Decision]:
        """The best, or where none can run the one that would be."""
        return (self.best or self.refused)[0]


class Estimator(ABC, Generic[Work, Decision]):
    """Answers how a workload does on a system, by a decision: how it is laid out there.

    An estimator is a value: it keeps nothing between calls, reads no file, and gives the same answer to the same
    arguments. A decision that cannot run is answered too, with its violations.
    """

    @abstractmethod
    def estimate(self, workload: Work, system: Cluster, decision: Decision, /) -> Estimate[Work, Decision]:
        """How one decision does."""

    def ranked_by(self, candidates: Sequence[tuple[Work, Decision]], system: Cluster, /) -> Sequence[float]:
        """What candidates are ranked by, least first: seconds. One that knows a quicker way has its own."""
        return [self.estimate(work, system, decision).time for work, decision in candidates]

    def violations(self, workload: Work, system: Cluster, decision: Decision, /) -> tuple[Violation, ...]:
        """Why a decision cannot run. One that knows a quicker way has its own."""
        return self.estimate(workload, system, decision).violations

    def least(self, candidates: Sequence[tuple[Work, Decision]], system: Cluster, /) -> float:
        """What the first in order is ranked by: of those that can run, or of all if none can."""
        keys = self.ranked_by(candidates, system)
        able = [
            key
            for key, (work, decision) in zip(keys, candidates, strict=True)
            if not self.violations(work, system, decision)
        ]
        return float(min(able or keys))

    def rank(
        self, candidates: Iterable[tuple[Work, Decision]], system: Cluster, *, top: int = 8
    ) -> "Ranking[Work, Decision]":
        """All candidates in order, the first of them in full; of equal ones the earlier comes first."""
        choices = tuple(candidates)
        if not choices:
            raise MappingError("there is no candidate to choose from; name at least one")
        if len(choices) == 1:
            ((work, decision),) = choices
            only = (self.estimate(work, system, decision),)
            able_to = only[0].feasible
            return Ranking(best=only if able_to else (), considered=1, refused=() if able_to else only)
        keys = self.ranked_by(choices, system)
        able: list[tuple[Work, Decision]] = []
        unable: list[tuple[Work, Decision]] = []
        for place in sorted(range(len(choices)), key=lambda place: float(keys[place])):
            work, decision = choices[place]
            (unable if self.violations(work, system, decision) else able).append((work, decision))
        return Ranking(
            best=tuple(self.estimate(work, system, decision) for work, decision in able[:top]),
            considered=len(choices),
            refused=tuple(self.estimate(work, system, decision) for work, decision in unable[:1]),
        )


class TrainingEstimator(Estimator[TrainingStep, ParallelMapping]):
    """Answers how long a training step takes on a system, laid out by a mapping."""

    def __post_init__(self) -> None:
        """Of one that is a dataclass: refuse fields of another kind."""
        check_fields(self, type(self).__name__)

    @abstractmethod
    def estimate(self, workload: TrainingStep, system: Cluster, mapping: ParallelMapping, /) -> TrainingEstimate:
        """How one mapping does."""
