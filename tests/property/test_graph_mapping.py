"""Whatever the graph and the machine: the mapping found is the best of all, and its parts add up."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, islice
from math import ceil, inf, prod

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import arithmetic, small_chip
from tests.property.test_fusion import problems
from volvelle import BlockBuilder, Cluster, Dimension, Link, Ring, Workload, all_shardings, with_backward
from volvelle.estimators.dataflow.chip_graph import ChipGraph
from volvelle.estimators.dataflow.on_chip import FusionChoices, FusionProblem, OnChip, Overlap
from volvelle.estimators.dataflow.partition_time import fusion_time
from volvelle.mapping.fusion import Fusion
from volvelle.mapping.sharding import ShardedBlock
from volvelle.search.fusion.solve import fuse
from volvelle.search.graph.joint import map_graph
from volvelle.search.graph.memory import block_memory
from volvelle.search.graph.network import Network, placements
from volvelle.search.graph.sharding import Sharder
from volvelle.search.graph.sharding_times import ShardingTimes
from volvelle.search.graph.split_tables import handed_layouts
from volvelle.search.graph.stages import crossing_bytes, cut_chain
from volvelle.workload.tensor_layout import Collective

CHIP = OnChip(cores=4, width=2, height=2, clock=1e3, sram=6e3, dram_rate=2e4, utilisation=0.9)


@st.composite
def workloads(draw: st.DrawFn, *, largest: int = 4, backward: bool = True) -> Workload:
    """Blocks of products, pointwise operations and sums."""
    b = BlockBuilder("block")
    sizes = {"rows": 8, "wide": 16, "deep": draw(st.sampled_from((16, 32)))}
    live = [(b.input("x", "rows wide"), "wide")]
    for number in range(draw(st.integers(2, largest))):
        name, dim = draw(st.sampled_from(live[-3:]))
        kind = draw(st.sampled_from(("product", "point", "sum")))
        dims = f"rows {dim}"
        if kind == "product":
            other = "deep" if dim == "wide" else "wide"
            weight = b.weight(f"w{number}", f"{dim} {other}")
            live.append((b.contract(f"k{number}", f"{dims}, {dim} {other} -> rows {other}", name, weight), other))
        elif kind == "point":
            live.append((b.pointwise(f"k{number}", f"{dims} -> {dims}", name, saves=(0,)), dim))
        else:
            second = draw(st.sampled_from([other for other, its in live if its == dim]))
            plain = draw(st.booleans())
            live.append((b.pointwise(f"k{number}", f"{dims}, {dims} -> {dims}", name, second, is_sum=plain), dim))
    workload = Workload(name="random", sizes=sizes, blocks=(b.build(outputs=(live[-1][0],)),))
    return with_backward(workload) if backward and draw(st.booleans()) else workload


@st.composite
def sharding_times(draw: st.DrawFn, workload: Workload, degree: int) -> ShardingTimes:
    rates = {one: draw(st.floats(0.1, 3.0)) for one in Collective}
    each = draw(st.sampled_from((0.0, 0.02)))
    return ShardingTimes(
        work=arithmetic(workload.sizes, degree, rate=draw(st.sampled_from((1.0, 10.0, 100.0)))),
        exchange=lambda collective, size: rates[collective] * size + 1.0,
        replicas=(lambda collective, size: each * size) if each else None,
        micro_batches=draw(st.sampled_from((1.0, 4.0))),
    )


def cost(sharded: ShardedBlock, workload: Workload, degree: int, costs: ShardingTimes) -> float:
    """What a sharding costs, from the conversions that `shard` says it implies."""
    block, found = sharded.block, 0.0
    for op in block.operations:
        found += costs.work(op, sharded.dims[op.name])
    for one in sharded.conversions:
        share = costs.micro_batches if one.of_weight else 1.0
        found += costs.exchange(one.collective, block.tensor_of[one.tensor].bytes(workload.sizes)) / share
    if costs.replicas is not None:
        for weight in block.weights():
            if f"{weight.name}.grad" in sharded.layouts:
                split = sharded.layouts[weight.name].dim
                points = prod(
                    ceil(workload.sizes[dim] / degree) if dim == split else workload.sizes[dim] for dim in weight.dims
                )
                found += costs.replicas(Collective.ALL_REDUCE, 2.0 * points)
    return found


@settings(max_examples=40)
@given(st.data(), workloads(), st.sampled_from((2, 4)))
def test_the_best_sharding_is_the_best_of_all_shardings(data: st.DataObject, workload: Workload, degree: int) -> None:
    costs, block = data.draw(sharding_times(workload, degree)), workload.blocks[0]
    every = [
        cost(sharded, workload, degree, costs) for _, sharded in all_shardings(block, boundaries=handed_layouts(block))
    ]
    sharder = Sharder(block, workload.sizes)
    found = next(sharder.in_order(sharder.timed(degree, costs)))
    assert found.cost == pytest.approx(min(every))
    assert cost(found.sharded, workload, degree, costs) == pytest.approx(found.cost)


@given(st.data(), workloads(largest=3), st.sampled_from((2, 4)))
def test_shardings_come_in_the_order_of_what_they_cost_and_none_is_left_out(
    data: st.DataObject, workload: Workload, degree: int
) -> None:
    costs, block = data.draw(sharding_times(workload, degree)), workload.blocks[0]
    every = sorted(
        cost(sharded, workload, degree, costs) for _, sharded in all_shardings(block, boundaries=handed_layouts(block))
    )
    sharder = Sharder(block, workload.sizes)
    found = list(islice(sharder.in_order(sharder.timed(degree, costs)), 500))
    assert [one.cost for one in found] == pytest.approx(every[: len(found)])
    assert [cost(one.sharded, workload, degree, costs) for one in found] == pytest.approx([one.cost for one in found])


# -- stages ------------------------------------------------------------------------------------------------------


@given(st.data(), st.lists(st.floats(0.1, 5.0), min_size=1, max_size=7), st.integers(1, 4))
def test_a_chain_is_cut_as_well_as_any_cut_there_is(data: st.DataObject, times: list[float], stages: int) -> None:
    hands = data.draw(st.lists(st.floats(0.0, 3.0), min_size=len(times) - 1, max_size=len(times) - 1))
    found = cut_chain(times, hands, stages)
    best = min(slowest(times, hands, starts) for starts in all_cuts(len(times), stages))
    assert found.slowest == pytest.approx(best, rel=1e-6)
    assert found.bound <= found.slowest * (1 + 1e-9)
    assert slowest(times, hands, found.starts) == pytest.approx(found.slowest)


def all_cuts(items: int, stages: int) -> Iterator[tuple[int, ...]]:
    for count in range(min(stages, items)):
        for places in combinations(range(1, items), count):
            yield (0, *places)


def slowest(times: list[float], hands: list[float], starts: tuple[int, ...]) -> float:
    ends = [*starts[1:], len(times)]
    return max(
        sum(times[start:end]) + max(hands[start - 1] if start else 0.0, hands[end - 1] if end < len(times) else 0.0)
        for start, end in zip(starts, ends, strict=True)
    )


# -- everything together -----------------------------------------------------------------------------------------


def cluster(rate: float, *, chips: tuple[int, int] = (2, 2), latency: float = 1e-3) -> Cluster:
    return Cluster(
        name="small",
        chip=small_chip(),
        dimensions=tuple(
            Dimension(
                name=name,
                size=size,
                topology=Ring(),
                link=Link(name=name, rate=rate / (1 + place), latency=latency),
            )
            for place, (name, size) in enumerate(zip(("inside", "between"), chips, strict=True))
        ),
    )


def all_fusions(problem: FusionProblem) -> Iterator[tuple[tuple[str, ...], ...]]:
    needs = {kernel.name: set[str]() for kernel in problem.kernels}
    for tensor in problem.tensors:
        needs[tensor.consumer].add(tensor.producer)

    def grow(done: frozenset[str]) -> Iterator[tuple[tuple[str, ...], ...]]:
        left = [name for name in needs if name not in done]
        if not left:
            yield ()
        for count in range(1, len(left) + 1):
            for names in combinations(left, count):
                if all(needs[name] <= done | set(names) for name in names):
                    for rest in grow(done | set(names)):
                        yield (names, *rest)

    return grow(frozenset())


def best_of_all(
    workload: Workload,
    machine: Cluster,
    chip: OnChip,
    choices: FusionChoices,
    micro_batches: int,
    tiles: tuple[int, ...],
) -> float:
    """Every degree, sharding, tile size, fusion and cut there is, priced one by one."""
    block, network, best = workload.blocks[0], Network(machine, "bf16"), inf
    for placed in placements(machine):
        rounds = ceil(micro_batches / placed.data)
        exchange = network.exchange(placed.group("tensor"))
        boundaries = [one for one in handed_layouts(block) if not one.dim or placed.tensor > 1]
        seen = set[tuple[FusionProblem, tuple[float, ...]]]()
        for _, sharded in all_shardings(block, boundaries=boundaries):
            if placed.tensor == 1 and any(sharded.dims.values()):
                continue
            size = block_memory(sharded, workload.sizes, placed.tensor).size_of
            for tile in tiles:
                graph = ChipGraph(
                    sharded=sharded,
                    sizes=workload.sizes,
                    degree=placed.tensor,
                    stream="rows",
                    exchange=exchange,
                    micro_batches=rounds,
                )
                problem = graph.problem(chip, tile=tile, choices=choices)
                mark = (problem, tuple(size.values()))
                if mark in seen:
                    continue
                seen.add(mark)
                for partitions in all_fusions(problem):
                    found = fusion_time(problem, Fusion(partitions=partitions, tiles=problem.tiles))
                    if not found.feasible:
                        continue
                    times, hands, done = [part.time for part in found.partitions], [], list[str]()
                    for names in partitions[:-1]:
                        done += names
                        crossing = crossing_bytes(block, size.__getitem__, done)
                        hands.append(network.hand_over(placed.group("pipeline"), crossing.forward))
                    for starts in all_cuts(len(times), placed.pipeline):
                        step = (rounds + placed.pipeline - 1) * slowest(times, hands, starts)
                        best = min(best, step)
    return best


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    workloads(largest=3, backward=False),
    st.sampled_from((1e3, 1e4, 1e6)),
    st.sampled_from(Overlap),
    st.sampled_from((1, 3, 8)),
    st.sampled_from((2.5e3, 6e3, 1e5)),
)
def test_the_mapping_is_the_best_of_all_degrees_shardings_tiles_fusions_and_cuts(
    workload: Workload, rate: float, overlap: Overlap, micro_batches: int, sram: float
) -> None:
    machine, chip = cluster(rate), replace(CHIP, sram=sram)
    choices = FusionChoices(overlap=overlap, stream_weights=True, tile_weights=True)
    found = map_graph(
        workload,
        machine,
        stream="rows",
        tiles=(8, 2),
        micro_batches=micro_batches,
        chip=chip,
        choices=choices,
    )
    assert found.proven
    assert found.time == pytest.approx(best_of_all(workload, machine, chip, choices, micro_batches, (8, 2)), rel=2e-6)


@given(
    workloads(largest=4),
    st.sampled_from((1e3, 1e5)),
    st.sampled_from(Overlap),
    st.integers(1, 9),
    st.integers(1, 5),
)
@settings(max_examples=30)
def test_what_a_step_is_made_of_adds_up_to_it(
    workload: Workload, rate: float, overlap: Overlap, micro_batches: int, repeat: int
) -> None:
    block = replace(workload.blocks[0], repeat=repeat if workload.blocks[0].is_layer else 1)
    workload = replace(workload, blocks=(block,), runs=())
    found = map_graph(
        workload,
        cluster(rate),
        stream="rows",
        tiles=(8, 2),
        micro_batches=micro_batches,
        chip=replace(CHIP, sram=1e5),
        choices=FusionChoices(overlap=overlap, stream_weights=True, tile_weights=True),
        time_limit=5.0,
    )
    plan = found.plan
    assert plan is not None
    assert sum(part.time for part in plan.contributions if part.exposed) == pytest.approx(found.time)
    assert found.time == pytest.approx((plan.micro_batches + plan.degrees.pipeline - 1) * plan.slowest)
    assert found.bound <= found.time * (1 + 1e-9)
    assert plan.degrees.chips == 4
    whole = sum(block.repeat * block.timing.time for block in plan.blocks)
    assert sum(stage.time - stage.hand_over for stage in plan.stages) == pytest.approx(whole)


@given(workloads(largest=3, backward=False), st.sampled_from((1e3, 1e4)), st.floats(1.0, 8.0))
@settings(max_examples=25)
def test_more_bandwidth_is_never_slower(workload: Workload, rate: float, factor: float) -> None:
    def step(network: float, memory: float) -> float:
        found = map_graph(
            workload,
            cluster(rate * network),
            stream="rows",
            tiles=(4,),
            micro_batches=4,
            chip=replace(CHIP, sram=1e5, dram_rate=CHIP.dram_rate * memory),
            choices=FusionChoices(stream_weights=True),
        )
        assert found.proven
        return found.time

    plain = step(1.0, 1.0)
    assert step(factor, 1.0) <= plain * (1 + 2e-6)
    assert step(1.0, factor) <= plain * (1 + 2e-6)


@given(problems(), st.floats(1.0 + 1e-6, 1.5))
def test_a_cutoff_above_the_best_fusion_changes_nothing(problem: FusionProblem, factor: float) -> None:
    problem = replace(problem, choices=replace(problem.choices, tile_weights=True))
    free = fuse(problem, method="exact")
    assert fuse(problem, method="exact", cutoff=free.time * factor).time == pytest.approx(free.time)
