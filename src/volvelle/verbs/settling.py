"""What settles which of two layouts is faster: runs of both, what they leave open, and how likely that is enough."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt

from volvelle.catalogue.benchmarks_to_run import BenchmarkToRun, benchmark_for
from volvelle.catalogue.residuals import layout_spreads
from volvelle.estimators.layout_errors import difference_spread
from volvelle.laws.sensitivity import chance_of_settling, spread_after
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.verbs.layouts import Layout

LAYOUTS = "errors of the two layouts"
SURE = 0.9
"""Chance from which on it counts as settled which of two layouts is faster."""
UNSETTLED = 0.6
"""Chance of being the fastest below which it is said what would settle it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settling:
    """A measurement that tells which of the two likeliest layouts is faster."""

    layouts: tuple[ParallelMapping, ParallelMapping]
    """The likelier one first."""
    benchmark: str
    minutes: float
    settles: float
    """Chance that one then knows it with a chance above nine tenths."""


def _runs() -> BenchmarkToRun:
    run = benchmark_for(LAYOUTS)
    assert run is not None, "the file has it"
    return run


def spread_of_measured(spread: float) -> float:
    """One standard deviation of ln(time / time) of two layouts once both were run, from that before."""
    return float(spread_after(spread, scatter=sqrt(2.0) * _runs().scatter))


def settling(layouts: Sequence[Layout]) -> Settling | None:
    """What settles the choice between the two likeliest; None: there is one, or one of them is likely enough."""
    likeliest = sorted((one for one in layouts if one.p_best is not None), key=lambda one: -(one.p_best or 0.0))[:2]
    if len(likeliest) < 2 or (likeliest[0].p_best or 0.0) >= UNSETTLED:
        return None
    first, second = likeliest
    spread = difference_spread(first.mapping, second.mapping, layout_spreads())
    settles = chance_of_settling(
        log(second.time / first.time), spread=spread, left=spread_of_measured(spread), sure=SURE
    )
    run = _runs()
    return Settling(
        layouts=(first.mapping, second.mapping),
        benchmark=run.benchmark,
        minutes=run.minutes,
        settles=float(settles),
    )
