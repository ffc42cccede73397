"""Whether an estimator picks good layouts: runs that differ only in how they were laid out, ranked and compared.

An estimator that is uniformly too fast may still choose well, and one with small errors may choose badly; so what its
first choice costs is held against the best that was measured.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from volvelle.applications.measured_table import Split
from volvelle.applications.scores import Finding, RowValidation, ScoredRow
from volvelle.applications.training.measurements import TrainingMeasurement
from volvelle.catalogue.residuals import layout_spreads
from volvelle.estimators.layout_errors import layout_errors, shares_won
from volvelle.estimators.sampler import Stratified
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.quantities import percent

LAYOUT_GROUPS = ("vtrain-single", "vtrain-multi")
"""Publications that time one model in many layouts."""
_LEAST = 3
_SAMPLES = 4096
_SHARED = (
    *("model", "layers", "hidden", "heads", "kv_heads", "ffn", "vocabulary", "experts", "sequence"),
    *("accelerator", "chips", "network", "framework", "precision", "global_batch"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """Runs of one model on one machine with one batch that differ only in their layout."""

    runs: tuple[ScoredRow, ...]

    @property
    def name(self) -> str:
        """What the runs share."""
        row = _measurement(self.runs[0])
        return f"{row.layers} layers of {row.hidden}, {row.chips} × {row.accelerator}, batch {row.global_batch}"

    @property
    def group(self) -> str:
        """The publication."""
        return self.runs[0].head.group

    @property
    def chosen(self) -> ScoredRow:
        """The run the estimator ranks first."""
        return min(self.runs, key=lambda run: run.predicted)

    @property
    def best(self) -> ScoredRow:
        """The run that was the fastest."""
        return min(self.runs, key=lambda run: run.measured)

    @property
    def likeliest(self) -> ScoredRow:
        """The run that is the likeliest to be the fastest, with errors that layouts and their kinds have of their own.

        Errors of the machine are common to all runs and left out.
        """
        off = layout_errors([_mapping(run) for run in self.runs], layout_spreads(), Stratified(_SAMPLES))
        wins = shares_won(np.array([[run.predicted] for run in self.runs]) * off)
        return self.runs[int(np.argmax(wins))]

    @property
    def regret(self) -> float:
        """How much slower the estimator's first choice ran than the fastest."""
        return self.chosen.measured / self.best.measured - 1.0

    @property
    def likeliest_regret(self) -> float:
        """The same of the likeliest."""
        return self.likeliest.measured / self.best.measured - 1.0

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
    likeliest_regret: float
    """Mean regret of choosing by the chance of being the fastest."""
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
    validation: RowValidation,
    *,
    groups: Sequence[str] | None = LAYOUT_GROUPS,
    splits: Iterable[Split] | None = None,
) -> tuple[Contest, ...]:
    """The contests among scored rows, worst regret first; `groups` None takes all publications."""
    wanted = None if splits is None else set(splits)
    found: dict[tuple[object, ...], list[ScoredRow]] = {}
    for run in validation.rows:
        if (groups is None or run.head.group in groups) and (wanted is None or run.head.split in wanted):
            found.setdefault(alike_but_layout(_measurement(run)), []).append(run)
    # A layout timed twice is one.
    contests = [Contest(runs=tuple(runs)) for runs in found.values() if len({*map(_mapping, runs)}) >= _LEAST]
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
        likeliest_regret=float(np.mean([contest.likeliest_regret for contest in contests] or [np.nan])),
        best_chosen=float(np.mean(regrets == 0.0)) if contests else float("nan"),
        median_rank_correlation=float(np.median(known)) if len(known) else float("nan"),
    )


def layout_findings(validation: RowValidation) -> Iterator[Finding]:
    """How well the first choice does over all sets of runs, on calibration rows alone, and set by set."""
    contests = validate_layouts(validation, groups=None)
    total = layout_score(contests)
    yield Finding(
        key="choice",
        value=_numbers(total),
        lines=(
            f"The layout ranked first runs {percent(total.mean_regret)} slower than the fastest in the mean, "
            f"{percent(total.max_regret)} at most,",
            f"over {total.groups} sets of runs ({total.rows} rows). It is the fastest in "
            f"{percent(total.best_chosen, 0)} of them. Median rank correlation: {total.median_rank_correlation:.2f}",
            f"The likeliest to be the fastest runs {percent(total.likeliest_regret)} slower in the mean.",
        ),
    )
    own = tuple({contest.group: None for contest in contests})
    alone = layout_score(validate_layouts(validation, groups=own, splits=("calibration",)))
    yield Finding(key="calibration_only", value=_numbers(alone))
    yield Finding(
        key="contests",
        value=[
            {
                "name": contest.name,
                "group": contest.group,
                "rows": len(contest.runs),
                "regret": contest.regret,
                "likeliest_regret": contest.likeliest_regret,
                "rank_correlation": None if np.isnan(contest.rank_correlation) else contest.rank_correlation,
                "chosen": contest.chosen.head.row_id,
                "best": contest.best.head.row_id,
                "row_ids": [run.head.row_id for run in contest.runs],
            }
            for contest in contests
        ],
        title="sets of runs, worst first",
        words=("runs that share", "ranked first", "fastest"),
        numbers=("slower by", "correlation"),
        cells=tuple(
            (
                contest.name,
                _words(contest.chosen),
                _words(contest.best),
                f"{percent(contest.regret)}",
                f"{contest.rank_correlation:.2f}",
            )
            for contest in contests
        ),
    )


def _measurement(run: ScoredRow) -> TrainingMeasurement:
    assert isinstance(run.row, TrainingMeasurement), "layouts are of training runs"
    return run.row


def _mapping(run: ScoredRow) -> ParallelMapping:
    assert run.estimate is not None, "a scored run was estimated"
    mapping = run.estimate.decision
    assert isinstance(mapping, ParallelMapping), "training runs are laid out by parallel mappings"
    return mapping


def _words(run: ScoredRow) -> str:
    mapping = _mapping(run)
    return f"tp{mapping.tensor} pp{mapping.pipeline} dp{mapping.data} mb{mapping.micro_batch}"


def _numbers(score: LayoutScore) -> dict[str, object]:
    values = {name: getattr(score, name) for name in LayoutScore.__slots__}
    return {name: None if np.isnan(value) else value for name, value in values.items()}


def alike_but_layout(row: TrainingMeasurement) -> tuple[object, ...]:
    """All that must be equal for two runs to differ only in their layout."""
    return row.head.group, *(getattr(row, name) for name in _SHARED)
