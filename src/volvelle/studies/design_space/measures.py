"""What may be asked of a point: time, money, watts and what follows from them, each a column."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from volvelle.economics.cost_breakdown import CostBreakdown, StepCost
from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.laws.ownership import training_time
from volvelle.laws.price import rented_price
from volvelle.laws.utilisation import model_flops_utilisation
from volvelle.quantities import (
    BYTES,
    DAY,
    DOLLARS,
    FRACTION,
    JOULES,
    SECONDS,
    WATTS,
    Flop,
    FlopPerSecond,
    Number,
    Quantity,
)
from volvelle.studies.design_space.failure_terms import FailureTerms
from volvelle.studies.design_space.job_measures import QUANTILES, run_quantile
from volvelle.studies.design_space.step_samples import StepSamples

_MILLION = 1e6
TTFT, TPOT = "ttft", "tpot"
"""Measures of workloads that are served."""
MIDDLE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked:
    """What one workload does at the points of a slice."""

    name: str
    time: NDArray[np.float64]
    """Seconds a step."""
    memory: NDArray[np.float64]
    """Bytes on the fullest rank."""
    violated: NDArray[np.int8]
    """What forbids it, a number of the study's reasons; 0: nothing."""
    work: Flop
    peak: FlopPerSecond
    tokens: float
    samples: float
    weight: float
    run_tokens: float | None
    chosen: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    """The layout that was found best, column by column; empty where it was given."""
    latencies: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    """Mean seconds by the name of a latency, of a workload that is served."""
    gap: Number = 0.0
    """How much less than found the best may take, as a share; 0 where the best was proven, or nothing was searched."""
    drawn: Callable[[], StepSamples]
    """Steps on sampled machines; called only if a measure that needs them is asked for."""

    def held(self, of: Callable[[StepSamples], NDArray[np.float64] | None]) -> NDArray[np.float64]:
        """Something of the memory on sampled machines."""
        found = of(self.drawn())
        if found is None:
            raise DescriptionError(
                f"how sure the memory of workload {self.name!r} is was asked for, but no measured run tells how far it "
                "is off; leave quantiles of memory and fits_probability out, or map it with execution: kernels"
            )
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """All workloads of a slice, and the machine's bill."""

    worked: Sequence[Worked]
    chips: float
    family: str
    """Of the chips."""
    cost_breakdown: Callable[[], CostBreakdown]
    """Made only if a measure of money or watts is asked for."""
    failures: FailureTerms = field(default_factory=FailureTerms)
    rent: float | None = None
    """Dollars an hour of an accelerator; None: the machine is owned."""

    @property
    def dollars_per_second(self) -> Number:
        """What a second of the machine costs, spares included."""
        if self.rent is not None:
            owed: Number = rented_price(1.0, self.chips, per_chip_hour=self.rent)
        else:
            owed = self.costs.dollars_per_second
        return owed * self.failures.with_spares(self.chips)

    @property
    def watts(self) -> Number:
        """At the meter, spares included."""
        return self.costs.power * self.failures.with_spares(self.chips)

    @property
    def costs(self) -> CostBreakdown:
        """What the machine costs and takes."""
        return self.cost_breakdown()

    @property
    def step_cost(self) -> StepCost:
        """Energy and money of a round."""
        return self.costs.step(self.time, tokens=self.tokens)

    def round(self, of: Callable[[Worked], Number]) -> Number:
        """A quantity over one round of the mix: every workload as often as it weighs."""
        return reduce(add, (worked.weight * of(worked) for worked in self.worked))

    @property
    def time(self) -> Number:
        """Seconds a round."""
        return self.round(lambda worked: worked.time)

    @property
    def gap(self) -> Number:
        """How much less than found the best mapping of every workload may take, as a share of a round."""
        return self.round(lambda worked: worked.gap * worked.time) / self.time

    @property
    def samples(self) -> Number:
        """Sequences or samples a round."""
        return self.round(lambda worked: worked.samples)

    @property
    def rate(self) -> Number:
        """FLOP/s done, recomputation not counted."""
        return self.round(lambda worked: worked.work) / self.time

    @property
    def tokens(self) -> Number:
        """Tokens a round."""
        found = self.round(lambda worked: worked.tokens)
        if not np.all(found):
            raise DescriptionError(
                "tokens are asked for, but no workload of the study trains on any; judge by time, samples_per_s or usd"
            )
        return found

    @property
    def sampled_time(self) -> NDArray[np.float64]:
        """Seconds a round at points (rows) on sampled machines (columns)."""
        return np.asarray(self.round(lambda worked: worked.drawn().time))

    @property
    def sampled_memory(self) -> NDArray[np.float64]:
        """Bytes on the fullest chip, of the workload that holds most, likewise."""
        return np.asarray(np.max([worked.held(lambda it: it.memory) for worked in self.worked], axis=0))

    @property
    def fits_probability(self) -> NDArray[np.float64]:
        """How likely every workload fits the chip, nothing left free."""
        fit = np.min([worked.held(lambda it: it.sufficient) for worked in self.worked], axis=0)
        return np.asarray(np.mean(fit, axis=1))

    def taking(self, seconds: Number) -> "Outcome":
        """The same, a round taking so many seconds: every step longer by the same factor."""
        factor = seconds / self.time
        return replace(self, worked=[replace(worked, time=worked.time * factor) for worked in self.worked])

    @property
    def seconds(self) -> Number:
        """Seconds until every workload has had its tokens, one after another."""
        return reduce(add, map(_whole_run, self.worked))

    @property
    def doubt(self) -> Number:
        """In these, one standard deviation as a factor: that of steps on sampled machines, as of a job.

        One model times all workloads: where it is off, it is off for all of them.
        """
        logs = (_whole_run(worked) * worked.drawn().deviation for worked in self.worked)
        return np.exp(reduce(add, logs) / self.seconds)


