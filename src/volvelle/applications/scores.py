"""Predictions held against measured rows of any kind: scores by split and publication, worst first."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.measured_table import Headed, RowHead, Split, UnreadRow
from volvelle.estimators.result import Estimate
from volvelle.quantities import Quantity

SPLITS_IN_ORDER: tuple[Split, ...] = (
    "given",
    "heldout",
    "heldout_interp",
    "heldout_secondary",
    "calibration",
    "calibration_noisy",
    "excluded",
)
"""As tables show them: a user's own rows, then held-out ones."""
assert set(SPLITS_IN_ORDER) == set(get_args(Split))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRow:
    """A row with its prediction."""

    row: Headed
    label: str
    """The system and its size, for people."""
    measured: float
    predicted: float
    low: float | None = None
    high: float | None = None
    estimate: Estimate[Any, Any] | None = None
    """All that the model says of it."""
    assumed: tuple[str, ...] = ()
    """What the row does not state."""
    outside_calibration: tuple[str, ...] = ()
    """In which ways its machine is unlike those fitted."""
    within: Mapping[str, str] = field(default_factory=dict)
    """What tells rows of one publication apart in scores, by name."""
    details: Mapping[str, object] = field(default_factory=dict)
    """What else JSON says of it."""

    @property
    def head(self) -> RowHead:
        """What every row states."""
        return self.row.head

    @property
    def violations(self) -> tuple[str, ...]:
        """Why the model would have refused the run: it was run, so these are the model's errors too."""
        return () if self.estimate is None else tuple(violation.name for violation in self.estimate.violations)

    @property
    def error(self) -> float:
        """Relative to what was measured; above zero where the prediction is too large."""
        return self.predicted / self.measured - 1.0

    @property
    def inside(self) -> bool | None:
        """Whether what was measured lies between low and high; None without them."""
        return None if self.low is None or self.high is None else self.low <= self.measured <= self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedRow:
    """A row that could not be predicted, and why."""

    row_id: str
    group: str
    split: Split
    reason: str
    within: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, row: RowHead | UnreadRow, reason: str, within: Mapping[str, str] | None = None) -> "SkippedRow":
        """A row and the reason."""
        return cls(row_id=row.row_id, group=row.group, split=row.split, reason=reason, within=within or {})


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
    within: Mapping[str, str] = field(default_factory=dict)

    def numbers(self) -> dict[str, float]:
        """Rows and errors, as JSON names them."""
        return {name: getattr(self, name) for name in ("rows", "median_abs_error", "mean_abs_error", "bias")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What else a validation shows: a section of its JSON, and the same for people."""

    key: str
    value: object
    """As plain values."""
    lines: tuple[str, ...] = ()
    """Said before the tables."""
    title: str = ""
    """Of a table; empty: there is none."""
    words: tuple[str, ...] = ()
    """Its columns of words."""
    numbers: tuple[str, ...] = ()
    """Its columns of numbers."""
    cells: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCurve:
    """A figure of one run over time, as it was measured and as the model has it."""

    title: str
    """Of the run."""
    name: str
    """Of the figure, with its unit."""
    moments: tuple[float, ...]
    """Seconds since the run began."""
    measured: tuple[float, ...]
    predicted: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCurves:
    """A picture that a plan offers: lines of one figure over something that varies."""

    title: str
    about: str
    x_title: str
    places: tuple[float, ...]
    lines: Mapping[str, tuple[float, ...]]
    kind: Quantity | None
    """Of the figure; None: a plain number, which `y_title` names."""
    y_title: str = ""
    doublings: bool = False
    """Whether places double from one to the next, and lie as far apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowValidation:
    """All rows of one kind, scored or skipped."""

    unit: str
    """What is measured and predicted, with its unit."""
    rows: tuple[ScoredRow, ...]
    skipped: tuple[SkippedRow, ...] = ()

    @property
    def splits(self) -> tuple[Split, ...]:
        """The splits there are, held-out first."""
        present = {row.head.split for row in self.rows} | {row.split for row in self.skipped}
        return tuple(split for split in SPLITS_IN_ORDER if split in present)

    def overall(self, split: Split | None = None) -> RowScore:
        """Over all rows of a split, or of all of them."""
        rows = [row for row in self.rows if split in (None, row.head.split)]
        skipped = sum(split in (None, row.split) for row in self.skipped)
        return score(rows, skipped=skipped, split=split or "")

    def groups(self) -> tuple[RowScore, ...]:
        """By split, publication and what tells its rows apart: splits in order, worst first, unscored last."""
        scored: dict[tuple[str, ...], list[ScoredRow]] = {}
        names: dict[tuple[str, ...], Mapping[str, str]] = {}
        skipped: dict[tuple[str, ...], int] = {}
        for row in self.rows:
            key = (row.head.split, row.head.group, *row.within.values())
            names[key] = row.within
            scored.setdefault(key, []).append(row)
        for left in self.skipped:
            key = (left.split, left.group, *left.within.values())
            names[key] = left.within
            skipped[key] = skipped.get(key, 0) + 1
        scores = [
            score(scored.get(key, []), skipped=skipped.get(key, 0), split=key[0], group=key[1], within=names[key])
            for key in dict.fromkeys((*scored, *skipped))
        ]
        places: dict[str, int] = {split: place for place, split in enumerate(SPLITS_IN_ORDER)}
        return tuple(
            sorted(scores, key=lambda group: (places[group.split], -np.nan_to_num(group.median_abs_error, nan=-1.0)))
        )

    def only(self, group: str) -> "RowValidation":
        """Rows of the publications whose names start like that."""
        return RowValidation(
            unit=self.unit,
            rows=tuple(row for row in self.rows if row.head.group.startswith(group)),
            skipped=tuple(row for row in self.skipped if row.group.startswith(group)),
        )

    def worst_first(self) -> tuple[ScoredRow, ...]:
        """All scored rows, furthest off first."""
        return tuple(sorted(self.rows, key=lambda row: -abs(row.error)))

    def reasons(self) -> dict[str, dict[str, int]]:
        """Skipped rows by reason, most frequent first, each by split."""
        counts: dict[str, dict[str, int]] = {}
        for row in self.skipped:
            by_split = counts.setdefault(row.reason, {})
            by_split[row.split] = by_split.get(row.split, 0) + 1
        return dict(sorted(counts.items(), key=lambda item: -sum(item[1].values())))


ENOUGH_SYSTEMS = 8
"""Held-out systems below which a score says nothing of others."""


def heldout_systems(validation: RowValidation) -> Finding:
    """Of rows that are split by system: how many were held out, and whether that is enough to speak of accuracy."""
    systems = {row.within["system"] for row in validation.rows if row.head.split == "heldout"}
    enough = len(systems) >= ENOUGH_SYSTEMS
    counted = f"{len(systems)} system{'' if len(systems) == 1 else 's'}"
    doubt = "" if enough else f", fewer than {ENOUGH_SYSTEMS}: no accuracy is claimed"
    return Finding(
        key="heldout_systems",
        value={"systems": sorted(systems), "enough": enough},
        lines=(f"held-out rows are of {counted}{doubt}",),
    )


def error_numbers(errors: NDArray[np.float64]) -> dict[str, float]:
    """Median and mean of relative errors, and their mean with sign."""
    return {
        "median_abs_error": float(np.median(np.abs(errors))),
        "mean_abs_error": float(np.mean(np.abs(errors))),
        "bias": float(np.mean(errors)),
    }


def score(
    rows: Iterable[ScoredRow],
    *,
    skipped: int = 0,
    split: str = "",
    group: str = "",
    within: Mapping[str, str] | None = None,
) -> RowScore:
    """Median, mean and signed mean of the relative errors of some rows."""
    scored: Sequence[ScoredRow] = tuple(rows)
    errors = np.array([row.error for row in scored] or [np.nan])
    inside = [row.inside for row in scored if row.inside is not None]
    return RowScore(
        rows=len(scored),
        skipped=skipped,
        **error_numbers(errors),
        coverage=float(np.mean(inside)) if inside else float("nan"),
        split=split,
        group=group,
        within=within or {},
    )
