"""Predictions held against measured rows of any kind: scores by split and publication, worst first."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar, get_args

import numpy as np

from volvelle.applications.measured_table import RowHead
from volvelle.applications.training.measurements import TrainingSplit, UnreadRow

__all__ = [
    "SPLITS_IN_ORDER",
    "RowScore",
    "RowValidation",
    "ScoredRow",
    "SkippedRow",
    "row_document",
    "score",
    "score_numbers",
    "scores_by_group",
]

SPLITS_IN_ORDER: tuple[TrainingSplit, ...] = (
    "given",
    "heldout",
    "heldout_interp",
    "heldout_secondary",
    "calibration",
    "calibration_noisy",
    "excluded",
)
"""As tables show them: a user's own rows, then held-out ones."""
assert set(SPLITS_IN_ORDER) == set(get_args(TrainingSplit))


class _Scored(Protocol):
    """A measured value with a prediction."""

    @property
    def error(self) -> float: ...

    @property
    def inside(self) -> bool | None: ...


Scored = TypeVar("Scored", bound=_Scored)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRow:
    """A row with its prediction."""

    head: RowHead
    label: str
    """The system and its size, for people."""
    measured: float
    predicted: float
    low: float
    high: float
    assumed: tuple[str, ...] = ()
    """What the row does not state."""
    outside_calibration: tuple[str, ...] = ()
    """In which ways its machine is outside_calibration those fitted."""

    @property
    def error(self) -> float:
        """Relative to what was measured."""
        return self.predicted / self.measured - 1.0

    @property
    def inside(self) -> bool:
        """Whether what was measured lies between low and high."""
        return self.low <= self.measured <= self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedRow:
    """A row that could not be predicted, and why."""

    row_id: str
    group: str
    split: TrainingSplit
    reason: str

    @classmethod
    def of(cls, row: RowHead | UnreadRow, reason: str) -> "SkippedRow":
        """A row and the reason."""
        return cls(row_id=row.row_id, group=row.group, split=row.split, reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowScore:
    """How far off some rows are; the errors are NaN where there are none."""

    rows: int
    skipped: int
    median_abs_error: float
    mean_abs_error: float
    bias: float
    """Mean of the signed errors."""
    coverage: float
    """Share of the rows with an interval that lie in it."""
    group: str = ""
    split: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowValidation:
    """All rows of one kind, scored or skipped."""

    quantity: str
    """What is measured and predicted, with its unit."""
    rows: tuple[ScoredRow, ...]
    skipped: tuple[SkippedRow, ...] = ()

    @property
    def splits(self) -> tuple[TrainingSplit, ...]:
        """The splits there are, held-out first."""
        present = {each.head.split for each in self.rows} | {each.split for each in self.skipped}
        return tuple(split for split in SPLITS_IN_ORDER if split in present)

    def overall(self, split: TrainingSplit | None = None) -> RowScore:
        """Over all rows of a split, or of all of them."""
        rows = [each for each in self.rows if split in (None, each.head.split)]
        skipped = sum(split in (None, each.split) for each in self.skipped)
        return score(rows, skipped=skipped, split=split or "")

    def groups(self) -> tuple[RowScore, ...]:
        """By split and publication, worst first within a split."""
        return scores_by_group([(each.head.split, each.head.group, each) for each in self.rows], self.skipped)

    def worst_first(self) -> tuple[ScoredRow, ...]:
        """All scored rows, furthest off first."""
        return tuple(sorted(self.rows, key=lambda each: -abs(each.error)))

    def reasons(self) -> dict[str, int]:
        """Skipped rows by reason, most frequent first."""
        found: dict[str, int] = {}
        for each in self.skipped:
            found[each.reason] = found.get(each.reason, 0) + 1
        return dict(sorted(found.items(), key=lambda item: -item[1]))


def scores_by_group(
    rows: Iterable[tuple[TrainingSplit, str, Scored]], skipped: Iterable[SkippedRow]
) -> tuple[RowScore, ...]:
    """One score a split and publication of rows: splits in order, worst first, unscored last."""
    scored: dict[tuple[TrainingSplit, str], list[Scored]] = {}
    for split, group, row in rows:
        scored.setdefault((split, group), []).append(row)
    left: dict[tuple[TrainingSplit, str], int] = {}
    for one in skipped:
        left[one.split, one.group] = left.get((one.split, one.group), 0) + 1
    found = [
        score(scored.get(key, []), skipped=left.get(key, 0), split=key[0], group=key[1])
        for key in dict.fromkeys((*scored, *left))
    ]
    places: dict[str, int] = {split: place for place, split in enumerate(SPLITS_IN_ORDER)}
    return tuple(sorted(found, key=lambda each: (places[each.split], -np.nan_to_num(each.median_abs_error, nan=-1.0))))


def score(rows: Sequence[_Scored], *, skipped: int = 0, split: str = "", group: str = "") -> RowScore:
    """Median, mean and signed mean of the relative errors of some rows."""
    errors = np.array([each.error for each in rows]) if rows else np.array([np.nan])
    inside = [each.inside for each in rows if each.inside is not None]
    return RowScore(
        rows=len(rows),
        skipped=skipped,
        median_abs_error=float(np.median(np.abs(errors))),
        mean_abs_error=float(np.mean(np.abs(errors))),
        bias=float(np.mean(errors)),
        coverage=float(np.mean(inside)) if inside else float("nan"),
        split=split,
        group=group,
    )


def row_document(found: RowValidation) -> dict[str, object]:
    """A validation as plain values, for JSON: numbers that are none are None."""
    return {
        "unit": found.quantity,
        "overall": {
            **score_numbers(found.overall()),
            **{str(split): score_numbers(found.overall(split)) for split in found.splits},
        },
        "groups": [{"group": each.group, "split": each.split, **score_numbers(each)} for each in found.groups()],
        "rows": [
            {
                "row_id": each.head.row_id,
                "group": each.head.group,
                "split": each.head.split,
                "label": each.label,
                "measured": each.measured,
                "predicted": each.predicted,
                "low": each.low,
                "high": each.high,
                "error": each.error,
                "assumed": list(each.assumed),
                "outside_calibration": list(each.outside_calibration),
                "source": each.head.source,
            }
            for each in found.worst_first()
        ],
        "skipped": [
            {"row_id": each.row_id, "group": each.group, "split": each.split, "reason": each.reason}
            for each in found.skipped
        ],
    }


def score_numbers(found: RowScore) -> dict[str, object]:
    """A score as plain values, for JSON: numbers that are none are None."""
    errors = ("median_abs_error", "mean_abs_error", "bias", "coverage")
    values = {name: float(getattr(found, name)) for name in errors}
    return {
        "rows": found.rows,
        "skipped": found.skipped,
        **{name: None if np.isnan(value) else value for name, value in values.items()},
    }
