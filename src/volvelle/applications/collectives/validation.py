"""The model with the catalogue's frozen constants, held against every measured collective."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from volvelle.applications.collectives.measurements import CollectiveMeasurement, Split, collective_measurements
from volvelle.applications.collectives.prediction import Clusters, predicted, series_of, why_unusable
from volvelle.catalogue import Catalogue

__all__ = ["LONG", "TARGET", "CollectiveValidation", "Score", "ScoredRow", "SkippedRow", "validate_collectives"]

TARGET = 0.15
"""Median absolute error on held-out rows that was asked for, above LONG."""
LONG = 1e6
"""Messages of more bytes are long; below, launching decides and libraries differ most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRow:
    """One measured row and what the model says."""

    row: CollectiveMeasurement
    size: float
    measured: float
    predicted: float

    @property
    def error(self) -> float:
        """Relative to what was measured; above zero where the model is too slow."""
        return float(self.predicted / self.measured - 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedRow:
    """A row that the model cannot be held against, and why."""

    row: CollectiveMeasurement
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How far off the model is on some rows."""

    rows: int
    median_abs_error: float
    mean_abs_error: float
    bias: float
    """Mean of the signed errors."""
    group: str = ""
    split: str = ""
    system: str = ""
    operation: str = ""
    skipped: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveValidation:
    """All rows, scored or skipped."""

    rows: tuple[ScoredRow, ...]
    skipped: tuple[SkippedRow, ...]

    def overall(self, split: Split, *, above: float = LONG) -> Score:
        """Over all rows of a split that are longer than that."""
        return _score([row for row in self.rows if row.row.split == split and row.size > above], split=split)

    def groups(self, *, above: float = LONG) -> tuple[Score, ...]:
        """One score a publication, split, system and operation: held-out first, worst first."""
        scored: dict[tuple[str, ...], list[ScoredRow]] = {}
        for row in self.rows:
            if row.size > above:
                scored.setdefault(_key(row.row), []).append(row)
        skipped: dict[tuple[str, ...], int] = {}
        for each in self.skipped:
            skipped[_key(each.row)] = skipped.get(_key(each.row), 0) + 1
        found = []
        for key in dict.fromkeys((*scored, *skipped)):
            split, group, system, operation = key
            found.append(
                _score(
                    scored.get(key, []),
                    split=split,
                    group=group,
                    system=system,
                    operation=operation,
                    skipped=skipped.get(key, 0),
                )
            )
        order = {"heldout": 0, "calibration": 1, "excluded": 2}
        return tuple(sorted(found, key=lambda score: (order[score.split], -np.nan_to_num(score.median_abs_error))))

    def worst(self, count: int, *, above: float = LONG) -> tuple[ScoredRow, ...]:
        """The held-out rows furthest off."""
        rows = [row for row in self.rows if row.row.split == "heldout" and row.size > above]
        return tuple(sorted(rows, key=lambda row: -abs(row.error))[:count])


def validate_collectives(
    rows: Iterable[CollectiveMeasurement] | None = None, *, catalogue: Catalogue | None = None
) -> CollectiveValidation:
    """Predict every usable row, and say of every other why not."""
    usable: list[CollectiveMeasurement] = []
    skipped: list[SkippedRow] = []
    for row in collective_measurements() if rows is None else rows:
        reason = why_unusable(row)
        if reason is None:
            usable.append(row)
        else:
            skipped.append(SkippedRow(row=row, reason=reason))
    scored = [
        ScoredRow(row=row, size=float(size), measured=float(measured), predicted=float(time))
        for series in series_of(usable, Clusters(catalogue or Catalogue()))
        for row, size, measured, time in zip(series.rows, series.sizes, series.times, predicted(series), strict=True)
    ]
    return CollectiveValidation(rows=tuple(scored), skipped=tuple(skipped))


def _key(row: CollectiveMeasurement) -> tuple[str, ...]:
    return (row.split, row.group, row.system, row.operation)


def _score(
    rows: Sequence[ScoredRow],
    *,
    split: str = "",
    group: str = "",
    system: str = "",
    operation: str = "",
    skipped: int = 0,
) -> Score:
    errors = np.array([row.error for row in rows]) if rows else np.array([np.nan])
    return Score(
        rows=len(rows),
        median_abs_error=float(np.median(np.abs(errors))),
        mean_abs_error=float(np.mean(np.abs(errors))),
        bias=float(np.mean(errors)),
        split=split,
        group=group,
        system=system,
        operation=operation,
        skipped=skipped,
    )
