"""A step on sampled machines at every point of a slice: what quantiles of its time and memory are taken of.

Samples are those of `estimate` and `map`: numbers of the machine within their spreads, and the model by its own error.
They are drawn where a quantile is asked for, and nowhere else.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import e, log
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.result import Range
from volvelle.estimators.sampler import Column, Stratified
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.estimators.uncertainty import MODEL, UnderUncertainty, model_error_column, range_of
from volvelle.mapping.parallelism import MappingTable
from volvelle.spread import log_normal, model_reach
from volvelle.studies.mapped.mapping_range import LEVEL, SAMPLES
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep


class Drawn(Protocol):
    """A step on every sample, at one point."""

    @property
    def time(self) -> Column:
        """Seconds."""

    @property
    def memory(self) -> Column | None:
        """Bytes on the fullest chip; None: nothing is known of how far they are off."""

    @property
    def sufficient(self) -> Column | None:
        """How likely memory suffices; None: likewise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSamples:
    """Steps at points (rows) on every sample (columns); not a number where a point cannot run."""

    time: Column
    memory: Column | None = None
    """None: at some point nothing is known of how far it is off."""
    sufficient: Column | None = None
    """How likely memory suffices; None: likewise."""
    stated: Sequence[Range | None] = ()
    """Ranges that samples were made of, where it is not the other way round."""

    @property
    def deviation(self) -> Column:
        """One standard deviation of the logarithm of the time, at every point."""
        return np.asarray(np.std(np.log(self.time), axis=1))

    def range(self, row: int) -> Range | None:
        """Where the time of a point lies; None: nobody says."""
        if self.stated:
            return self.stated[row]
        return range_of(self.time[row], level=LEVEL, varied=(MODEL,))

    @classmethod
    def of(cls, points: Sequence[Drawn | None]) -> "StepSamples":
        """Of points; None: one cannot run."""
        held = all(point is None or point.memory is not None for point in points)
        return cls(
            time=_stacked([None if point is None else point.time for point in points]),
            memory=_stacked([None if point is None else point.memory for point in points]) if held else None,
            sufficient=_stacked([None if point is None else point.sufficient for point in points]) if held else None,
        )


def _stacked(columns: Sequence[Column | None]) -> Column:
    blank = np.full(SAMPLES, np.nan)
    return np.stack([blank if column is None else np.asarray(column, dtype=float) for column in columns])


class DrawnOnce:
    """Samples that are drawn when they are first called for, by a function that a module has, and kept."""

    def __init__(self, draw: Callable[..., StepSamples], *given: object) -> None:
        self._draw, self._given = draw, given

    @cached_property
    def _found(self) -> StepSamples:
        return self._draw(*self._given)

    def __call__(self) -> StepSamples:
        """The samples."""
        return self._found


def training_samples(
    step: TrainingStep, cluster: Cluster, layouts: MappingTable, runs: NDArray[np.bool_]
) -> StepSamples:
    """Steps of training by a layout at each point."""
    doubted = UnderUncertainty(estimator=ClosedForm(), samples=SAMPLES)
    return StepSamples.of(
        [
            doubted.with_samples(step, cluster.row(row), layouts.row(row))[1] if able else None
            for row, able in enumerate(runs)
        ]
    )


def ranged_samples(times: Sequence[float], ranges: Sequence[Range | None]) -> StepSamples:
    """Steps of which a range is known: its ends at their quantiles, and tails as those of a model's error."""

    def column(time: float, stated: Range | None) -> Column | None:
        if stated is None:
            return None
        reach = np.log(model_error_column(e, Stratified(SAMPLES))) / model_reach(stated.level)
        return np.asarray(time * np.where(reach > 0, stated.high / time, time / stated.low) ** reach)

    pairs = zip(times, ranges, strict=True)
    return StepSamples(time=_stacked([column(*pair) for pair in pairs]), stated=tuple(ranges))


def paced_samples(time: Column, factor: float) -> StepSamples:
    """Steps at a pace that was measured, one standard deviation of it being a factor; nobody says what they hold."""
    return StepSamples(time=log_normal(time[:, None], log(factor), Stratified(SAMPLES).column(MODEL)))
