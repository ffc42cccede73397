"""Why an answer is unsure: what each number in doubt brings, and what to measure first."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import log, sqrt

import numpy as np

from volvelle.applications.training.own_runs import fit_own
from volvelle.base.python_function import asks
from volvelle.catalogue.benchmarks_to_run import BenchmarkToRun, benchmark_for
from volvelle.catalogue.model_errors import model_error
from volvelle.catalogue.own_spread import own_runs_spread, spread_of
from volvelle.catalogue.residuals import layout_spreads
from volvelle.catalogue.stacks import stack_entries
from volvelle.errors import MappingError, MissingExtraError
from volvelle.estimators.calibration import calibrations_of
from volvelle.estimators.layout_errors import difference_spread
from volvelle.estimators.own_shapes import product_shapes
from volvelle.estimators.question_error import step_error
from volvelle.estimators.sampler import Column, Sampler, Stratified
from volvelle.estimators.sensitivity import sobol_indices
from volvelle.estimators.sobol_points import ScrambledSobol
from volvelle.estimators.step_errors import CHIP, StepError
from volvelle.estimators.step_inputs import load_column
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.estimators.training.constant_slopes import constant_slopes
from volvelle.estimators.uncertainty import HELD_BY_RESIDUALS, MODEL, UNVALIDATED, sampled
from volvelle.interchange.layout_words import read_layout_words
from volvelle.laws.model_error import chance_of_order, error_beside_inputs
from volvelle.laws.sensitivity import chance_of_settling
from volvelle.mapping.axis_shardings import EXPERT_DIM
from volvelle.mapping.parallelism import MappingTable, ParallelMapping
from volvelle.questions.crosscheck import WhyUnsureQuestion
from volvelle.spread import model_reach
from volvelle.verbs.question import ResolvedStep, resolved_step
from volvelle.verbs.settling import LAYOUTS, SURE, spread_of_measured

_LEVEL = 0.8
_NOTHING = 5e-4
"""Share of the variance below which an input is not listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtShare:
    """What a number in doubt brings, and what measuring it would leave."""

    input: str
    first_order: float
    """Share of the variance of the logarithm that it brings alone."""
    total: float
    """With all others together."""
    benchmark: str | None
    """What to run to learn it; None: nobody measures it."""
    minutes: float | None
    half_width_after: float
    """Half of the logarithm of high over low, of four fifths, expected then."""
    settles: float | None
    """Chance that one then knows which of two layouts is faster with a chance above nine tenths; None: there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyUnsure:
    """Why the time of a step, or which of two layouts is faster, is unsure."""

    model: str
    system: str
    of: str
    """The time of a step, or the difference of two layouts."""
    seconds: float
    """Of the first layout's step."""
    ratio: float | None
    """Time of the other layout over that of the first; None: there is no other."""
    chance: float | None
    """That the first is the faster one."""
    half_width: float
    """Half of the logarithm of high over low, of four fifths."""
    samples: int
    shares: tuple[DoubtShare, ...]
    """What brings most first."""
    rests_on: str
    """Rows and publications behind the error of the model."""
    notes: tuple[str, ...] = ()
    """Defaults that were used."""


@asks(WhyUnsureQuestion)
def why_unsure(question: WhyUnsureQuestion) -> WhyUnsure:
    """Return the shares of the uncertainty of a step time, by input; the model's own error is one of them.

    With `against`, another layout or a few words for it (``"tp8 pp4 zero1"``), the uncertainty is the uncertainty of
    the difference of both.
    """
    asked = resolved_step(question)
    other = None
    against, samples, seed = question.against, question.samples, question.seed
    if against:
        fields = {"mapping": against} if isinstance(against, ParallelMapping) else read_layout_words(against)
        other = resolved_step(question.with_layout(**fields))
    estimator = ClosedForm()
    times = [estimator.estimate(one.step, one.cluster, one.mapping) for one in (asked, other) if one is not None]
    for found in times:
        if not found.could_exist:
            raise MappingError(f"the layout {found.mapping} cannot exist: {found.violations[0].problem}")
    sampler = _sampler(samples, seed)
    _, inputs = sampled(asked.cluster, samples=2, seed=seed)
    mixture = EXPERT_DIM in asked.step.model.sizes
    _, loads = load_column(lambda step: 1.0, asked.step, Stratified(2), central=1.0)
    indices, variance = sobol_indices(_answer(asked, other, estimator), (*inputs, *loads), sampler)
    error = step_error(asked.cluster, asked.step, asked.mapping)
    if other is None and error.own and error.factor is not None:
        # Own runs measured what inputs bring: they vary as far as these leave open.
        variance = min(variance, log(error.factor) ** 2)
    own, name, rests = _own_error(asked, error, sqrt(variance), mixture=mixture, other=other)
    whole = variance + own**2
    ratio = times[1].time / times[0].time if other is not None else None
    first = own**2 / whole
    shares = [_share(name, first, first, whole, ratio, kept=_kept(asked, other, whole))]
    shares += [
        _share(one, found.alone * variance / whole, found.total * variance / whole, whole, ratio)
        for one, found in indices.items()
    ]
    listed = [one for one in sorted(shares, key=lambda one: -one.total) if one.total > _NOTHING]
    lead = None if ratio is None else float(chance_of_order(log(ratio), spread=max(sqrt(whole), 1e-12)))
    return WhyUnsure(
        model=asked.model,
        system=asked.cluster.name,
        of="time of a step" if other is None else "difference of two layouts",
        seconds=times[0].time,
        ratio=ratio,
        chance=None if lead is None or ratio is None else (lead if ratio >= 1.0 else 1.0 - lead),
        half_width=model_reach(_LEVEL) * sqrt(whole),
        samples=samples,
        shares=tuple(listed),
        rests_on=rests,
        notes=asked.notes,
    )


