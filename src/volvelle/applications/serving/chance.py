"""How likely limits are kept when it is measured, and where figures lie: the model's own error through the queue.

Steps of all kinds may take longer or shorter than predicted, together; so the load is served again with steps slowed by
what the error of TPOT allows. A queue makes more of that than the error of a step. What the error of TTFT or of whole
latencies has beyond that of TPOT comes on top, independent of it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from statistics import NormalDist

from volvelle.applications.serving.goodput import Trial
from volvelle.workload.serving.limits import LatencyLimit

_NODES = 9
"""Slow-downs of equal probability that stand for all."""
_LEAST_ERROR = 1e-3
LEVEL = 0.8
"""Of ranges."""
_NORMAL = NormalDist()
ERRORS = {"ttft": "ttft", "tpot": "tpot", "itl": "tpot", "e2el": "latency"}
"""Latency → whose error is known for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelyFigure:
    """A figure that is limited, and where four of five measurements of it are to be expected."""

    limit: LatencyLimit
    value: float
    low: float
    high: float | None
    """None: at that end requests come faster than they are served."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance:
    """What the model's error leaves of an answer."""

    kept: float
    """Probability that all limits are kept."""
    stable: float
    """Probability that requests are served as fast as they come."""
    figures: tuple[LikelyFigure, ...]


def chance(
    tried: Callable[[float], Trial],
    limits: Sequence[LatencyLimit],
    values: Sequence[float],
    errors: Mapping[str, float],
) -> Chance:
    """Of a service whose trials, by how much slower steps are, are given; `values` are its figures as predicted."""
    spread = log(errors["tpot"])
    rest = {name: sqrt(max(log(errors[of]) ** 2 - spread**2, 0.0)) for name, of in ERRORS.items()}
    trials = [tried(slower) for slower in slow_downs(errors["tpot"])]
    kept = sum(_kept(one, limits, rest) for one in trials) / _NODES
    stable = sum(one.stable for one in trials) / _NODES
    likely = []
    for index, (limit, value) in enumerate(zip(limits, values, strict=True)):
        low, high = likely_between(
            [one.figures[index] if one.stable else None for one in trials], value, rest[limit.latency]
        )
        likely.append(LikelyFigure(limit=limit, value=value, low=low, high=high))
    return Chance(kept=kept, stable=stable, figures=tuple(likely))


def slow_downs(error: float, count: int = _NODES) -> list[float]:
    """Factors of equal probability that stand for all by which steps may be slower, one deviation of them given."""
    return [exp(log(error) * _NORMAL.inv_cdf((place + 0.5) / count)) for place in range(count)]


def likely_between(tried: Sequence[float | None], value: float, rest: float) -> tuple[float, float | None]:
    """Where four of five measurements lie, from figures at slow-downs of equal probability; None: beyond all.

    `rest` is one deviation, as a logarithm, of what comes on top. The predicted value always lies between.
    """
    figures = [figure for figure in tried if figure is not None]
    error = max(rest, _LEAST_ERROR)
    low = _quantile(figures, len(tried), (1.0 - LEVEL) / 2.0, error)
    high = _quantile(figures, len(tried), (1.0 + LEVEL) / 2.0, error)
    return value if low is None else min(low, value), None if high is None else max(high, value)


def _kept(one: Trial, limits: Sequence[LatencyLimit], rest: Mapping[str, float]) -> float:
    """Probability that limits are kept, given how slow steps are; of each kind of error the tightest limit counts."""
    if not one.stable:
        return 0.0
    tightest: dict[str, float] = {}
    for limit, figure in zip(limits, one.figures, strict=True):
        lead = log(limit.seconds / figure) if figure > 0.0 else 10.0
        name = ERRORS[limit.latency]
        tightest[name] = min(
            tightest.get(name, lead / max(rest[limit.latency], _LEAST_ERROR)),
            lead / max(rest[limit.latency], _LEAST_ERROR),
        )
    found = 1.0
    for lead in tightest.values():
        found *= _NORMAL.cdf(lead)
    return found


def _quantile(figures: Sequence[float], count: int, place: float, error: float) -> float | None:
    """Of a mixture of log-normal figures, those that are not there being beyond all; None: it lies among these."""
    if len(figures) / count <= place or min(figures) <= 0.0:
        return None
    low, high = log(min(figures)) - 10.0 * error, log(max(figures)) + 10.0 * error
    for _ in range(60):
        middle = 0.5 * (low + high)
        below = sum(_NORMAL.cdf((middle - log(figure)) / error) for figure in figures) / count
        low, high = (middle, high) if below < place else (low, middle)
    return exp(0.5 * (low + high))
