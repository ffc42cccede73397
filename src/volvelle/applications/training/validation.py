"""An estimator held against every measured training run.

Rows are scored apart by split: constants may be fitted to calibration rows, held-out rows are only ever reported.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import get_args

import numpy as np

from volvelle.applications.scores import SPLITS_IN_ORDER, RowScore, SkippedRow, score, score_numbers, scores_by_group
from volvelle.applications.training.measurements import (
    TrainingMeasurement,
    TrainingMeasurements,
    TrainingSplit,
    training_measurements,
)
from volvelle.applications.training.rows import Question, question
from volvelle.catalogue import Catalogue
from volvelle.errors import VolvelleError
from volvelle.estimators.contract import AbstractEstimator
from volvelle.estimators.result import Estimate
from volvelle.estimators.training.closed_form import ClosedForm

__all__ = [
    "ScoredRun",
    "TrainingValidation",
    "training_document",
    "validate_training",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRun:
    """One measured run and what the estimator says."""

    row: TrainingMeasurement
    asked: Question
    measured: float
    """Seconds a step."""
    predicted: float
    low: float | None
    high: float | None
    violations: tuple[str, ...]
    """Why the estimator would have refused the run: it was run, so these are the estimator's errors too."""

    @property
    def error(self) -> float:
        """Relative to what was measured; above zero where the estimator is too slow."""
        return self.predicted / self.measured - 1.0

    @property
    def inside(self) -> bool | None:
        """Whether what was measured lies between low and high; None without them."""
        return None if self.low is None or self.high is None else self.low <= self.measured <= self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingValidation:
    """All rows, scored or skipped."""

    rows: tuple[ScoredRun, ...]
    skipped: tuple[SkippedRow, ...] = field(default=())

    @property
    def splits(self) -> tuple[TrainingSplit, ...]:
        """The splits there are, held-out first."""
        present = {each.row.split for each in self.rows} | {each.split for each in self.skipped}
        return tuple(split for split in SPLITS_IN_ORDER if split in present)

    def overall(self, split: TrainingSplit | None = None) -> RowScore:
        """Over all rows of a split, or of all of them."""
        rows = [each for each in self.rows if split in (None, each.row.split)]
        skipped = sum(split in (None, each.split) for each in self.skipped)
        return score(rows, skipped=skipped, split=split or "")

    def groups(self) -> tuple[RowScore, ...]:
        """One score a publication and split: held-out first, worst first, unscored last."""
        return scores_by_group([(each.row.split, each.row.group, each) for each in self.rows], self.skipped)

    def worst_first(self) -> tuple[ScoredRun, ...]:
        """All scored rows, furthest off first."""
        return tuple(sorted(self.rows, key=lambda each: -abs(each.error)))

    def only(self, group: str) -> "TrainingValidation":
        """Rows of the groups whose names start like that."""
        return TrainingValidation(
            rows=tuple(each for each in self.rows if each.row.group.startswith(group)),
            skipped=tuple(each for each in self.skipped if each.group.startswith(group)),
        )

    def reasons(self) -> dict[str, dict[str, int]]:
        """Skipped rows by reason, most frequent first, each by split."""
        found: dict[str, dict[str, int]] = {}
        for each in self.skipped:
            by_split = found.setdefault(each.reason, {})
            by_split[each.split] = by_split.get(each.split, 0) + 1
        return dict(sorted(found.items(), key=lambda item: -sum(item[1].values())))


def training_document(found: TrainingValidation) -> dict[str, object]:
    """A validation as plain values, for JSON: numbers that are none are None."""
    return {
        "unit": "seconds per step",
        "overall": {
            **score_numbers(found.overall()),
            **{str(split): score_numbers(found.overall(split)) for split in found.splits},
        },
        "groups": [{"group": each.group, "split": each.split, **score_numbers(each)} for each in found.groups()],
        "rows": [
            {
                "row_id": each.row.row_id,
                "group": each.row.group,
                "split": each.row.split,
                "measured": each.measured,
                "predicted": each.predicted,
                "low": each.low,
                "high": each.high,
                "error": each.error,
                "assumed": list(each.asked.assumed),
                "violations": list(each.violations),
                "source": each.row.source,
            }
            for each in found.worst_first()
        ],
        "skipped": [
            {"row_id": each.row_id, "group": each.group, "split": each.split, "reason": each.reason}
            for each in found.skipped
        ],
    }


def validate_training(
    measured: TrainingMeasurements | None = None,
    *,
    estimator: AbstractEstimator | None = None,
    catalogue: Catalogue | None = None,
    interval: tuple[float, float] | None = None,
    splits: Iterable[TrainingSplit] | None = None,
    advance: Callable[[], None] | None = None,
) -> TrainingValidation:
    """Predict every row that can be, and say of every other why not.

    Low and high are the estimator's own range where it gives one (:class:`volvelle.UnderUncertainty` does), or
    `interval` times the prediction, such as ``(0.85, 1.2)``. With `splits`, other rows are left out altogether.
    `advance` is called after every row.
    """
    measured = training_measurements() if measured is None else measured
    estimator = ClosedForm() if estimator is None else estimator
    catalogue = Catalogue() if catalogue is None else catalogue
    wanted = set(get_args(TrainingSplit) if splits is None else splits)
    scored: list[ScoredRun] = []
    skipped = [
        SkippedRow(row_id=row.row_id, group=row.group, split=row.split, reason=row.reason)
        for row in measured.unread
        if row.split in wanted
    ]
    for row in measured.rows:
        if row.split in wanted:
            found = _scored(row, estimator, catalogue, interval)
            if isinstance(found, ScoredRun):
                scored.append(found)
            else:
                skipped.append(found)
        if advance is not None:
            advance()
    return TrainingValidation(rows=tuple(scored), skipped=tuple(skipped))


def _scored(
    row: TrainingMeasurement,
    estimator: AbstractEstimator,
    catalogue: Catalogue,
    interval: tuple[float, float] | None,
) -> ScoredRun | SkippedRow:
    asked = question(row, catalogue)
    if isinstance(asked, str):
        return SkippedRow(row_id=row.row_id, group=row.group, split=row.split, reason=asked)
    try:
        answer = estimator.estimate(asked.step, asked.cluster, asked.mapping)
    except VolvelleError as error:
        return SkippedRow(row_id=row.row_id, group=row.group, split=row.split, reason=f"the estimator refuses: {error}")
    assert row.seconds is not None, "a row without a time puts no question"
    if not np.isfinite(answer.time) or answer.time <= 0:
        return SkippedRow(row_id=row.row_id, group=row.group, split=row.split, reason="the estimator gives no time")
    low, high = _bounds(answer, interval)
    return ScoredRun(
        row=row,
        asked=asked,
        measured=row.seconds,
        predicted=answer.time,
        low=low,
        high=high,
        violations=tuple(violation.name for violation in answer.violations),
    )


def _bounds(answer: Estimate, interval: tuple[float, float] | None) -> Iterator[float | None]:
    if interval is not None:
        return (factor * answer.time for factor in interval)
    found = answer.time_range
    return iter((None, None) if found is None else (found.low, found.high))
