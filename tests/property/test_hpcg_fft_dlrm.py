"""What no machine can break, of HPCG, transforms and recommendation models: more is never slower, parts sum."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import small_chip, small_cluster
from volvelle import Cluster
from volvelle.applications.dlrm.estimator import DlrmModel, DlrmStep
from volvelle.applications.dlrm.tables import TableElements, table_costs
from volvelle.applications.fft.estimator import FftLayout, FftModel, FftProblem
from volvelle.applications.hpcg.constants import hpcg_factors, hpcg_families
from volvelle.applications.hpcg.estimator import Hpcg, HpcgLayout, HpcgModel
from volvelle.laws.recommendation import distinct_count
from volvelle.mapping.table_placement import Placement, TablePlacement, spread_tables
from volvelle.workload.families.dlrm import Dlrm, EmbeddingTables

FASTER = st.floats(1.0, 100.0)
CHIP = small_chip(vector_rates={"fp32": 20e12, "fp64": 10e12})
SHAPE = Dlrm(
    name="small",
    dense=13,
    bottom=(64, 32),
    top=(64, 1),
    tables=(
        EmbeddingTables(count=3, rows=100_000, width=32, pooling=4),
        EmbeddingTables(count=1, rows=50, width=32),
    ),
    element="bf16",
)
WAYS = st.tuples(st.sampled_from(Placement), st.sampled_from(Placement))


def sped_up(cluster: Cluster, which: int, factor: float) -> Cluster:
    """Faster memory (0), a faster inner (1) or outer (2) link, or faster arithmetic (3)."""
    chip = cluster.chip
    if which == 0:
        memory = replace(chip.memory, rate=chip.memory.rate * factor)
        return replace(cluster, chip=replace(chip, memories=(memory,)))
    if which == 3:
        rates = {name: rate * factor for name, rate in chip.vector_rates.items()}
        matrix = {name: rate * factor for name, rate in chip.matrix_rates.items()}
        return replace(cluster, chip=replace(chip, vector_rates=rates, matrix_rates=matrix))
    dimensions = list(cluster.dimensions)
    link = dimensions[which - 1].link
    dimensions[which - 1] = replace(dimensions[which - 1], link=replace(link, rate=link.rate * factor))
    return replace(cluster, dimensions=tuple(dimensions))


@given(st.sampled_from(sorted(hpcg_families())), st.integers(1, 10_000), FASTER)
def test_more_memory_bandwidth_never_slows_hpcg_down(family: str, nodes: int, factor: float) -> None:
    model, layout = HpcgModel(factors=hpcg_factors(family), samples=32), HpcgLayout(nodes=nodes)
    cluster = small_cluster(nodes, chip=CHIP)
    slow, fast = (model.estimate(Hpcg(), machine, layout) for machine in (cluster, sped_up(cluster, 0, factor)))
    assert fast.rate == pytest.approx(factor * slow.rate)
    assert slow.rate_range is not None
    assert fast.rate_range is not None
    assert fast.rate_range.low >= slow.rate_range.low * (1 - 1e-12)


@given(st.sampled_from(sorted(hpcg_families())), st.integers(1, 1000), st.integers(1, 1000))
def test_more_nodes_never_slow_hpcg_down(family: str, nodes: int, more: int) -> None:
    model = HpcgModel(factors=hpcg_factors(family))
    few, many = (
        float(model.rate(small_cluster(n, chip=CHIP), HpcgLayout(nodes=n))) for n in (2 * nodes, 2 * nodes + more)
    )
    assert many >= few * (1 - 1e-12)


@settings(max_examples=30)
@given(
    st.integers(6, 11),
    st.sampled_from([(32, 1, True), (32, 1, False), (8, 4, False), (4, 8, False), (1, 32, False)]),
    st.booleans(),
    st.integers(0, 3),
    FASTER,
)
def test_a_faster_machine_never_slows_a_transform_down(
    size: int, cut: tuple[int, int, bool], real: bool, which: int, factor: float
) -> None:
    cluster = small_cluster(4, chip=CHIP)
    problem = FftProblem(shape=(2**size, 2**size, 2**size), real=real)
    layout = FftLayout(rows=cut[0], columns=cut[1], slab=cut[2])
    slow = FftModel(samples=4).estimate(problem, cluster, layout)
    fast = FftModel(samples=4).estimate(problem, sped_up(cluster, which, factor), layout)
    assert fast.time <= slow.time * (1 + 1e-12)
    assert slow.time == pytest.approx(sum(part.time for part in slow.contributions))


@settings(max_examples=30)
@given(WAYS, st.integers(32, 100_000), st.integers(0, 3), FASTER)
def test_a_faster_machine_never_slows_a_recommendation_step_down(
    ways: tuple[Placement, Placement], batch: int, which: int, factor: float
) -> None:
    cluster, model = small_cluster(4, chip=CHIP), DlrmModel(samples=4)
    step, placement = DlrmStep(shape=SHAPE, batch=batch), TablePlacement(ways=ways)
    slow = model.estimate(step, cluster, placement)
    fast = model.estimate(step, sped_up(cluster, which, factor), placement)
    assert fast.time <= slow.time * (1 + 1e-9)
    assert slow.time == pytest.approx(sum(part.time for part in slow.contributions if part.exposed))
    assert slow.memory_bytes == pytest.approx(sum(part.bytes for part in slow.memory))


@given(WAYS, st.integers(1, 10_000), st.integers(1, 64))
def test_more_samples_never_move_fewer_bytes(ways: tuple[Placement, Placement], batch: int, chips: int) -> None:
    placement = TablePlacement(ways=ways)
    one, two = (
        table_costs(SHAPE, placement, batch=size, chips=chips, elements=TableElements()) for size in (batch, 2 * batch)
    )
    for name in ("gathered", "updated", "indices", "vectors"):
        assert getattr(two, name) >= getattr(one, name) * (1 - 1e-9)


@given(st.floats(1.0, 1e9), st.floats(1.0, 1e9))
def test_no_more_things_differ_than_were_drawn_or_are_there(draws: float, kinds: float) -> None:
    assert 0 < float(distinct_count(draws, kinds)) <= min(draws, kinds) * (1 + 1e-6)


@given(st.lists(st.floats(0.1, 100.0), min_size=1, max_size=40), st.integers(1, 16))
def test_the_busiest_chip_is_within_the_known_bound_of_the_best(costs: list[float], chips: int) -> None:
    """Dearest first is never more than 4/3 of the best, so of any lower bound (Graham 1969) plus one table."""
    places = spread_tables(costs, chips)
    loads = [0.0] * chips
    for cost, place in zip(costs, places, strict=True):
        loads[place] += cost
    assert sum(loads) == pytest.approx(sum(costs))
    assert max(loads) <= sum(costs) / chips + max(costs) + 1e-9
