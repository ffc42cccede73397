"""Headline figures of a training step: time, throughput, utilisation and memory, each with its range."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from volvelle.errors import MissingFigureError
from volvelle.estimators.result import RangedFigure, TrainingEstimate, Violation


class WithStepFigures(ABC):
    """An answer with the figures of one training step."""

    __slots__ = ()

    @abstractmethod
    def _timed(self) -> TrainingEstimate:
        """Return the estimate of a layout that can exist, or raise an error if there is none."""

    @abstractmethod
    def _held(self) -> TrainingEstimate:
        """Return the estimate whose memory is known."""

    @property
    def time(self) -> RangedFigure:
        """Seconds per step."""
        found = self._timed()
        return RangedFigure(value=found.time, range=found.time_range, unit="s")

    @property
    def throughput(self) -> RangedFigure:
        """Tokens per second of the whole machine."""
        return self.time.inverse(self._timed().tokens_per_second, "tokens/s")

    @property
    def utilisation(self) -> RangedFigure:
        """Model FLOPs utilisation (MFU), as a share of 1."""
        return self.time.inverse(self._timed().utilisation, "ratio")

    @property
    def memory(self) -> RangedFigure:
        """Bytes on the fullest GPU."""
        found = self._held()
        return RangedFigure(value=found.memory_bytes, range=found.ranges.get("memory"), unit="B")


def no_such_step(violations: Sequence[Violation]) -> MissingFigureError:
    """Return the error that an answer without a step raises."""
    return MissingFigureError(
        "the answer has no time, because there is no such layout: "
        + "; ".join(violation.problem for violation in violations)
    )
