"""Are a few own runs worth it: every published machine is taken as a user whose source the fit did not see.

Some of its runs are drawn as its own, the rest is predicted; fifty draws and more. Machines of calibration sources are
left out of the fit; those of held-out sources never were in it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.training.measurements import COMPUTED, training_measurements
from volvelle.applications.training.own_runs import Corpus, fit_own
from volvelle.applications.training.stack_fit import Table, runs_of
from volvelle.catalogue import Catalogue
from volvelle.catalogue.own_spread import OwnRunsSpread, own_runs_spread
from volvelle.catalogue.training_errors import step_ranges
from volvelle.estimators.factored import chip_shares, open_variance
from volvelle.spread import model_reach

OWN_RUNS = (0, 1, 3, 8)
"""Numbers of own runs."""
FEWEST = 8
"""Runs of a machine that is taken as a user."""
LARGE = 20
"""Runs from which on a machine is a large group."""
_LEVEL = 0.8
_MOST_PREDICTED = 200
"""Runs of a machine that are predicted in one draw."""
_SCORED = ("heldout", "heldout_secondary")


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Of predictions after some own runs."""

    median: float
    mean: float
    coverage: float
    """Share of rows within their 80 % range."""
    half_width: float
    """Of that range, relative, the middle one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineScore:
    """One machine as a user."""

    source: str
    accelerator: str
    element: str
    stack: str
    runs: int
    held_out: bool
    computed: bool
    """Whether its times are sums of profiled kernels, not runs."""
    scores: Mapping[int, Score]
    """By the number of own runs."""
    errors: Mapping[int, Table] = field(repr=False, default_factory=dict)
    """Of every run that was predicted in a draw, without sign."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnRunsValidation:
    """All machines, and all together."""

    machines: tuple[MachineScore, ...]
    draws: int
    between: float
    within: float

    def part(self, *, held_out: bool | None = None, measured: bool = False) -> tuple[MachineScore, ...]:
        """Machines of held-out sources, of calibration sources, or of both; all, or those whose times were measured."""
        kept = (one for one in self.machines if held_out is None or one.held_out == held_out)
        return tuple(one for one in kept if not (measured and one.computed))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooled:
    """All rows of some machines together, and machines each counted once."""

    median: float
    mean: float
    median_over_machines: float
    coverage: float
    half_width: float


def pooled(machines: Sequence[MachineScore], own: int) -> Pooled | None:
    """Of those with enough runs for so many own ones; rows count, so that a machine counts by its runs."""
    kept = [one for one in machines if own in one.scores]
    if not kept:
        return None
    runs = np.array([one.runs for one in kept], dtype=float)
    errors = np.concatenate([one.errors[own] for one in kept])
    weights = np.concatenate([np.full(len(one.errors[own]), one.runs / len(one.errors[own])) for one in kept])

    def mean(name: str) -> float:
        return float(np.average([getattr(one.scores[own], name) for one in kept], weights=runs))

    return Pooled(
        median=_weighted_median(errors, weights),
        mean=mean("mean"),
        median_over_machines=float(np.median([one.scores[own].median for one in kept])),
        coverage=mean("coverage"),
        half_width=mean("half_width"),
    )


def _weighted_median(values: Table, weights: Table) -> float:
    order = np.argsort(values)
    reached = np.cumsum(weights[order]) / weights.sum()
    return float(values[order][np.searchsorted(reached, 0.5)])


def published_corpus(catalogue: Catalogue) -> Corpus:
    """Calibration runs, and those held out that are scored."""
    rows = [row for row in training_measurements().rows if row.head.split in ("calibration", *_SCORED)]
    runs = runs_of(rows, catalogue)
    return Corpus(runs, calibration=np.array([run.row.head.split == "calibration" for run in runs]))


def validate_own_runs(
    corpus: Corpus,
    *,
    own: Sequence[int] = OWN_RUNS,
    draws: int = 50,
    seed: int = 0,
    fewest: int = FEWEST,
    spread: OwnRunsSpread | None = None,
) -> OwnRunsValidation:
    """Score every machine of enough runs; with another spread than the shipped one where it is given."""
    spread = spread or own_runs_spread()
    machines = []
    for (source, accelerator, element, stack), places in corpus.machines(fewest=fewest).items():
        for held_out in (False, True):
            of = places[corpus.calibration[places] != held_out]
            if len(of) < fewest:
                continue
            covariance = corpus.spread(stack, corpus.runs[of[0]].family, element, without=source, share=spread.share)
            user = _User(corpus.slopes[of], corpus.left_out[of], corpus.shapes[of], covariance, spread)
            scored = {count: user.score(count, draws=draws, seed=seed) for count in own if len(of) > count}
            machines.append(
                MachineScore(
                    source=source,
                    accelerator=accelerator,
                    element=element,
                    stack=stack,
                    runs=len(of),
                    held_out=held_out,
                    computed=source in COMPUTED,
                    scores={count: score for count, (score, _) in scored.items()},
                    errors={count: errors for count, (_, errors) in scored.items()},
                )
            )
    return OwnRunsValidation(machines=tuple(machines), draws=draws, between=spread.between, within=spread.within)


class _User:
    """A machine whose runs are drawn from."""

    def __init__(self, slopes: Table, errors: Table, shapes: Table, covariance: Table, spread: OwnRunsSpread) -> None:
        self.slopes, self.errors, self.shapes, self.covariance, self.spread = slopes, errors, shapes, covariance, spread

    def score(self, own: int, *, draws: int, seed: int) -> tuple[Score, Table]:
        draw = np.random.default_rng(seed)
        errors, within, widths = [], [], []
        for _ in range(draws if own else 1):
            order = draw.permutation(len(self.errors))
            rest = order[own:][:_MOST_PREDICTED] if own else order
            off, width = self._predicted(order[:own], rest)
            errors.append(off)
            within.append(np.abs(off) <= width)
            widths.append(np.expm1(width))
        apart = np.abs(np.expm1(-np.concatenate(errors)))
        score = Score(
            median=float(np.median(apart)),
            mean=float(np.mean(apart)),
            coverage=float(np.mean(np.concatenate(within))),
            half_width=float(np.median(np.concatenate(widths))),
        )
        return score, apart

    def _predicted(self, own: NDArray[np.int64], rest: NDArray[np.int64]) -> tuple[Table, Table]:
        """What is left of errors of the rest, and how far their ranges reach, as logarithms."""
        slopes, shapes = self.slopes[rest], self.shapes[rest]
        fit = fit_own(self.slopes[own], self.errors[own], self.shapes[own], prior=self.covariance, spread=self.spread)
        told = fit.told
        off: Table = self.errors[rest] - slopes @ fit.change - chip_shares(slopes) * told.shapes.told(shapes).shift
        known = step_ranges()
        variance = open_variance(slopes, self.covariance, scatter=known.scatter, network=known.network)
        before = known.stretch * np.sqrt(variance)
        return off, model_reach(_LEVEL) * told.no_wider(told.error(slopes, shapes), before / model_reach(_LEVEL))
