"""Where the time of an MPI program on another machine lies when numbers of the machine and the laws are in doubt.

Links vary within their spreads, and by how far measured collectives are off; computation as far as it goes by a
roofline. The longest chain of tasks by laws, each message having the network to itself, is the control variate by which
a few replays, with shared links or without, tell of all samples.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.message_passing.collective_times import collective_columns, collective_times, stride_of
from volvelle.estimators.message_passing.retimed import RetimedTrace, by_flows, crossed_levels, law_graph
from volvelle.estimators.rates import SustainedRates
from volvelle.estimators.result import Range
from volvelle.estimators.sampled_replay import (
    MOST_FLOWS,
    SampledTimes,
    VaryingPart,
    by_some,
    sampled_times,
    worthwhile_replays,
)
from volvelle.estimators.sampler import Column, Sampler, Stratified
from volvelle.estimators.uncertainty import model_error_column, moving_time, range_of, sampled
from volvelle.laws.model_error import error_beside_inputs
from volvelle.mapping.placement import members
from volvelle.quantities import Number
from volvelle.simulation.critical import critical_chain
from volvelle.system.cluster import Cluster
from volvelle.system.network import Network

SAMPLES = 512
COMPUTATION, MESSAGES, COLLECTIVES = "computation", "messages", "collectives"
"""What the time is made of."""
Error = Callable[[float, Sequence[float]], tuple[str, float]]
"""Of a message of so many bytes, with so many members along each dimension: what its error is called, and one standard
deviation of its logarithm."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VaryingRatio:
    """Seconds of computation over those recorded, on every sampled pair of machines."""

    ratios: Column
    varied: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetimedRange:
    """How sure the time of a program on a machine is."""

    time: Range
    shares: Mapping[str, float]
    """Computation, messages and collectives → share of the chain that ends last where no message shares a link."""
    replays: int
    """Sampled machines that were replayed; 0: all samples follow that chain."""
    correlation: float | None
    """Of those replays with the chain."""


def retimed_range(
    found: RetimedTrace,
    cluster: Cluster,
    *,
    ratio: float,
    error: Error,
    varying: VaryingRatio | None = None,
    seed: int = 0,
    level: float = 0.8,
) -> RetimedRange:
    """The range of a trace that was timed on a machine; computation took `ratio` of what was recorded."""
    return _Doubt(found, cluster, ratio, error, varying, Stratified(SAMPLES, seed)).range(level)


