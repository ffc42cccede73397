"""From a plan of a run to its days, money, energy and carbon, each with how sure it is and why."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from volvelle.applications.goodput.cures import Remedy, infeasible, remedies
from volvelle.applications.goodput.run_plan import Column, HourlyPrice, RunPlan
from volvelle.applications.goodput.wall_time import (
    RUNNING,
    WORK,
    Circumstances,
    flatness,
    lucky_time,
    waiting_share,
    wall_time,
)
from volvelle.estimators.sampler import Stratified
from volvelle.estimators.uncertainty import MODEL
from volvelle.laws.price import rented_price
from volvelle.laws.reliability.emissions import operational_emissions
from volvelle.laws.reliability.out_of_service import nodes_out, spares_needed
from volvelle.laws.reliability.stragglers import straggler_slowdown
from volvelle.quantities import DAY
from volvelle.spread import LogNormal, log_normal, standard_normal

_KWH = 3.6e6


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFigure:
    """A figure of a run: its value with every input at its median, and its 80 % range over samples of all inputs.

    Values with every input at its median add up: parts of the wall time to the days, and days times price to dollars.
    """

    value: float
    p10: float
    p90: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Dollars of a run, paid for in one way."""

    way: str
    what: str
    usd_per_hour: float
    usd: RunFigure
    failures: float
    """Of the value, what interruptions cost."""

    warning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpareNodes:
    """Spares that suffice for shares of the time."""

    mean: float
    """Nodes out on average."""
    for_95: float
    for_99: float
    poisson_95: float
    """Were faults independent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEstimate:
    """A run as it will go."""

    plan: RunPlan
    interval: float
    """Seconds of work between checkpoints."""
    segments: float
    """Checkpoints in memory for each in storage; one where there is one tier."""
    between: float
    """Seconds between interruptions."""
    parts: Mapping[str, float]
    """Seconds at middle values, by what they go into; they sum to the wall time."""
    days: RunFigure
    ettr: RunFigure
    interruptions: RunFigure
    flat: tuple[float, float, float]
    """Effective training time ratio at half the interval, at it, and at twice."""
    doubts: Mapping[str, tuple[float, float]]
    """Days, one in ten below and above, where only chance, only failures and recovery, or only the step is in doubt."""
    spending: tuple[Spending, ...]
    kwh: RunFigure | None
    tco2e: RunFigure | None
    remedies: tuple[Remedy, ...]
    spare_nodes: SpareNodes | None
    problem: str = ""
    """Why such a job does not get anywhere; nothing: it does."""
    cures: tuple[str, ...] = ()

    @property
    def wall(self) -> float:
        """Seconds, at middle values."""
        return sum(self.parts.values())

    @property
    def interruptions_per_day(self) -> float:
        """At middle values."""
        return DAY / self.between if np.isfinite(self.between) else 0.0


def middle(plan: RunPlan) -> Circumstances:
    """The run with every number in its middle, and its checkpoint interval chosen for that."""
    losses, waiting = plan.losses, 0.0
    if plan.spares is not None:
        waiting = float(
            waiting_share(
                plan.nodes,
                rate=plan.hazard.failing / plan.nodes,
                repair=plan.repair,
                dispersion=plan.dispersion,
                spares=plan.spares,
            )
        )
    rate = float(plan.hazard.at(np.array([0.5]))[0]) if plan.hazard.rate else 0.0
    run = replace(
        plan.recovery.circumstances(plan.work, rate),
        downtime=plan.downtime(rate),
        survived=plan.survived(rate),
        slow=float(straggler_slowdown(plan.nodes, share=losses.slow_share, slower=losses.slower)),
        waiting=waiting,
        planned=losses.planned,
        corruption=losses.corruption,
    )
    return replace(run, interval=float(np.asarray(run.chosen)))


def run_estimate(plan: RunPlan, *, samples: int = 1024, seed: int = 0) -> RunEstimate:
    """Days, money, energy and carbon of a plan."""
    centre = middle(plan)
    parts = {name: float(seconds) for name, seconds in wall_time(centre).items()}
    sampled = RunSamples.of(plan, centre, samples=samples, seed=seed)
    days = sampled.days()
    problem, cures = infeasible(centre, parts)
    running, standing = sampled.power_times()
    whole = sum(parts.values())
    kwh = tco2e = None
    if plan.power is not None:
        power = plan.power
        worked = sum(parts[name] for name in RUNNING)
        watts = LogNormal(power.training, power.doubt).at(sampled.quantiles("power")) * power.pue
        devices = plan.accelerators + _spare_accelerators(plan)
        energy = devices * watts * (running + power.idle * standing)
        grams = _around(power.grams_per_kwh, sampled.quantiles("grid"))
        joules = devices * power.training * power.pue * (worked + power.idle * (whole - worked))
        emitted = operational_emissions(joules, intensity=power.grams_per_kwh[1] / 1e6 / _KWH)
        kwh = _figure(joules / _KWH, energy / _KWH)
        tco2e = _figure(float(emitted), np.asarray(operational_emissions(energy, intensity=grams / 1e6 / _KWH)))
    spending = tuple(_spending(plan, price, parts, days, sampled) for price in plan.prices)
    rates = sampled.runs.rate
    counts = days * DAY * np.asarray(rates)
    counts = counts + np.sqrt(counts) * sampled.normal("count")
    return RunEstimate(
        plan=plan,
        interval=float(np.asarray(centre.interval)),
        segments=float(np.asarray(centre.segments)),
        between=float(centre.between),
        parts=parts,
        days=_figure(whole / DAY, days),
        ettr=_figure(parts[WORK] / whole, plan.work / DAY * sampled.step / days),
        interruptions=_figure(whole * float(np.asarray(centre.rate)), np.maximum(counts, 0.0)),
        flat=flatness(centre),
        doubts=sampled.doubts(),
        spending=spending,
        kwh=kwh,
        tco2e=tco2e,
        remedies=remedies(replace(centre, interval=plan.recovery.interval), parts, plan),
        spare_nodes=_spare_nodes(plan),
        problem=problem,
        cures=cures,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSamples:
    """The run on samples of what is not known."""

    runs: Circumstances
    centre: Circumstances
    step: Column
    """Factors of the step's time."""
    chance: Column
    """Standard normal, of luck."""
    seed: int
    samples: int

    @classmethod
    def of(cls, plan: RunPlan, centre: Circumstances, *, samples: int, seed: int) -> "RunSamples":
        """Stratified: the same columns for the same seed, whatever the plan."""
        slices = Stratified(samples, seed).column
        rate = plan.hazard.at(slices("failures")) if plan.hazard.rate else np.zeros(samples)
        # Phases are timed by one model: where it is off, it is off for all of them.
        doubt = sum(phase.work * np.log(phase.doubt) for phase in plan.phases) / plan.work
        return cls(
            # Whoever runs it knows his own stall and failures, and chooses the interval by them.
            runs=replace(
                plan.recovery.circumstances(
                    centre.work, rate, restarts=slices("restart"), stalls=slices("stall"), writes=slices("write")
                ),
                downtime=plan.downtime(rate),
                survived=plan.survived(rate),
                slow=centre.slow,
                waiting=centre.waiting,
                planned=centre.planned,
                corruption=centre.corruption,
            ),
            centre=centre,
            step=log_normal(1.0, doubt, slices(MODEL)),
            chance=np.asarray(standard_normal(slices("luck"))),
            seed=seed,
            samples=samples,
        )

    def quantiles(self, what: str) -> Column:
        """Another column, by its name."""
        return Stratified(self.samples, self.seed).column(what)

    def normal(self, what: str) -> Column:
        """Likewise, standard normal."""
        return np.asarray(standard_normal(self.quantiles(what)))

    def days(self) -> Column:
        """With all that is not known, and luck."""
        return _days(self.grown, self.chance)

    @property
    def grown(self) -> Circumstances:
        """Runs whose steps take as long as each sample has them."""
        return _grown(self.runs, self.step)

    def doubts(self) -> Mapping[str, tuple[float, float]]:
        """Ends of days where one thing alone is in doubt."""
        only = {
            "chance": _days(self.centre, self.chance),
            "failures and recovery": _days(self.runs, 0.0),
            "step time": _days(_grown(self.centre, self.step), 0.0),
        }
        return {name: _ends(np.broadcast_to(column, (self.samples,))) for name, column in only.items()}

    def power_times(self) -> tuple[Column, Column]:
        """Seconds in which accelerators work, and in which they stand."""
        parts = wall_time(self.grown)
        running = sum(parts[name] for name in RUNNING)
        return np.asarray(running), np.asarray(sum(parts.values()) - running)