def _whole_run(worked: Worked) -> Number:
    if worked.run_tokens is None:
        raise DescriptionError(
            f"how long training takes was asked for, but workload {worked.name!r} has no tokens: to train on; add "
            "tokens: 15e12 or the like"
        )
    return training_time(worked.run_tokens, per_step=worked.tokens, step=worked.time)


@dataclass(frozen=True, slots=True)
class Measure:
    """Something to judge a point by."""

    name: str
    says: str
    kind: Quantity | None
    less_is_better: bool
    of: Callable[[Outcome], Number]
    """The column, from what was found."""


def _mfu(found: Outcome) -> Number:
    # Workloads may have different peaks, so the work is counted in seconds of one chip at its peak.
    busy = found.round(lambda worked: worked.work / worked.peak)
    return model_flops_utilisation(busy, found.time, chips=found.chips, peak=1.0)


def _memory(found: Outcome) -> Number:
    first, *others = (worked.memory for worked in found.worked)
    return np.max([first, *others], axis=0) if others else first


def _latency(found: Outcome, name: str) -> Number:
    for worked in found.worked:
        if name not in worked.latencies:
            raise DescriptionError(f"{name} was asked for, but workload {worked.name!r} is not served; leave it out")
    slowest: NDArray[np.float64] = np.max([worked.latencies[name] for worked in found.worked], axis=0)
    return slowest


_LESS, _MORE = True, False
_ALL = (
    Measure("time", "of a step (of one round of the mix)", SECONDS, _LESS, lambda it: it.time),
    Measure("memory", "on the fullest chip", BYTES, _LESS, _memory),
    Measure("mfu", "model FLOPs utilisation", FRACTION, _MORE, _mfu),
    Measure("gap", "how much less the best mapping may take; 0: it is proven", FRACTION, _LESS, lambda it: it.gap),
    Measure("time_per_sample", "of a step, for every sequence", SECONDS, _LESS, lambda it: it.time / it.samples),
    Measure("samples_per_s", "sequences a second", None, _MORE, lambda it: it.samples / it.time),
    Measure("tokens_per_s", "tokens a second", None, _MORE, lambda it: it.tokens / it.time),
    Measure(TTFT, "mean time to the first token", SECONDS, _LESS, lambda it: _latency(it, TTFT)),
    Measure(TPOT, "mean time per output token after the first", SECONDS, _LESS, lambda it: _latency(it, TPOT)),
    Measure("days", "until all tokens are trained on", None, _LESS, lambda it: it.seconds / DAY),
    Measure("chips", "accelerators", None, _LESS, lambda it: it.chips),
    Measure("machine_usd", "price of the machine", DOLLARS, _LESS, lambda it: it.costs.capex),
    Measure("usd", "owning the machine over its life", DOLLARS, _LESS, lambda it: it.costs.tco),
    Measure(
        "run_usd",
        "share of that for the training asked for, or its rent",
        DOLLARS,
        _LESS,
        lambda it: it.seconds * it.dollars_per_second,
    ),
    Measure(
        "flops_per_usd", "FLOP/s done for every dollar of the machine", None, _MORE, lambda it: it.rate / it.costs.capex
    ),
    Measure(
        "flops_per_joule", "FLOP done for every joule, at the meter", None, _MORE, lambda it: it.rate / it.costs.power
    ),
    Measure(
        "usd_per_mtoken",
        "dollars a million tokens",
        DOLLARS,
        _LESS,
        lambda it: it.step_cost.dollars_per_token * _MILLION,
    ),
    Measure("power", "at the meter", WATTS, _LESS, lambda it: it.costs.power),
    Measure(
        "joules_per_sample",
        "energy a sequence, at the meter",
        JOULES,
        _LESS,
        lambda it: it.costs.step(it.time, samples=it.samples).energy_per_sample,
    ),
    Measure(
        "tokens_per_joule",
        "tokens a second for every watt",
        None,
        _MORE,
        lambda it: it.step_cost.tokens_per_second_per_watt,
    ),
)


FITS = "fits_probability"
_FALLING = {"time": False, "time_per_sample": False, "samples_per_s": True, "tokens_per_s": True, "mfu": True}
"""What a step's time alone moves, and whether it is less where that is more."""
OF_STEPS = (*_FALLING, "memory")
"""Measures of a step of which quantiles are known."""


