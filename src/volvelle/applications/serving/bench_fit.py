"""Fits constants of an engine to runs of somebody's own benchmark, each replayed request by request."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from volvelle.applications.cross_validation import REACH
from volvelle.applications.serving.instance import Instance
from volvelle.applications.serving.nearest import Column, nearest_constants
from volvelle.errors import VolvelleError
from volvelle.estimators.serving.engine_constants import EngineConstants
from volvelle.interchange.bench_results.result import BenchResult
from volvelle.simulation.batching.metrics import measure
from volvelle.simulation.batching.serving import serve
from volvelle.workload.serving.lengths import FixedLength, Independent
from volvelle.workload.serving.loads import Gamma
from volvelle.workload.serving.requests import Requests

FITTED_TO_RUNS = ("reading", "multiplying", "first_token", "per_sequence", "host", "per_admission")
"""Constants that figures of clients may tell apart, those that they tell most of first; all others stay as they are."""
_WEIGHTS = {"ttft": 1.0, "tpot": 1.0, "itl": 0.5}
_HOLD = 0.002
"""How strongly constants are held to where they started: just so that what runs do not tell stays."""
_ROUNDS, _STEP = 6, 0.1
_TOLD, _APART = 0.1, 0.5
"""Change of all figures together for one of a constant, both in logarithms, from which on runs tell of it; and the part
of that change that no other fitted constant could make."""
_LEAST_ERROR = 1.02
"""One standard deviation as a factor, at the least: a benchmark that is run twice differs by as much."""
_FEW = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BenchRun:
    """A run, and what it ran on."""

    result: BenchResult
    instance: Instance
    requests: Requests
    """Of one data-parallel rank."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Residual:
    """One figure of one run: measured, and predicted before and after the fit."""

    place: str
    measure: str
    measured: float
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchFit:
    """Constants fitted to runs."""

    start: EngineConstants
    constants: EngineConstants
    told: tuple[str, ...]
    """Constants that the runs tell of; all others stayed."""
    residuals: tuple[Residual, ...]
    error: Mapping[str, float]
    """One standard deviation as a factor, by measure."""

    def mean_error(self, *, after: bool) -> float | None:
        """Mean absolute error of all figures; None: none was predicted."""
        values = [(one.after if after else one.before, one.measured) for one in self.residuals]
        known = [abs(value / measured - 1.0) for value, measured in values if value is not None]
        return float(np.mean(known)) if known else None


def bench_run(result: BenchResult, instance: Instance) -> BenchRun:
    """A run with its requests as one rank gets them: every so many of them."""
    ranks = instance.layout.data
    prompts, answers = result.input_tokens[::ranks], result.output_tokens[::ranks]
    clients = 0 if result.clients is None else max(1, round(result.clients / ranks))
    if np.isinf(result.rate):
        arrival = np.zeros(prompts.size)
    elif result.arrival is not None and result.clients is None:
        arrival = np.sort(result.arrival)[::ranks]
    else:
        drawn = Gamma(rate=result.rate, burstiness=result.burstiness)
        any_length = Independent(input=FixedLength(tokens=1), output=FixedLength(tokens=1))
        arrival = drawn.requests(any_length, count=result.requests).arrival[::ranks]
    return BenchRun(
        result=result,
        instance=instance,
        requests=Requests(arrival=arrival, input_tokens=prompts, output_tokens=answers, clients=clients),
    )


def replayed(run: BenchRun, constants: EngineConstants) -> Mapping[str, float]:
    """What clients would measure with such constants."""
    changed = run.instance.with_constants(constants)
    rules = changed.rules(concurrency=run.requests.clients or None)
    found = measure(serve(run.requests, changed.costs(rules), rules))
    return {"ttft": found.ttft.mean, "tpot": found.tpot.mean, "itl": found.itl.median}


def fit_runs(runs: Sequence[BenchRun], *, told: Callable[[str], None] = lambda line: None) -> BenchFit:
    """Constants with which replayed runs come nearest to what was measured."""
    start = runs[0].instance.engine.constants
    asked = [(run, name, value) for run in runs for name, value in run.result.figures.items()]
    counted = 0

    def off(constants: EngineConstants) -> Column:
        nonlocal counted
        counted += 1
        told(f"replaying {len(runs)} runs, time {counted}")
        found: Column = np.log(_predicted(runs, asked, constants) / np.array([value for _, _, value in asked]))
        return found

    names = _told_apart(off, start)
    constants = nearest_constants(
        off,
        start,
        names,
        weights=np.array([_WEIGHTS[name] for _, name, _ in asked]),
        hold=_HOLD,
        rounds=_ROUNDS,
        step=_STEP,
    )
    before, after = _predicted(runs, asked, start), _predicted(runs, asked, constants)
    residuals = tuple(
        Residual(
            place=run.result.place,
            measure=name,
            measured=value,
            before=_finite(before[place]),
            after=_finite(after[place]),
        )
        for place, (run, name, value) in enumerate(asked)
    )
    return BenchFit(start=start, constants=constants, told=names, residuals=residuals, error=_errors(residuals))


def _told_apart(off: Callable[[EngineConstants], Column], start: EngineConstants) -> tuple[str, ...]:
    """Constants that move figures in a way in which none before them does: one after the other, as Gram and Schmidt."""
    base, names, kept = off(start), [], list[Column]()
    for name in FITTED_TO_RUNS:
        moved = off(replace(start, **{name: getattr(start, name) * float(np.exp(_STEP))}))
        slope = np.nan_to_num((moved - base) / _STEP)
        rest = slope - sum((float(slope @ one) * one for one in kept), np.zeros_like(slope))
        length = float(np.linalg.norm(rest))
        if length >= max(_TOLD, _APART * float(np.linalg.norm(slope))):
            names.append(name)
            kept.append(rest / length)
    return tuple(names)


def _predicted(
    runs: Sequence[BenchRun], asked: Sequence[tuple[BenchRun, str, float]], constants: EngineConstants
) -> Column:
    """Every figure; NaN where a run cannot be replayed with such constants."""
    known: dict[int, Mapping[str, float]] = {}
    for run in runs:
        try:
            known[id(run)] = replayed(run, constants)
        except VolvelleError:
            known[id(run)] = {}
    return np.array([known[id(run)].get(name, np.nan) for run, name, _ in asked])


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _errors(residuals: Sequence[Residual]) -> Mapping[str, float]:
    """As wide as what is left of the errors of each measure; nothing where there are too few runs to tell."""
    found = {}
    for measured in ("ttft", "tpot"):
        left = [abs(np.log(one.after / one.measured)) for one in residuals if one.measure == measured and one.after]
        if len(left) >= _FEW:
            found[measured] = max(float(np.exp(np.quantile(left, 0.8) / REACH)), _LEAST_ERROR)
    return found