def _grown(runs: Circumstances, step: Column) -> Circumstances:
    return replace(runs, work=np.asarray(runs.work) * step)


def _days(runs: Circumstances, chance: Column | float) -> Column:
    return np.asarray(lucky_time(runs, chance) / DAY)


def _spending(
    plan: RunPlan, price: HourlyPrice, parts: Mapping[str, float], days: Column, sampled: RunSamples
) -> Spending:
    devices = plan.accelerators + _spare_accelerators(plan)
    hourly = _around((price.low, price.middle, price.high), sampled.quantiles(price.way))
    lost = sum(parts.values()) - parts[WORK]
    return Spending(
        way=price.way,
        what=price.what,
        usd_per_hour=price.middle,
        usd=_figure(
            float(rented_price(sum(parts.values()), devices, per_chip_hour=price.middle)),
            np.asarray(rented_price(days * DAY, devices, per_chip_hour=hourly)),
        ),
        failures=float(rented_price(lost, devices, per_chip_hour=price.middle)),
        warning=price.warning,
    )


def _spare_accelerators(plan: RunPlan) -> float:
    return 0.0 if plan.spares is None else plan.spares * plan.accelerators / plan.nodes


def _spare_nodes(plan: RunPlan) -> SpareNodes | None:
    if not plan.repair or not plan.hazard.rate:
        return None
    mean = float(nodes_out(plan.nodes, rate=plan.hazard.failing / plan.nodes, repair=plan.repair))
    ninety_five, ninety_nine = (spares_needed(mean, dispersion=plan.dispersion, at=share) for share in (0.95, 0.99))
    return SpareNodes(
        mean=mean,
        for_95=float(ninety_five),
        for_99=float(ninety_nine),
        poisson_95=float(spares_needed(mean, dispersion=1.0, at=0.95)),
    )


def _figure(value: float, column: Column) -> RunFigure:
    low, high = _ends(column)
    return RunFigure(value=value, p10=low, p90=high)


def _ends(column: Column) -> tuple[float, float]:
    low, high = np.quantile(column, [0.1, 0.9])
    return float(low), float(high)


def _around(ends: tuple[float, float, float], quantiles: Column) -> Column:
    """A figure of which the lowest, the middle and the highest are known: half of its samples on either side."""
    return np.asarray(np.interp(quantiles, [0.0, 0.5, 1.0], ends))
