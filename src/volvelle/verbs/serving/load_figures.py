"""Headline figures of a load: latencies as clients measure them, throughput, and money per token."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

from volvelle.errors import MissingFigureError
from volvelle.estimators.result import AbstractFigure, Range, RangedFigure, Violation
from volvelle.verbs.serving.cost import ServingCost

if TYPE_CHECKING:
    from volvelle.applications.serving.load_answer import MachineAnswer

_RANGE_OF = {"e2el": "latency"}
"""Latencies whose range has another name."""


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LatencyFigure(AbstractFigure):
    """One latency of all requests of a load, in seconds: its mean with its range, and its percentiles.

    `value` is the mean. Requests that warm clients up are not counted.

    Examples
    --------
    >>> from volvelle import Closed, LoadedServing, serve
    >>> answer = serve("llama3-8b", on="dgx-h100/8", load=Closed(16), input=512, output=64)
    >>> assert isinstance(answer, LoadedServing)
    >>> answer.ttft.p50 <= answer.ttft.p99
    True
    """

    mean: float
    median: float
    std: float
    p90: float
    p95: float
    p99: float
    p99_9: float
    range: Range | None = None
    """Of the mean; None: unknown."""

    @property
    def value(self) -> float:
        """The mean."""
        return self.mean

    @property
    def p50(self) -> float:
        """The median."""
        return self.median

    @property
    def unit(self) -> str:
        """Seconds."""
        return "s"

    def __repr__(self) -> str:
        shown = (RangedFigure(value=value, unit="s") for value in (self.median, self.p99))
        return "mean {}; median {}, p99 {}".format(self, *shown)


class WithLoadFigures(ABC):
    """An answer with the figures of a load that the whole machine serves."""

    __slots__ = ()

    @abstractmethod
    def _measured(self) -> "MachineAnswer":
        """Return what clients measure, or raise an error if nothing is served."""

    @abstractmethod
    def _token_cost(self) -> ServingCost | None:
        """Return the cost of output tokens; None: unknown."""

    @property
    def ttft(self) -> LatencyFigure:
        """Time to the first token."""
        return self._latency("ttft")

    @property
    def tpot(self) -> LatencyFigure:
        """Time per output token after the first, one figure per request."""
        return self._latency("tpot")

    @property
    def itl(self) -> LatencyFigure:
        """Inter-token latency: every gap between two pieces of an answer."""
        return self._latency("itl")

    @property
    def e2el(self) -> LatencyFigure:
        """End-to-end latency of a request, until its last token."""
        return self._latency("e2el")

    @property
    def request_throughput(self) -> RangedFigure:
        """Requests per second of the whole machine."""
        return self._rate(self._measured().request_throughput, "requests/s")

    @property
    def output_throughput(self) -> RangedFigure:
        """Output tokens per second of the whole machine."""
        return self._rate(self._measured().throughput, "tokens/s")

    @property
    def total_token_throughput(self) -> RangedFigure:
        """Input and output tokens per second of the whole machine."""
        return self._rate(self._measured().total_throughput, "tokens/s")

    @property
    def owned_token_cost(self) -> RangedFigure:
        """Dollars per million output tokens on owned hardware, energy included."""
        cost = self._token_cost()
        return token_cost_figure(None if cost is None else cost.owned, self.output_throughput)

    @property
    def rented_token_cost(self) -> RangedFigure:
        """Dollars per million output tokens on rented hardware."""
        cost = self._token_cost()
        return token_cost_figure(None if cost is None else cost.rented, self.output_throughput)

    def _latency(self, name: str) -> LatencyFigure:
        measured = self._stable()
        found = measured.latencies.get(name)
        if found is None:
            raise MissingFigureError(f"no request has a {name}: every answer is one token long")
        return LatencyFigure(
            mean=found.mean,
            median=found.median,
            std=found.std,
            p90=found.percentiles[90.0],
            p95=found.percentiles[95.0],
            p99=found.percentiles[99.0],
            p99_9=found.tail,
            range=measured.ranges.get(_RANGE_OF.get(name, name)),
        )

    def _rate(self, value: float | None, unit: str) -> RangedFigure:
        """Return a rate whose relative range is that of the output tokens: a load fixes the tokens per request."""
        measured = self._stable()
        around, tokens = measured.ranges.get("throughput"), measured.throughput
        if around is not None and value is not None and tokens is not None:
            around = replace(around, low=around.low * value / tokens, high=around.high * value / tokens)
        assert value is not None, "a load that is stable has rates"
        return RangedFigure(value=value, range=around, unit=unit)

    def _stable(self) -> "MachineAnswer":
        measured = self._measured()
        if measured.unstable is not None:
            raise MissingFigureError(f"the load has no figures: {measured.unstable}")
        return measured


def token_cost_figure(dollars: float | None, throughput: RangedFigure) -> RangedFigure:
    """Return dollars per million tokens, which are inversely proportional to throughput."""
    if dollars is None:
        raise MissingFigureError("the cost of tokens is unknown: the catalogue has no price of such chips, or no rent")
    return throughput.inverse(dollars, "USD")


def nothing_served(violations: Sequence[Violation]) -> MissingFigureError:
    """Return the error that an answer without figures raises."""
    return MissingFigureError(
        "the answer has no figures, because this cannot be served: "
        + "; ".join(violation.problem for violation in violations)
    )
