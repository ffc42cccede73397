"""An MPI trace timed again on a machine: computation scaled, messages and collectives by its network.

Messages share links max-min fairly, or each has the network to itself, which is a lower bound and goes as fast as the
longest path. Rank r is on chip r.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import DescriptionError, GraphError
from volvelle.estimators.message_passing.collective_times import collective_times
from volvelle.estimators.message_passing.program import ProgramGraph, deadlock, program_graph
from volvelle.estimators.rates import SustainedRates
from volvelle.laws.collectives import point_to_point_time
from volvelle.simulation.compiler import ready
from volvelle.simulation.flow.clock import run
from volvelle.simulation.flow.flows import Flows, RouteTable, flow_times
from volvelle.simulation.replay import replay
from volvelle.simulation.tasks import TaskGraph
from volvelle.system.cluster import Cluster
from volvelle.system.network import Network
from volvelle.workload.message_passing.trace import MessageTrace, Real

EAGER = 65536.0
"""Bytes up to which a message does not wait for its receiver: what Open MPI's TCP transport and SimGrid's SMPI take
where nobody says."""
MOST_FLOWS = 200_000
"""Messages up to which links are shared where nobody says how to replay."""

_WORTH_COMPILING = 20_000
"""Tasks from which on flows are worth compiling first, where that was not done before."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RetimedTrace:
    """The trace with its times on another machine."""

    trace: MessageTrace
    contended: bool
    """Whether messages share links."""
    compute: float
    """Seconds of computation of the rank that computes longest."""
    graph: ProgramGraph = field(repr=False)
    """Whose tasks it is timed by."""
    ends: Real = field(repr=False)
    """When each of them ends."""

    @property
    def time(self) -> float:
        """Until the last rank has ended."""
        return self.trace.time


def retimed(
    trace: MessageTrace,
    cluster: Cluster,
    *,
    ratio: float = 1.0,
    eager: float = EAGER,
    contended: bool | None = None,
) -> RetimedTrace:
    """Replay a trace; computation takes `ratio` times as long as it did."""
    if trace.ranks > cluster.accelerators:
        raise DescriptionError(
            f"{trace.name!r} has {trace.ranks:,} ranks, and {cluster.name} has {cluster.accelerators:,} chips; take "
            f"one with as many, like {cluster.name.rpartition('/')[0] or cluster.name}/{trace.ranks}"
        )
    graph = program_graph(trace, eager=eager)
    shared = len(graph.messages) <= MOST_FLOWS if contended is None else contended
    element = next(iter(cluster.chip.matrix_rates))
    together = collective_times(trace, graph.pairs, SustainedRates.of(cluster, element, software=False))
    ends = by_flows(graph, Network(cluster), ratio, together) if shared else _by_laws(graph, cluster, ratio, together)
    return _timed(graph, ends, ratio, contended=shared)


def crossed_levels(graph: ProgramGraph, cluster: Cluster) -> NDArray[np.bool_]:
    """Of every message, which dimensions of the machine it crosses; a row a message."""
    here, there = graph.trace.rank[graph.messages], graph.trace.partner[graph.messages]
    found = np.zeros((len(here), len(cluster.dimensions)), dtype=bool)
    inside = 1
    for place, dimension in enumerate(cluster.dimensions):
        found[:, place] = here // inside % dimension.size != there // inside % dimension.size
        inside *= dimension.size
    return found


def law_graph(graph: ProgramGraph, cluster: Cluster, ratio: float, together: Real) -> TaskGraph:
    """Tasks of a program each of whose messages has the network to itself."""
    crosses = crossed_levels(graph, cluster)
    links = [dimension.link for dimension in cluster.dimensions]
    rates = np.where(crosses, [float(link.sustained) for link in links], np.inf).min(axis=1, initial=np.inf)
    latency = crosses @ np.array([float(link.latency) for link in links])
    sizes = graph.trace.size[graph.messages].astype(np.float64)
    takes = np.asarray(point_to_point_time(sizes, rate=rates, latency=latency))
    return graph.task_graph(graph.durations(ratio, takes, together))


def _by_laws(graph: ProgramGraph, cluster: Cluster, ratio: float, together: Real) -> Real:
    try:
        return replay(law_graph(graph, cluster, ratio, together))
    except GraphError:
        raise deadlock(graph) from None


def by_flows(
    graph: ProgramGraph, network: Network, ratio: float, together: Real, rates: Sequence[float] | None = None
) -> Real:
    """When tasks end whose messages share links; `rates` are of a chip in each dimension, by default the network's."""
    trace, sends = graph.trace, graph.messages
    here, there = trace.rank[sends], trace.partner[sends]
    ways, route = np.unique(here * trace.ranks + there, return_inverse=True)
    made = network.routes(ways // trace.ranks, ways % trace.ranks)
    table = RouteTable.of(made.links, made.shares)
    nowhere = len(table)
    table = replace(table, first=np.append(table.first, table.first[-1]))
    latency = graph.durations(ratio, network.latencies(here, there), together)
    size = np.zeros(graph.tasks)
    size[graph.own : graph.own + len(sends)] = trace.size[sends]
    routes = np.full(graph.tasks, nowhere, dtype=np.int64)
    routes[graph.own : graph.own + len(sends)] = route.ravel()
    flows = Flows(
        routes=table,
        route=routes,
        size=size,
        latency=latency,
        before=np.concatenate([graph.edges, graph.in_order]),
    )
    try:
        by_machine = None if graph.tasks >= _WORTH_COMPILING or ready(run) else False
        return np.asarray(flow_times(network.capacities(rates), flows, compiled=by_machine).end)
    except (GraphError, DescriptionError):
        raise deadlock(graph) from None


def _timed(graph: ProgramGraph, ends: Real, ratio: float, *, contended: bool) -> RetimedTrace:
    """A call begins when the task before it ends, and ends when the task after it begins."""
    trace = graph.trace
    computed = np.zeros(graph.own)
    computed[graph.program] = trace.compute * ratio
    began = ends[: graph.own] - computed
    start = ends[graph.program]
    made = replace(
        trace,
        start=start,
        end=np.maximum(began[graph.program + 1], start),
        compute=trace.compute * ratio,
    )
    by_rank = np.bincount(trace.rank, weights=made.compute, minlength=trace.ranks)
    return RetimedTrace(
        trace=made, contended=contended, compute=float(by_rank.max(initial=0.0)), graph=graph, ends=ends
    )
