"""Predictions held against measured rows of any kind: scores by split and publication, worst first."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from volvelle.catalogue.measured_table import RowHead
from volvelle.catalogue.training_measurements import TrainingSplit, UnreadRow

__all__ = ["RowScore", "RowValidation", "ScoredRow", "SkippedRow", "row_document"]

_ORDER: tuple[TrainingSplit, ...] = (
    "heldout",
    "heldout_interp",
    "heldout_secondary",
    "calibration",
    "calibration_noisy",
    "given",
    "excluded",
)


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
    """Share of the rows that lie in their interval."""
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
        return tuple(split for split in _ORDER if split in present)

    def overall(self, split: TrainingSplit | None = None) -> RowScore:
        """Over all rows of a split, or of all of them."""
        rows = [each for each in self.rows if split in (None, each.head.split)]
        skipped = sum(split in (None, each.split) for each in self.skipped)
        return _score(rows, skipped, split=split or "")

    def groups(self) -> tuple[RowScore, ...]:
        """By split and publication, worst first within a split."""
        keys = dict.fromkeys(
            [(each.head.split, each.head.group) for each in self.rows]
            + [(each.split, each.group) for each in self.skipped]
        )
        found = []
        for split, group in keys:
            rows = [each for each in self.rows if (each.head.split, each.head.group) == (split, group)]
            skipped = sum((each.split, each.group) == (split, group) for each in self.skipped)
            found.append(_score(rows, skipped, split=split, group=group))
        places: dict[str, int] = {split: place for place, split in enumerate(_ORDER)}
        return tuple(
            sorted(found, key=lambda each: (places[each.split], -np.nan_to_num(each.median_abs_error, nan=-1.0)))
        )

    def worst_first(self) -> tuple[ScoredRow, ...]:
        """All scored rows, furthest off first."""
        return tuple(sorted(self.rows, key=lambda each: -abs(each.error)))

    def reasons(self) -> dict[str, int]:
        """Skipped rows by reason, most frequent first."""
        found: dict[str, int] = {}
        for each in self.skipped:
            found[each.reason] = found.get(each.reason, 0) + 1
        return dict(sorted(found.items(), key=lambda item: -item[1]))


def _score(rows: Sequence[ScoredRow], skipped: int, *, split: str = "", group: str = "") -> RowScore:
    errors = np.array([each.error for each in rows]) if rows else np.array([np.nan])
    return RowScore(
        rows=len(rows),
        skipped=skipped,
        median_abs_error=float(np.median(np.abs(errors))),
        mean_abs_error=float(np.mean(np.abs(errors))),
        bias=float(np.mean(errors)),
        coverage=float(np.mean([each.inside for each in rows])) if rows else float("nan"),
        split=split,
        group=group,
    )


def row_document(found: RowValidation) -> dict[str, object]:
    """A validation as plain values, for JSON: numbers that are none are None."""
    return {
        "unit": found.quantity,
        "overall": {
            **_numbers(found.overall()),
            **{str(split): _numbers(found.overall(split)) for split in found.splits},
        },
        "groups": [{"group": each.group, "split": each.split, **_numbers(each)} for each in found.groups()],
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
                "source": each.head.source,
            }
            for each in found.worst_first()
        ],
        "skipped": [
            {"row_id": each.row_id, "group": each.group, "split": each.split, "reason": each.reason}
            for each in found.skipped
        ],
    }


def _numbers(found: RowScore) -> dict[str, object]:
    errors = ("median_abs_error", "mean_abs_error", "bias", "coverage")
    values = {name: float(getattr(found, name)) for name in errors}
    return {
        "rows": found.rows,
        "skipped": found.skipped,
        **{name: None if np.isnan(value) else value for name, value in values.items()},
    }
