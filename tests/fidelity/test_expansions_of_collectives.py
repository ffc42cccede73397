"""Collectives become messages in three places: as flows, in traces of a step, in traces of MPI programs. They agree."""

from collections.abc import Sequence
from dataclasses import replace
from math import log2, prod

import numpy as np
import pytest

from tests.conftest import small_cluster
from tests.smpi.expansion import steps
from tests.smpi.messages import Wires, exchanged
from volvelle import Cluster, Dimension, Link
from volvelle.estimators.collective_flows.contended import Job, exchange_of
from volvelle.estimators.collective_flows.exchange import Exchange
from volvelle.estimators.collectives import Algorithm
from volvelle.estimators.event_driven.moved import Group
from volvelle.estimators.rates import SustainedRates
from volvelle.interchange.step_traces.stage_program import Kind, Node
from volvelle.system.topologies import AbstractTopology, Ring, Switch
from volvelle.workload.message_passing.calls import Call
from volvelle.workload.tensor_layout import Collective

SIZE = 7 * 5 * 3 * 2**20
Sent = list[dict[int, list[float]]]
"""Of every rank: to whom it sends, and how much each time, longest first."""


def machine(shape: AbstractTopology, along: Sequence[int]) -> Cluster:
    link = Link(name="wire", rate=1e9, latency=1e-6)
    dimensions = tuple(
        Dimension(name=f"level {place}", size=size, topology=shape, link=link) for place, size in enumerate(along)
    )
    return replace(small_cluster(), dimensions=dimensions)


def as_flows(kind: Collective, algorithm: Algorithm, along: Sequence[int]) -> Exchange:
    return exchange_of(Job(kind=kind, size=SIZE, algorithm=algorithm), machine(Switch(), along), along)


def sent_by_flows(exchange: Exchange, ranks: int) -> Sent:
    found: Sent = [{} for _ in range(ranks)]
    for source, target, size in zip(exchange.source, exchange.target, exchange.size, strict=True):
        found[int(source)].setdefault(int(target), []).append(float(size))
    return [{to: sorted(sizes, reverse=True) for to, sizes in sorted(own.items())} for own in found]


def rounds_of(exchange: Exchange) -> int:
    """Messages of the longest chain, each waiting for the one before."""
    depth = np.ones(len(exchange), dtype=int)
    for ahead, behind in exchange.before[np.argsort(exchange.before[:, 1], kind="stable")]:
        depth[behind] = max(depth[behind], depth[ahead] + 1)
    return int(depth.max())


def sent_in_a_step(kind: Collective, shape: AbstractTopology, along: Sequence[int]) -> tuple[Sent, int]:
    """The same of a step's traces, and the messages that a rank sends one after another."""
    cluster, ranks = machine(shape, along), prod(along)
    wires = Wires.of(SustainedRates.of(cluster, next(iter(cluster.chip.matrix_rates)), software=False))
    node = Node(
        number=0,
        name="exchange",
        part="network",
        kind=Kind.COLLECTIVE,
        stream=0,
        seconds=0.0,
        start=0.0,
        after=(),
        collective=kind,
        size=SIZE,
        group=Group(ranks, 1),
    )
    found: Sent = []
    rounds = set()
    for rank in range(ranks):
        messages = exchanged(node, rank, wires).sent
        rounds.add(len(messages))
        own: dict[int, list[float]] = {}
        for to, _, size in messages:
            own.setdefault(to, []).append(size)
        found.append({to: sorted(sizes, reverse=True) for to, sizes in sorted(own.items())})
    (every,) = rounds
    return found, every


def sent_by_mpi(call: Call, ranks: int, size: int) -> tuple[Sent, int]:
    found: Sent = []
    made = steps(call, ranks, 0, size)
    for own in made:
        to: dict[int, list[float]] = {}
        for target, _, bytes_ in own:
            to.setdefault(target, []).append(bytes_)
        found.append(dict(sorted(to.items())))
    return found, len(made[0])


def assert_same(one: Sent, other: Sent) -> None:
    """To a byte a message: traces have whole ones."""
    for mine, theirs in zip(one, other, strict=True):
        assert {to: len(sizes) for to, sizes in mine.items()} == {to: len(sizes) for to, sizes in theirs.items()}
        for to, sizes in mine.items():
            assert sizes == pytest.approx(theirs[to], abs=1.0)