def sampled_measure(outcome: Outcome, name: str) -> NDArray[np.float64]:
    """One of these at one point, on every sample."""
    if name == "memory":
        return np.asarray(outcome.sampled_memory[0])
    return np.asarray(MEASURES[name].of(outcome.taking(outcome.sampled_time[0])))


def _step_quantile(measure: Measure, per_cent: int) -> Callable[[Outcome], Number]:
    """One of these at a quantile."""
    if measure.name == "memory":
        return lambda it: np.quantile(it.sampled_memory, per_cent / 100.0, axis=1)
    share = (100 - per_cent if _FALLING[measure.name] else per_cent) / 100.0
    return lambda it: measure.of(it.taking(np.quantile(it.sampled_time, share, axis=1)))


def _of_steps() -> Iterator[Measure]:
    """Quantiles of steps, as numbers of the machine and the model are in doubt, and how likely memory suffices."""
    for measure in (measure for measure in _ALL if measure.name in OF_STEPS):
        for per_cent in QUANTILES:
            says, of = f"{measure.says}: {per_cent} % below", _step_quantile(measure, per_cent)
            yield replace(measure, name=f"{measure.name}.p{per_cent}", says=says, of=of)
    says = "probability that the fullest chip holds its share, nothing left free"
    yield Measure(FITS, says, FRACTION, _MORE, lambda it: it.fits_probability)


def _of_runs() -> Iterator[Measure]:
    """Whole runs that will be interrupted: quantiles, and the middle by the plain name where no other has it."""
    made = {
        "days": ("until all tokens are trained on, interruptions included", _LESS),
        "ettr": ("effective training time ratio", _MORE),
        "run_usd": ("rent, or share of owning, for the training asked for, interruptions included", _LESS),
        "kwh": ("energy of the run at the meter, interruptions included", _LESS),
        "tco2e": ("tonnes of CO2 equivalents of that, in the middle of the regions of clouds", _LESS),
    }
    units = {"ettr": FRACTION, "run_usd": DOLLARS}
    plain = {measure.name for measure in _ALL}
    for name, (says, less) in made.items():
        if name not in plain:
            yield Measure(name, says, units.get(name), less, run_quantile(name, MIDDLE))
        for per_cent in QUANTILES:
            of = run_quantile(name, per_cent)
            yield Measure(f"{name}.p{per_cent}", f"{says}: {per_cent} % below", units.get(name), less, of)


MEASURES: Mapping[str, Measure] = {measure.name: measure for measure in (*_ALL, *_of_steps(), *_of_runs())}
SURE = frozenset({FITS, *(f"{name}.p{per_cent}" for name in OF_STEPS for per_cent in QUANTILES)})
"""Measures that are taken of a step on sampled machines."""


def is_quantile(name: str) -> bool:
    """Whether a measure is a quantile of what is not sure."""
    return name.rpartition(".p")[2].isdigit() and ".p" in name


PRICED = frozenset(MEASURES) - {
    *SURE,
    "time",
    "memory",
    "mfu",
    "gap",
    "time_per_sample",
    "samples_per_s",
    "tokens_per_s",
    TTFT,
    TPOT,
    "days",
    "chips",
    *(name for name in MEASURES if name.partition(".")[0] in ("days", "ettr")),
}
"""Measures that need what machines cost and take."""
RENTED = frozenset(name for name in MEASURES if name.partition(".")[0] == "run_usd")
"""Of these, those that need it no more where the machine is rented."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """Something to judge by: a measure or another column, and which way is better."""

    name: str
    less: bool

    def gain(self, change: float | None) -> float | None:
        """What a change of it is worth: positive is better, whichever way it goes; None: it is not known."""
        return -change if change is not None and self.less else change

    def __str__(self) -> str:
        return f"{'least' if self.less else 'most'} {self.name}"


_LEAST = ("least", "min", "minimal", "minimum", "minimise", "minimize", "lowest", "smallest", "cheapest")
_MOST = ("most", "max", "maximal", "maximum", "maximise", "maximize", "highest", "largest")
_WAYS = {**dict.fromkeys(_LEAST, True), **dict.fromkeys(_MOST, False)}


def aim_of(text: str) -> Objective | None:
    """What is to be least or most: ``least days``, ``usd minimal``; a measure alone goes its own way. None: no aim."""
    words = text.split()
    ways = [_WAYS[word.lower()] for word in words if word.lower() in _WAYS]
    names = [word for word in words if word.lower() not in _WAYS]
    if len(names) != 1 or len(ways) > 1 or not (ways or names[0] in MEASURES):
        return None
    return Objective(name=names[0], less=ways[0] if ways else MEASURES[names[0]].less_is_better)


def objective_of(text: str) -> Objective:
    """An objective from words: ``days``, ``least days``, ``max mfu``, ``usd minimal``."""
    aim = aim_of(text)
    if aim is not None and aim.name in MEASURES:
        return aim
    names = [word for word in text.split() if word.lower() not in _WAYS]
    if len(names) == 1 and names[0] not in MEASURES:
        raise UnknownNameError.among("measure", names[0], MEASURES)
    raise DescriptionError(f"{text!r} is no objective; write a measure, or 'least' or 'most' before it")
