"""What no machine can break: more is never slower, parts sum to the whole, what is sent is received."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import small_gpt
from tests.property.strategies import clusters, groups, latencies, mappings, rates, sizes
from volvelle import ClosedForm, Cluster, MappingTable, ParallelMapping, TrainingStep, transformer
from volvelle.estimators.rates import SustainedRates
from volvelle.laws import collectives as one_dimension
from volvelle.laws.hybrid_memory import hybrid_memory_rate
from volvelle.laws.nested_collectives import (
    Tier,
    nested_all_gather_time,
    nested_all_reduce_time,
    nested_all_to_all_time,
    nested_reduce_scatter_time,
)
from volvelle.laws.roofline import attainable_rate, kernel_time
from volvelle.laws.traffic import tiled_traffic
from volvelle.system.topologies import Dragonfly, FatTree, FullyConnected, Ring, Switch, Torus

STEP = TrainingStep(model=transformer(small_gpt()), batch=64)
NESTED = (nested_all_reduce_time, nested_all_gather_time, nested_reduce_scatter_time, nested_all_to_all_time)
FLAT = (
    one_dimension.ring_reduce_scatter_time,
    one_dimension.ring_all_reduce_time,
    one_dimension.tree_all_reduce_time,
    one_dimension.direct_all_reduce_time,
    one_dimension.in_network_all_reduce_time,
    one_dimension.pipelined_broadcast_time,
    one_dimension.all_to_all_time,
)
FASTER = st.floats(1.0, 100.0)


def time_on(cluster: Cluster, mapping: ParallelMapping) -> float:
    return ClosedForm().estimate(STEP, cluster, mapping).time


def never_slower(fast: float, slow: float) -> bool:
    return fast <= slow * (1 + 1e-12)


@given(clusters(), mappings(), FASTER)
def test_a_faster_chip_never_slows_anything_down(cluster: Cluster, mapping: ParallelMapping, factor: float) -> None:
    chip = cluster.chip
    faster = replace(chip, matrix_rates={"bf16": chip.matrix_rates["bf16"] * factor})
    assert never_slower(time_on(replace(cluster, chip=faster), mapping), time_on(cluster, mapping))
    faster = replace(chip, vector_rates={"fp32": chip.vector_rates["fp32"] * factor})
    assert never_slower(time_on(replace(cluster, chip=faster), mapping), time_on(cluster, mapping))


@given(clusters(), mappings(), FASTER)
def test_a_faster_memory_or_a_larger_buffer_never_slows_anything_down(
    cluster: Cluster, mapping: ParallelMapping, factor: float
) -> None:
    memory = replace(cluster.chip.memory, rate=cluster.chip.memory.rate * factor)
    faster = replace(cluster.chip, memories=(memory,))
    assert never_slower(time_on(replace(cluster, chip=faster), mapping), time_on(cluster, mapping))
    larger = replace(cluster.chip, buffer=cluster.chip.buffer * factor)
    assert never_slower(time_on(replace(cluster, chip=larger), mapping), time_on(cluster, mapping))


@given(clusters(), mappings(), FASTER, st.integers(0, 1))
def test_a_faster_link_never_slows_anything_down(
    cluster: Cluster, mapping: ParallelMapping, factor: float, which: int
) -> None:
    dimension = cluster.dimensions[which]
    for change in (
        {"rate": dimension.link.rate * factor},
        {"latency": dimension.link.latency / factor},
        {"setup": dimension.link.setup / factor},
    ):
        dimensions = list(cluster.dimensions)
        dimensions[which] = replace(dimension, link=replace(dimension.link, **change))
        faster = replace(cluster, dimensions=tuple(dimensions))
        assert never_slower(time_on(faster, mapping), time_on(cluster, mapping))


@given(clusters(), mappings())
def test_contributions_sum_to_the_total_and_none_is_negative(cluster: Cluster, mapping: ParallelMapping) -> None:
    found = ClosedForm().estimate(STEP, cluster, mapping)
    table = ClosedForm().table(STEP, cluster, MappingTable.of([mapping]), breakdown=True)
    assert all(line.time >= 0 for line in found.contributions)
    assert found.time == pytest.approx(sum(line.time for line in found.contributions if line.exposed), rel=1e-12)
    assert float(table.time[0]) == pytest.approx(found.time, rel=1e-12)
    assert table.contributions is not None
    parts = sum(float(column[0]) for (_, exposed), column in table.contributions.items() if exposed)
    assert parts == pytest.approx(found.time, rel=1e-12)
    assert sum(part.bytes for part in found.memory) == pytest.approx(float(table.memory_bytes[0]), rel=1e-12)


@given(clusters(), st.lists(mappings(), min_size=1, max_size=40))
def test_each_row_of_a_table_is_the_single_answer(cluster: Cluster, rows: list[ParallelMapping]) -> None:
    table = ClosedForm().table(STEP, cluster, MappingTable.of(rows))
    for index, mapping in enumerate(rows):
        single = ClosedForm().estimate(STEP, cluster, mapping)
        assert float(table.time[index]) == pytest.approx(single.time, rel=1e-12)
        assert float(table.memory_bytes[index]) == pytest.approx(single.memory_bytes, rel=1e-12)
        assert bool(table.feasible[index]) == single.feasible
        assert table.mappings.row(index) == mapping


@given(mappings(), FASTER)
def test_a_longer_batch_takes_longer(mapping: ParallelMapping, factor: float) -> None:
    from tests.conftest import small_cluster  # noqa: PLC0415

    longer = replace(STEP, batch=int(64 * np.ceil(factor)))
    assert never_slower(time_on(small_cluster(), mapping), ClosedForm().estimate(longer, small_cluster(), mapping).time)


# -- laws --------------------------------------------------------------------------------------------------------


@given(sizes, sizes, rates, rates, FASTER)
def test_a_kernel_scales_with_its_work_and_never_beats_either_bound(work, traffic, compute, memory, factor) -> None:  # type: ignore[no-untyped-def]
    time = float(kernel_time(work, traffic, compute_rate=compute, memory_rate=memory))
    assert time >= work / compute
    assert time >= traffic / memory
    scaled = float(kernel_time(work * factor, traffic * factor, compute_rate=compute, memory_rate=memory))
    assert scaled == pytest.approx(time * factor, rel=1e-12)
    assert work / float(attainable_rate(work / traffic, compute_rate=compute, memory_rate=memory)) == pytest.approx(
        time
    )


@given(sizes, sizes, sizes, st.floats(1e3, 1e12))
def test_tiling_moves_at_least_everything_once_and_is_symmetric(first, second, result, buffer) -> None:  # type: ignore[no-untyped-def]
    moved = float(tiled_traffic(first, second, result, buffer=buffer))
    assert moved >= (first + second + result) * (1 - 1e-12)
    assert moved == float(tiled_traffic(second, first, result, buffer=buffer))
    if buffer >= min(first, second):
        assert moved == pytest.approx(first + second + result)


def test_hybrid_memory_gives_the_example_of_comet() -> None:
    rate = hybrid_memory_rate(80e9, 160e9, local_rate=2e12, expanded_rate=1e12)
    assert rate == pytest.approx(1.2e12)


@given(sizes, sizes, rates, rates)
def test_hybrid_memory_lies_between_its_tiers(local, expanded, fast, slow) -> None:  # type: ignore[no-untyped-def]
    rate = hybrid_memory_rate(local, expanded, local_rate=fast, expanded_rate=slow)
    assert min(fast, slow) * (1 - 1e-12) <= rate <= max(fast, slow) * (1 + 1e-12)


@given(sizes, groups, rates, latencies, FASTER)
@pytest.mark.parametrize("law", FLAT, ids=lambda law: law.__name__)
def test_a_collective_is_never_faster_for_more_data_less_rate_or_more_latency(
    law, size, group, rate, latency, factor
) -> None:  # type: ignore[no-untyped-def]
    chips = float(group)
    time = float(law(size, chips, rate=rate, latency=latency))
    assert time <= float(law(size * factor, chips, rate=rate, latency=latency)) * (1 + 1e-12)
    assert time <= float(law(size, chips, rate=rate / factor, latency=latency)) * (1 + 1e-12)
    assert time <= float(law(size, chips, rate=rate, latency=latency * factor)) * (1 + 1e-12)


@given(sizes, rates, latencies)
@pytest.mark.parametrize("law", FLAT, ids=lambda law: law.__name__)
def test_a_group_of_one_has_nothing_to_say(law, size, rate, latency) -> None:  # type: ignore[no-untyped-def]
    assert float(law(size, 1.0, rate=rate, latency=latency)) == 0


@given(sizes, st.integers(2, 4096), rates, latencies)
@pytest.mark.parametrize("law", FLAT, ids=lambda law: law.__name__)
def test_latency_grows_with_the_group(law, size, group, rate, latency) -> None:  # type: ignore[no-untyped-def]
    small = float(law(0.0, float(group), rate=rate, latency=latency))
    large = float(law(0.0, 2.0 * group, rate=rate, latency=latency))
    assert small <= large * (1 + 1e-12)


@st.composite
def tiers(draw: st.DrawFn) -> list[Tier]:
    shapes = [Ring(), Switch(), FullyConnected(), Torus((16, 16, 16)), FatTree(oversubscription=2.0), Dragonfly(64)]
    found = []
    for _ in range(draw(st.integers(1, 3))):
        chips, shape = float(draw(st.integers(1, 64))), draw(st.sampled_from(shapes))
        found.append(
            Tier(
                chips=chips,
                rate=draw(rates),
                latency=draw(latencies),
                steps=float(shape.steps(chips)),
                bisection=float(shape.evenly(chips)),
                setup=draw(latencies),
                reduces=False,
            )
        )
    return found


def sent_in_a_dimension(size: float, chips: list[float], place: int, kind: str) -> float:
    """Bytes that a chip sends there: of an all-reduce, dimension by dimension; of a gather, around one ring."""
    inside, through = float(np.prod(chips[:place])), float(np.prod(chips[: place + 1]))
    if kind == "all-reduce":
        return 2.0 * (chips[place] - 1.0) / chips[place] * size / inside
    everyone = float(np.prod(chips))
    beyond = 0.0 if place == len(chips) - 1 else 1.0 / through
    return (everyone - 1.0) / everyone * size * (1.0 / inside - beyond)


@given(sizes, tiers(), st.booleans())
def test_a_nested_collective_is_never_faster_than_its_narrowest_link_allows(size, group, pipelined) -> None:  # type: ignore[no-untyped-def]
    chips = [float(tier.chips) for tier in group]
    for law, kind in ((nested_all_reduce_time, "all-reduce"), (nested_all_gather_time, "gather")):
        time = float(law(size, group, pipelined=pipelined))
        for place, tier in enumerate(group):
            assert time >= sent_in_a_dimension(size, chips, place, kind) / tier.rate * (1 - 1e-12)


@given(sizes, tiers())
def test_pipelining_dimensions_never_costs_time(size, group) -> None:  # type: ignore[no-untyped-def]
    for law in NESTED:
        assert float(law(size, group, pipelined=True)) <= float(law(size, group, pipelined=False)) * (1 + 1e-12)


@given(sizes, tiers())
def test_an_all_reduce_is_no_faster_than_a_reduce_scatter(size, group) -> None:  # type: ignore[no-untyped-def]
    assert float(nested_reduce_scatter_time(size, group)) <= float(nested_all_reduce_time(size, group)) * (1 + 1e-12)


@given(clusters(), st.lists(st.sampled_from([1, 2, 4, 8, 16, 32]), min_size=1, max_size=8), sizes)
def test_laws_broadcast_a_column_equals_its_rows(cluster: Cluster, chosen: list[int], size: float) -> None:
    machine = SustainedRates.of(cluster, "bf16")
    column = np.array(chosen, dtype=float)
    for law in NESTED:
        together = np.broadcast_to(law(size, machine.tiers(column, 1.0)), column.shape)
        apart = [float(law(size, machine.tiers(float(group), 1.0))) for group in chosen]
        assert list(together) == pytest.approx(apart, rel=1e-12)