class _Doubt:
    def __init__(
        self,
        found: RetimedTrace,
        cluster: Cluster,
        ratio: float,
        error: Error,
        varying: VaryingRatio | None,
        sampler: Sampler,
    ) -> None:
        self.found, self.cluster, self.ratio, self.error, self.sampler = found, cluster, ratio, error, sampler
        self.graph = found.graph
        self.variants, varied = sampled(cluster, sampler=sampler)
        self.ratios = np.ones(sampler.samples) if varying is None else varying.ratios / ratio
        parts = tuple(f"{name}: " for level in cluster.dimensions for name in (level.name, level.link.name))
        links = (name for name in moving_time(varied) if name.startswith(parts))
        self._inputs = (*(varying.varied if varying else ()), *links)
        self._errors: list[str] = []
        element = next(iter(cluster.chip.matrix_rates))
        rates, many = (SustainedRates.of(one, element, software=False) for one in (cluster, self.variants))
        self.together = collective_times(self.graph.trace, self.graph.pairs, rates)
        self.collectives = collective_columns(self.graph.trace, self.graph.pairs, many, sampler.samples)
        self.crosses = crossed_levels(self.graph, cluster)
        self.rates, self.latencies = self._links()

    def range(self, level: float) -> RetimedRange:
        """By laws, and where links are shared by some replays with them."""
        graph = law_graph(self.graph, self.cluster, self.ratio, self.together)
        chain = critical_chain(graph, self.found.ends)
        parts, factors = self._parts(graph.durations)
        if not self.found.contended:
            times = sampled_times(graph, chain, parts, factors)
        elif few := worthwhile_replays(len(graph), MOST_FLOWS):
            times = by_some(self._by_flows(), sampled_times(graph, chain, parts, factors).time, few)
        else:
            times = sampled_times(graph, chain, parts, factors, replays=0)
            alone = float(graph.durations[chain].sum())
            times = replace(times, time=times.time * (self.found.time / alone if alone > 0.0 else 1.0))
        return self._told(times, chain, graph.durations[chain], level)

    def _told(
        self, times: SampledTimes, chain: NDArray[np.int64], seconds: NDArray[np.float64], level: float
    ) -> RetimedRange:
        own, sends = self.graph.own, len(self.graph.messages)
        kinds = {
            COMPUTATION: chain < own,
            MESSAGES: (chain >= own) & (chain < own + sends),
            COLLECTIVES: chain >= own + sends,
        }
        whole = float(seconds.sum())
        shares = {name: float(seconds[which].sum()) / whole for name, which in kinds.items()} if whole > 0.0 else {}
        varied = (*self._inputs, *dict.fromkeys(self._errors))
        return RetimedRange(
            time=range_of(times.time, level=level, varied=varied).holding(self.found.time),
            shares={name: share for name, share in shares.items() if share > 0.0},
            replays=times.replays,
            correlation=times.correlation,
        )

    def _links(self) -> tuple[list[Column], list[Column]]:
        """Rates and latencies of every dimension on all samples, by how far messages over it are off too."""
        sizes = self.graph.trace.size[self.graph.messages].astype(np.float64)
        rates, latencies = [], []
        for place, dimension in enumerate(self.variants.dimensions):
            link = dimension.link
            rate, latency = (np.broadcast_to(one, self.sampler.samples) for one in (link.sustained, link.latency))
            crossing = sizes[self.crosses[:, place]]
            if len(crossing):
                along = [2.0 if other == place else 1.0 for other in range(len(self.cluster.dimensions))]
                rate = rate / self._off(float(crossing.mean()), along, rate)
                latency = latency * self._off(float(crossing.mean()), along, latency)
            rates.append(np.asarray(rate))
            latencies.append(np.asarray(latency))
        return rates, latencies

    def _off(self, size: float, along: Sequence[float], inputs: Column) -> Column:
        """By measured collectives; numbers of links count as far as they are in more doubt than those leave."""
        name, error = self.error(size, along)
        self._errors.append(name)
        own = float(np.std(np.log(inputs))) if np.all(inputs > 0.0) else 0.0
        return model_error_column(exp(float(error_beside_inputs(error, own, known=error))), self.sampler, name=name)

    def _parts(self, durations: NDArray[np.float64]) -> tuple[list[VaryingPart], NDArray[np.float64]]:
        """Seconds of tasks and the factors that they go by: computation and collectives, then latencies, transfers."""
        own, sends = self.graph.own, len(self.graph.messages)
        rows = [np.ones(self.sampler.samples), self.ratios, *self._collective_factors()]
        row = np.ones(len(durations), dtype=np.int64)
        row[own + sends :] = np.where(self.collectives.row >= 0, self.collectives.row + 2, 0)
        row[own : own + sends] = 0
        sizes = self.graph.trace.size[self.graph.messages].astype(np.float64)
        seconds = durations.copy()
        seconds[own : own + sends] = 0.0
        late, moved = np.zeros(len(durations)), np.zeros(len(durations))
        late_row, moved_row = np.zeros(len(durations), dtype=np.int64), np.zeros(len(durations), dtype=np.int64)
        signatures, which = np.unique(self.crosses, axis=0, return_inverse=True)
        links = [dimension.link for dimension in self.cluster.dimensions]
        for number, crossed in enumerate(signatures):
            places = np.flatnonzero(crossed).tolist()
            if not places:
                continue
            same = own + np.flatnonzero(which.ravel() == number)
            latency = sum(float(links[place].latency) for place in places)
            rate = min(float(links[place].sustained) for place in places)
            late[same], late_row[same] = latency, len(rows)
            moved[same], moved_row[same] = sizes[same - own] / rate, len(rows) + 1
            rows.append(_over(sum((self.latencies[place] for place in places), np.zeros(1)), latency))
            rows.append(rate / np.min([self.rates[place] for place in places], axis=0))
        parts = [VaryingPart(seconds=seconds, row=row), VaryingPart(seconds=late, row=late_row)]
        factors = np.stack([np.broadcast_to(one, self.sampler.samples) for one in rows])
        return [*parts, VaryingPart(seconds=moved, row=moved_row)], factors

    def _collective_factors(self) -> list[Column]:
        central = np.zeros(len(self.collectives.kinds))
        known = self.collectives.row >= 0
        central[self.collectives.row[known]] = self.together[known]
        found = []
        for (group, size), seconds, before in zip(
            self.collectives.kinds, self.collectives.seconds, central, strict=True
        ):
            along = members(float(len(group.members)), float(stride_of(group)), self.cluster.spans)
            off = self._off(size, [float(np.max(count)) for count in along], seconds)
            found.append(_over(seconds * off, before))
        return found

    def _by_flows(self) -> Callable[[int], float]:
        """Seconds on one sample, messages sharing links."""
        factors = np.stack([np.ones(self.sampler.samples), *self._collective_factors()])
        row = np.where(self.collectives.row >= 0, self.collectives.row + 1, 0)

        def ended(sample: int) -> float:
            links = [
                replace(dimension, link=replace(dimension.link, latency=float(latency[sample])))
                for dimension, latency in zip(self.cluster.dimensions, self.latencies, strict=True)
            ]
            network = Network(replace(self.cluster, dimensions=tuple(links)))
            together = self.together * factors[row, sample]
            rates = [float(rate[sample]) for rate in self.rates]
            ends = by_flows(self.graph, network, self.ratio * float(self.ratios[sample]), together, rates)
            return float(ends[: self.graph.own].max())

        return ended


def _over(column: Number, central: float) -> Column:
    return np.asarray(column / central if central > 0.0 else np.ones(1))
