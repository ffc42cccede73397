"""Collectives beside each other, and ranks that are placed otherwise."""

from dataclasses import replace

import pytest

from tests.conftest import small_cluster
from volvelle import Cluster, Dimension, Link, VolvelleError
from volvelle.estimators.collective_flows.contended import ContendedTime, Job, contended_time, ideal_time
from volvelle.estimators.collective_flows.placement import Placement, placed
from volvelle.estimators.collectives import Algorithm
from volvelle.system.routing import Routing, Rule
from volvelle.system.topologies import AbstractTopology, FatTree, Switch, Torus
from volvelle.workload.tensor_layout import Collective

RING = Job(kind=Collective.ALL_REDUCE, size=1e9)


def machine(*parts: tuple[AbstractTopology, int, float], rule: Rule = Rule.RANDOM) -> Cluster:
    dimensions = tuple(
        Dimension(
            name=f"level {place}",
            size=size,
            topology=shape,
            link=Link(name="wire", rate=rate, latency=2e-6),
            routing=Routing(rule=rule),
        )
        for place, (shape, size, rate) in enumerate(parts)
    )
    return replace(small_cluster(), dimensions=dimensions)


def tree(oversubscription: float, rule: Rule = Rule.RANDOM) -> Cluster:
    return machine((FatTree(16, oversubscription), 64, 50e9), rule=rule)


def ring_of_32(oversubscription: float, placement: Placement, jobs: int, rule: Rule = Rule.RANDOM) -> ContendedTime:
    return contended_time(
        tree(oversubscription, rule), RING, (32,), beside=[RING] * (jobs - 1), placement=placement, seed=1
    )


def test_ranks_in_order_take_what_the_law_says_and_nobody_is_in_the_way() -> None:
    found = ring_of_32(1.0, Placement.IN_ORDER, 2)
    assert found.factor == pytest.approx(1.0, rel=1e-9)
    assert list(found.causes.values()) == pytest.approx([1.0, 1.0, 1.0], rel=1e-9)


@pytest.mark.parametrize(
    ("thinned", "alone", "beside"), [(1.0, (1.5, 4), (1.5, 5)), (2.0, (2, 5), (3, 6)), (4.0, (3, 6), (4, 9))]
)
def test_shuffled_ranks_meet_on_random_routes_and_more_so_beside_another_job(
    thinned: float, alone: tuple[float, float], beside: tuple[float, float]
) -> None:
    """A prototype found 2.0 alone and 2.0 to 4.0 beside at 1:1, 3 to 4 and 4 to 5 at 2:1, 3 to 4 and 5 to 7 at 4:1."""
    found = ring_of_32(thinned, Placement.SHUFFLED, 2)
    assert alone[0] <= found.alone / found.ideal <= alone[1]
    assert beside[0] <= found.beside / found.ideal <= beside[1]
    assert "leaf" in found.limiting.name
    assert 0.0 < found.limiting.used <= 1.0 + 1e-9


def test_jobs_on_even_and_odd_hosts_never_meet_by_d_mod_k() -> None:
    """Destinations of one job are all even, of the other all odd: they take other spines."""
    found = ring_of_32(1.0, Placement.INTERLEAVED, 2, Rule.DESTINATION)
    assert found.causes["other jobs"] == pytest.approx(1.0, rel=1e-9)


def test_two_jobs_on_one_spine_take_from_each_other() -> None:
    one_way = machine((FatTree(16, 8.0), 64, 50e9))
    found = contended_time(one_way, RING, (32,), beside=[RING], placement=Placement.INTERLEAVED)
    assert found.causes["other jobs"] == pytest.approx(2.0, rel=0.01)  # latencies are not shared


@pytest.mark.parametrize("thinned", [2.0, 4.0])
def test_all_to_all_on_a_thinned_tree_takes_what_leaves_its_leaves(thinned: float) -> None:
    """All but a leaf's own share goes up, not the half that crosses the middle."""
    found = contended_time(tree(thinned, Rule.DESTINATION), Job(kind=Collective.ALL_TO_ALL, size=1e9), (64,))
    assert found.ideal == pytest.approx(thinned * (64 - 8) / 64 * 1e9 / 50e9, rel=1e-2)
    assert found.factor == pytest.approx(1.0, abs=0.02)


def test_all_to_all_on_a_torus_takes_longer_than_its_bisection_says_by_what_routes_leave_unused() -> None:
    torus = machine((Torus((4, 4, 4)), 64, 50e9), rule=Rule.DESTINATION)
    job = Job(kind=Collective.ALL_TO_ALL, size=1e9)
    found = contended_time(torus, job, (64,))
    # Of random routes some links have more than their share; by dimension order all have as much as the cut.
    assert found.factor == pytest.approx(1.0, abs=0.05)
    assert contended_time(torus, job, (64,), routing=Routing(rule=Rule.RANDOM)).factor > 1.2


@pytest.mark.parametrize("kind", [Collective.ALL_REDUCE, Collective.ALL_GATHER, Collective.REDUCE_SCATTER])
@pytest.mark.parametrize("algorithm", [Algorithm.NESTED, Algorithm.RING])
def test_rings_over_two_dimensions_take_the_law_of_their_messages(kind: Collective, algorithm: Algorithm) -> None:
    cluster = machine((Switch(), 4, 400e9), (FatTree(16), 16, 50e9))
    job = Job(kind=kind, size=1e9, algorithm=algorithm)
    within = 1e-9 if algorithm is Algorithm.NESTED else 0.02  # a ring through all waits for latencies of both
    assert contended_time(cluster, job, (4, 8)).factor == pytest.approx(1.0, rel=within)


def test_other_algorithms_take_their_laws_too() -> None:
    cluster = machine((Switch(), 16, 400e9))
    for algorithm in (Algorithm.TREE, Algorithm.DIRECT, Algorithm.HALVING_DOUBLING):
        job = Job(kind=Collective.ALL_REDUCE, size=1e9, algorithm=algorithm)
        assert contended_time(cluster, job, (16,)).factor == pytest.approx(1.0, rel=0.02)
    assert ideal_time(RING, cluster, (16,)) > 0.0


def test_what_cannot_be_placed_or_sent_is_refused() -> None:
    cluster = machine((Switch(), 4, 400e9), (FatTree(16), 16, 50e9))
    with pytest.raises(VolvelleError, match="3 jobs of 8 units along level 1 are more than its 16"):
        placed(cluster, (4, 8), 3, Placement.SHUFFLED)
    with pytest.raises(VolvelleError, match="over 2 network dimensions has no flows"):
        contended_time(cluster, Job(kind=Collective.ALL_REDUCE, size=1e9, algorithm=Algorithm.TREE), (4, 8))


def test_members_of_a_group_are_the_first_of_each_unit() -> None:
    cluster = machine((Switch(), 4, 400e9), (FatTree(16), 16, 50e9))
    first, second = placed(cluster, (2, 3), 2, Placement.INTERLEAVED)
    assert first.tolist() == [0, 1, 8, 9, 16, 17]
    assert second.tolist() == [4, 5, 12, 13, 20, 21]