def least(kind: Collective, along: Sequence[int]) -> float:
    """Bytes that a rank cannot but send."""
    chips = prod(along)
    return (2.0 if kind is Collective.ALL_REDUCE else 1.0) * (chips - 1) / chips * SIZE


@pytest.mark.parametrize("along", [(2,), (7,), (8,), (4, 3), (2, 5, 3)], ids=str)
@pytest.mark.parametrize("kind", [Collective.ALL_REDUCE, Collective.ALL_GATHER, Collective.REDUCE_SCATTER])
def test_rings_of_flows_are_those_of_a_step(kind: Collective, along: tuple[int, ...]) -> None:
    flows = as_flows(kind, Algorithm.NESTED, along)
    own, rounds = sent_in_a_step(kind, Ring(), along)
    assert_same(sent_by_flows(flows, prod(along)), own)
    passes = 2 if kind is Collective.ALL_REDUCE else 1
    assert rounds_of(flows) == rounds == passes * sum(count - 1 for count in along)
    for each in own:
        assert sum(map(sum, each.values())) == pytest.approx(least(kind, along), abs=rounds)


@pytest.mark.parametrize("chips", [2, 8, 32])
def test_halving_and_doubling_of_flows_is_that_of_a_step(chips: int) -> None:
    flows = as_flows(Collective.ALL_REDUCE, Algorithm.HALVING_DOUBLING, (chips,))
    own, rounds = sent_in_a_step(Collective.ALL_REDUCE, Switch(), (chips,))
    assert_same(sent_by_flows(flows, chips), own)
    assert rounds_of(flows) == rounds == 2 * log2(chips)


@pytest.mark.parametrize("ranks", [2, 5, 7])
def test_all_three_gather_around_the_same_ring(ranks: int) -> None:
    flows = as_flows(Collective.ALL_GATHER, Algorithm.NESTED, (ranks,))
    own, rounds = sent_in_a_step(Collective.ALL_GATHER, Ring(), (ranks,))
    recorded, turns = sent_by_mpi(Call.ALLGATHER, ranks, round(SIZE / ranks))
    assert_same(own, recorded)
    assert_same(sent_by_flows(flows, ranks), recorded)
    assert rounds == turns == rounds_of(flows)


@pytest.mark.parametrize("ranks", [2, 5, 8])
def test_all_three_send_everybody_a_share_in_an_all_to_all(ranks: int) -> None:
    flows = as_flows(Collective.ALL_TO_ALL, Algorithm.NESTED, (ranks,))
    own, rounds = sent_in_a_step(Collective.ALL_TO_ALL, Switch(), (ranks,))
    recorded, turns = sent_by_mpi(Call.ALLTOALL, ranks, SIZE)
    assert_same(own, recorded)
    assert_same(sent_by_flows(flows, ranks), recorded)
    assert rounds == turns == ranks - 1
    assert rounds_of(flows) == 1  # all at once: they share links as they may


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_an_all_reduce_of_mpi_doubles_in_half_the_rounds_and_sends_all_of_it_in_each(ranks: int) -> None:
    """Its plain libraries do so with short messages; in steps and flows an all-reduce scatters first."""
    scattered, rounds = sent_in_a_step(Collective.ALL_REDUCE, Switch(), (ranks,))
    doubled, turns = sent_by_mpi(Call.ALLREDUCE, ranks, SIZE)
    assert rounds == 2 * turns
    for mine, theirs in zip(scattered, doubled, strict=True):
        assert mine.keys() == theirs.keys()
        assert sum(map(sum, theirs.values())) == turns * SIZE
        assert sum(map(sum, mine.values())) == pytest.approx(least(Collective.ALL_REDUCE, (ranks,)), abs=rounds)


@pytest.mark.parametrize("ranks", [3, 8])
def test_a_reduce_scatter_of_mpi_sends_as_much_in_as_many_rounds_to_others(ranks: int) -> None:
    around, rounds = sent_in_a_step(Collective.REDUCE_SCATTER, Ring(), (ranks,))
    paired, turns = sent_by_mpi(Call.REDUCE_SCATTER, ranks, SIZE)
    assert rounds == turns
    for mine, theirs in zip(around, paired, strict=True):
        assert sum(map(sum, mine.values())) == pytest.approx(sum(map(sum, theirs.values())), abs=rounds)