def _sampler(samples: int, seed: int) -> Sampler:
    """Sobol points where they are installed; else stratified ones, which scatter more."""
    try:
        found = ScrambledSobol(samples, seed)
        found.column(MODEL)
    except MissingExtraError:
        return Stratified(samples, seed)
    return ScrambledSobol(samples, seed)


def _answer(asked: ResolvedStep, other: ResolvedStep | None, estimator: ClosedForm) -> Callable[[Sampler], Column]:
    """The logarithm of the time, or of one time over another, on the machines that a sampler draws."""
    centres = {
        one.mapping: estimator.estimate(one.step, one.cluster, one.mapping).time
        for one in (asked, other)
        if one is not None
    }

    def logs(one: ResolvedStep, sampler: Sampler) -> Column:
        variants, _ = sampled(one.cluster, sampler=sampler)
        table = estimator.table(one.step, variants, MappingTable.of([one.mapping]))
        load, _ = load_column(
            lambda step: estimator.estimate(step, one.cluster, one.mapping).time,
            one.step,
            sampler,
            central=centres[one.mapping],
        )
        return np.asarray(np.log(np.broadcast_to(table.time, load.shape) * load))

    if other is None:
        return lambda sampler: logs(asked, sampler)
    return lambda sampler: logs(other, sampler) - logs(asked, sampler)


def _own_error(
    asked: ResolvedStep, error: StepError, inputs: float, *, mixture: bool, other: ResolvedStep | None
) -> tuple[float, str, str]:
    """One standard deviation of the model's error beside that of inputs, what it is called, and what it rests on."""
    if other is not None:
        spread = difference_spread(asked.mapping, other.mapping, layout_spreads())
        return spread, LAYOUTS, "measured pairs of layouts of one model and machine"
    if error.factor is None:
        return log(error.or_else(UNVALIDATED)), MODEL, "nothing: no calibration run is on chips of this family"
    beside = float(error_beside_inputs(log(error.factor), inputs, known=HELD_BY_RESIDUALS[mixture]))
    return beside, MODEL, _rests_on(error, asked.cluster.chip.family)


def _rests_on(error: StepError, family: str) -> str:
    """What an error of a step is known from."""
    if error.of is None:
        return "runs of one's own"
    if CHIP in error.left:
        return "what is stated of the chip: no calibration run is on its family"
    regime = model_error("training", "" if error.by_constants else family)
    return f"{regime.rows} calibration rows of {regime.sources} publications, each left out of the fit in turn"


def _kept(asked: ResolvedStep, other: ResolvedStep | None, whole: float) -> float:
    """Share of the whole variance that measuring it leaves, of a time or of a difference.

    Runs of both layouts measure their difference itself, as well as runs repeat. One run of a layout tells what its
    machine is off by, as well as runs scatter around that.
    """
    if other is not None:
        return spread_of_measured(sqrt(whole)) ** 2 / whole
    machine, run, wider = levels_of_error(asked)
    after = run + machine * run / (machine + run) if machine + run else 0.0
    return min(1.0, wider**2 * after / whole)


def levels_of_error(asked: ResolvedStep) -> tuple[float, float, float]:
    """Variance of ln(measured / predicted) of a step that its machine brings, and that each run brings by itself.

    By what is open of the constants that the step feels; with unknown software, by publications on such chips. Last, by
    what deviations are wider that one run tells, for tails are longer than those of other errors.
    """
    software, family, element = calibrations_of(asked.cluster).software, asked.cluster.chip.family, asked.step.element
    if software is None or software.name not in stack_entries():
        regime = model_error("training", family)
        return regime.between**2, regime.within**2, 1.0
    table = MappingTable.of([asked.mapping])
    slopes, known = constant_slopes(asked.step, asked.cluster, table), own_runs_spread()
    told = fit_own(
        slopes[:0], np.zeros(0), np.zeros((0, 3)), prior=spread_of(software.name, family, element), spread=known
    ).told
    if software.own_runs is not None and calibrations_of(asked.cluster).own_runs(asked.cluster.chip, element):
        told = software.own_runs()
    whole = float(told.error(slopes, product_shapes(asked.step, table))[0] / told.wider) ** 2
    run = float(told.by_itself(slopes)[0])
    return whole - run, run, replace(told, freedom=told.freedom + 1.0).wider


def _share(
    name: str, alone: float, total: float, whole: float, ratio: float | None, *, kept: float = 0.0
) -> DoubtShare:
    run: BenchmarkToRun | None = benchmark_for(name)
    left = whole * (kept if name in (LAYOUTS, MODEL) else max(0.0, 1.0 - max(alone, 0.0) * (1.0 - kept)))
    settled = None
    if ratio is not None:
        settled = float(chance_of_settling(log(ratio), spread=sqrt(whole), left=sqrt(left), sure=SURE))
    return DoubtShare(
        input=name,
        first_order=alone,
        total=total,
        benchmark=None if run is None else run.benchmark,
        minutes=None if run is None else run.minutes,
        half_width_after=model_reach(_LEVEL) * sqrt(left),
        settles=settled,
    )
