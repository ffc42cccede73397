"""Whether an estimator picks good layouts: runs that differ only in how they were laid out, ranked and compared.

An estimator that is uniformly too fast may still choose well, and one with small errors may choose badly; so what its
first choice costs is held against the best that was measured.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from volvelle.applications.training.measurements import TrainingSplit
from volvelle.applications.training.validation import ScoredRun, TrainingValidation

__all__ = [
    "LAYOUT_GROUPS",
    "Contest",
    "LayoutScore",
    "layout_document",
    "layout_score",
    "ranks",
    "spearman",
    "validate_layouts",
]

LAYOUT_GROUPS = ("vtrain-single", "vtrain-multi")
"""Publications that time one model in many layouts."""
_LEAST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """Runs of one model on one machine with one batch that differ only in their layout."""

    runs: tuple[ScoredRun, ...]

    @property
    def name(self) -> str:
        """What the runs share."""
        row = self.runs[0].row
        return f"{row.layers} layers of {row.hidden}, {row.chips} × {row.accelerator}, batch {row.global_batch}"

    @property
    def group(self) -> str:
        """The publication."""
        return self.runs[0].row.group

    @property
    def chosen(self) -> ScoredRun:
        """The run the estimator ranks first."""
        return min(self.runs, key=lambda run: run.predicted)

    @property
    def best(self) -> ScoredRun:
        """The run that was the fastest."""
        return min(self.runs, key=lambda run: run.measured)

    @property
    def regret(self) -> float:
        """How much slower the estimator's first choice ran than the fastest."""
        return self.chosen.measured / self.best.measured - 1.0

    @property
    def rank_correlation(self) -> float:
        """Spearman's, between predicted and measured times."""
        return spearman([run.predicted for run in self.runs], [run.measured for run in self.runs])


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutScore:
    """How well an estimator chooses over some contests; NaN where there are none."""

    groups: int
    rows: int
    mean_regret: float
    max_regret: float
    best_chosen: float
    """Share of the contests in which the fastest was ranked first."""
    median_rank_correlation: float


def ranks(values: ArrayLike) -> NDArray[np.float64]:
    """Ranks from 1, those of equal values averaged."""
    column = np.asarray(values, dtype=float)
    distinct, place, count = np.unique(column, return_inverse=True, return_counts=True)
    del distinct
    last = np.cumsum(count)
    return np.asarray((last - (count - 1) / 2.0)[place])


def spearman(first: ArrayLike, second: ArrayLike) -> float:
    """Rank correlation: Pearson's, of the ranks; NaN where all values of either are equal."""
    one, other = ranks(first), ranks(second)
    one, other = one - one.mean(), other - other.mean()
    scale = float(np.sqrt((one @ one) * (other @ other)))
    return float(one @ other) / scale if scale else float("nan")


def validate_layouts(
    validation: TrainingValidation,
    *,
    groups: Sequence[str] | None = LAYOUT_GROUPS,
    splits: Iterable[TrainingSplit] | None = None,
) -> tuple[Contest, ...]:
    """The contests among scored rows, worst regret first; `groups` None takes all publications."""
    wanted = None if splits is None else set(splits)
    found: dict[tuple[object, ...], list[ScoredRun]] = {}
    for run in validation.rows:
        if (groups is None or run.row.group in groups) and (wanted is None or run.row.split in wanted):
            found.setdefault(_shared(run), []).append(run)
    contests = [Contest(runs=tuple(runs)) for runs in found.values() if len(_layouts(runs)) >= _LEAST]
    return tuple(sorted(contests, key=lambda contest: -contest.regret))


def layout_score(contests: Sequence[Contest]) -> LayoutScore:
    """Over all contests."""
    regrets = np.array([contest.regret for contest in contests] or [np.nan])
    correlations = np.array([contest.rank_correlation for contest in contests] or [np.nan])
    known = correlations[~np.isnan(correlations)]
    return LayoutScore(
        groups=len(contests),
        rows=sum(len(contest.runs) for contest in contests),
        mean_regret=float(np.mean(regrets)),
        max_regret=float(np.max(regrets)),
        best_chosen=float(np.mean(regrets == 0.0)) if contests else float("nan"),
        median_rank_correlation=float(np.median(known)) if len(known) else float("nan"),
    )


def layout_document(contests: Sequence[Contest], validation: TrainingValidation) -> dict[str, object]:
    """Contests as plain values, for JSON; calibration rows also among themselves."""
    own = tuple({contest.group: None for contest in contests})
    alone = layout_score(validate_layouts(validation, groups=own, splits=("calibration",)))
    return {
        "overall": {**_numbers(layout_score(contests)), "skipped": len(validation.skipped)},
        "calibration_only": _numbers(alone),
        "groups": [
            {
                "name": contest.name,
                "group": contest.group,
                "rows": len(contest.runs),
                "regret": contest.regret,
                "rank_correlation": None if np.isnan(contest.rank_correlation) else contest.rank_correlation,
                "chosen": contest.chosen.row.row_id,
                "best": contest.best.row.row_id,
                "row_ids": [run.row.row_id for run in contest.runs],
            }
            for contest in contests
        ],
        "skipped": [{"row_id": each.row_id, "reason": each.reason} for each in validation.skipped],
    }


def _numbers(score: LayoutScore) -> dict[str, object]:
    values = {name: getattr(score, name) for name in LayoutScore.__slots__}
    return {name: None if np.isnan(value) else value for name, value in values.items()}


def _shared(run: ScoredRun) -> tuple[object, ...]:
    """All that must be equal for two runs to differ only in their layout."""
    row = run.row
    return (
        row.group,
        row.model,
        row.layers,
        row.hidden,
        row.heads,
        row.kv_heads,
        row.ffn,
        row.vocabulary,
        row.experts,
        row.sequence,
        row.accelerator,
        row.chips,
        row.network,
        row.framework,
        row.precision,
        row.global_batch,
    )


def _layouts(runs: Iterable[ScoredRun]) -> set[object]:
    """The mappings that occur; a layout timed twice is one."""
    return {run.asked.mapping for run in runs}
