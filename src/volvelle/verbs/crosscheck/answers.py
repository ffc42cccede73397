"""Answers of several estimators to one question, and why they differ."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from volvelle.applications.training.evidence import RangeBasis, step_basis
from volvelle.estimators.flow_level.estimator import FlowFactor
from volvelle.estimators.result import Range, TrainingEstimate
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.presentable import Presentable
from volvelle.system.cluster import Cluster

TOLD = 0.01
"""Share of a step above which a difference is told with its causes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimatorTime:
    """What one estimator says of a step."""

    name: str
    time: float | None
    """Seconds; None: it has no answer."""
    refused: str = ""
    """Why it has none."""
    lines: Mapping[str, float]
    """Seconds that are exposed, by contribution."""
    range: Range | None = None
    """Where the time lies; None: it has no answer, or that was not asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceCause:
    """Why two answers differ, in seconds."""

    name: str
    why: str
    seconds: float
    """By how much the second answer is longer for it; negative: shorter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimatorDifference:
    """How one answer differs from another."""

    of: str
    against: str
    seconds: float
    """By how much the answer is longer."""
    share: float
    """Of the other answer."""
    causes: tuple[DifferenceCause, ...]
    """Of a difference above one percent, largest first; their seconds sum to it."""
    doubt: float | None = None
    """Half the range of the other answer, as a share of that answer; None: it has no range."""

    @property
    def of_doubt(self) -> float | None:
        """The difference over half the range: below one it is less than what is not known anyway."""
        return abs(self.share) / self.doubt if self.doubt else None

    @property
    def told(self) -> tuple[DifferenceCause, ...]:
        """Causes that make a tenth of a percent of the step or more."""
        if not self.causes:
            return ()
        enough = 0.1 * TOLD * abs(self.seconds / self.share)
        return tuple(cause for cause in self.causes if abs(cause.seconds) >= enough)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineAcross:
    """One contribution by every estimator."""

    name: str
    times: Mapping[str, float]

    @property
    def spread(self) -> float:
        """Seconds between the least and the most."""
        return max(self.times.values()) - min(self.times.values())


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CrossCheck(Presentable):
    """One step by several estimators."""

    model: str
    cluster: Cluster
    mapping: ParallelMapping
    estimate: TrainingEstimate
    """The closed form's."""
    answers: tuple[EstimatorTime, ...]
    differences: tuple[EstimatorDifference, ...]
    """Of each answer from the one that it refines."""
    flows: tuple[FlowFactor, ...] = ()
    """What links make of exchanges, where flows were asked for."""
    notes: tuple[str, ...] = ()

    @property
    def basis(self) -> RangeBasis | None:
        """What ranges rest on; None: there are none."""
        if all(answer.range is None for answer in self.answers):
            return None
        return step_basis(self.cluster, self.estimate.workload, self.mapping)

    @property
    def system(self) -> str:
        """The machine's name."""
        return self.cluster.name

    @property
    def layout(self) -> Mapping[str, object]:
        """Every choice by the words of the command line."""
        return self.mapping.described()

    @property
    def times(self) -> Mapping[str, float]:
        """Estimator → seconds, of those that answer."""
        return {answer.name: answer.time for answer in self.answers if answer.time is not None}

    @property
    def lines(self) -> tuple[LineAcross, ...]:
        """Contributions by estimator, those that differ most first."""
        answered = [answer for answer in self.answers if answer.time is not None]
        names = dict.fromkeys(name for answer in answered for name in answer.lines)
        found = [
            LineAcross(name=name, times={answer.name: answer.lines.get(name, 0.0) for answer in answered})
            for name in names
        ]
        return tuple(sorted(found, key=lambda line: -line.spread))

    def differing(self) -> Iterator[LineAcross]:
        """Contributions that differ by a thousandth of the step or more."""
        enough = 0.1 * TOLD * max(self.times.values(), default=0.0)
        return (line for line in self.lines if line.spread >= enough > 0.0)

    def difference(self, of: str, against: str) -> EstimatorDifference | None:
        """How one answer differs from another; None: one of them was not asked for, or has no answer."""
        return next((found for found in self.differences if (found.of, found.against) == (of, against)), None)
