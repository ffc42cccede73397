"""Whatever the graph and the chip: every way to the best fusion ends at the same time, and more never hurts."""

from dataclasses import replace
from functools import cache
from itertools import product
from math import floor, inf, isfinite
from unittest.mock import patch

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from volvelle import MappingError
from volvelle.estimators.dataflow.on_chip import ChipKernel, ChipTensor, FusionChoices, FusionProblem, OnChip, Overlap
from volvelle.estimators.dataflow.partition_time import PartitionTimes, fusion_time, partition_time, partition_times_of
from volvelle.mapping.fusion import Fusion
from volvelle.search.certificate import PROVEN
from volvelle.search.fusion.assignment_model import TICKS, assignment_model, in_whole_numbers
from volvelle.search.fusion.down_sets import shortest_path
from volvelle.search.fusion.incumbent import along_orders, improved
from volvelle.search.fusion.lattice import Lattice
from volvelle.search.fusion.solve import fuse
from volvelle.search.fusion.solvers import Solver, cp_sat, highs
from volvelle.workload.operations.base import Phase, Unit


@st.composite
def graphs(draw: st.DrawFn, *, largest: int = 5) -> tuple[tuple[ChipKernel, ...], tuple[ChipTensor, ...]]:
    count = draw(st.integers(1, largest))
    kernels = []
    for number in range(count):
        unit = draw(st.sampled_from(Unit))
        kernels.append(
            ChipKernel(
                name=f"k{number}",
                unit=unit,
                rows=draw(st.integers(1, 12)),
                depth=draw(st.integers(1, 6)) if unit is Unit.MATRIX else 1,
                columns=draw(st.integers(1, 8)),
                weight_bytes=float(draw(st.sampled_from((0, 0, 30, 70)))),
                network_time=draw(st.sampled_from((0.0, 0.0, 5.0, 20.0))),
                extra_bytes=float(draw(st.sampled_from((0, 0, 9)))),
                side=Phase.FORWARD if number < count - 1 else draw(st.sampled_from((Phase.FORWARD, Phase.BACKWARD))),
            )
        )
    tensors = [
        ChipTensor(producer=f"k{first}", consumer=f"k{second}", bytes=float(draw(st.integers(1, 10))))
        for first in range(count)
        for second in range(first + 1, count)
        if draw(st.booleans())
    ]
    return tuple(kernels), tuple(tensors)


@st.composite
def problems(draw: st.DrawFn, *, largest: int = 5) -> FusionProblem:
    kernels, tensors = draw(graphs(largest=largest))
    chip = OnChip(
        cores=draw(st.integers(3, 9)),
        width=2,
        height=2,
        clock=1.0,
        sram=float(draw(st.sampled_from((60, 110, 170, 400)))),
        dram_rate=draw(st.sampled_from((0.5, 2.0, 10.0))),
        dram_capacity=draw(st.sampled_from((inf, inf, 300.0))),
        utilisation=draw(st.sampled_from((None, None, 0.7))),
    )
    choices = FusionChoices(
        overlap=draw(st.sampled_from(Overlap)),
        stream_weights=draw(st.booleans()),
        tile_weights=draw(st.booleans()),
        fuse=draw(st.sampled_from((True, True, True, False))),
        partitions=draw(st.sampled_from((None, None, 1, 2, 3))),
        forward_first=draw(st.booleans()),
    )
    if draw(st.booleans()):
        pinned = draw(st.integers(0, len(kernels) - 1))
        slot = draw(st.integers(0, (choices.partitions or 3) - 1))
        kernels = tuple(replace(one, pinned=slot) if at == pinned else one for at, one in enumerate(kernels))
    return FusionProblem(
        kernels=kernels, tensors=tensors, tiles=draw(st.sampled_from((1, 3))), chip=chip, choices=choices
    )


def brute_force(problem: FusionProblem) -> float:
    """The least time over every assignment of kernels to slots."""
    times_of = PartitionTimes(problem)
    names = times_of.names
    most = problem.choices.partitions or len(names) + max((one.pinned or 0 for one in problem.kernels), default=0)
    priced = cache(times_of.time_of)
    best = inf
    for slots in product(range(most), repeat=len(names)):
        partitions = [tuple(at for at, mine in enumerate(slots) if mine == slot) for slot in range(most)]
        parts = [priced(members) for members in partitions if members]
        if any(not part.feasible for part in parts) or sum(part.time for part in parts) >= best:
            continue
        fusion = Fusion(
            partitions=tuple(tuple(names[at] for at in members) for members in partitions), tiles=problem.tiles
        )
        try:
            found = fusion_time(problem, fusion)
        except MappingError:
            continue
        if found.feasible:
            best = found.time
    return best


@settings(max_examples=150)
@given(problems(largest=4))
def test_the_search_over_down_sets_finds_what_brute_force_finds(problem: FusionProblem) -> None:
    answer = fuse(problem, method="exact")
    assert answer.proven
    assert answer.time == pytest.approx(brute_force(problem), rel=1e-9)
    assert answer.feasible or answer.violations


@settings(max_examples=200)
@given(problems(largest=7))
def test_the_two_passes_one_by_one_take_what_both_at_once_take(problem: FusionProblem) -> None:
    free = replace(
        problem,
        kernels=tuple(replace(kernel, pinned=None) for kernel in problem.kernels),
        choices=replace(problem.choices, partitions=None, fuse=True, forward_first=True),
        chip=replace(problem.chip, dram_capacity=inf),
    )
    times_of = partition_times_of(free)
    at_once = shortest_path(times_of, Lattice(times_of))
    assert fuse(free, method="exact").time == pytest.approx(at_once.time, rel=1e-9)


@settings(max_examples=20)
@given(problems(largest=4), st.sampled_from(("highs", "cp-sat")))
def test_solvers_of_the_assignment_model_agree_with_the_search(problem: FusionProblem, solver: str) -> None:
    exact, asked = fuse(problem, method="exact"), fuse(problem, method=solver)  # type: ignore[arg-type]
    assert asked.proven
    assert asked.time == pytest.approx(exact.time, rel=2 * PROVEN)


@settings(max_examples=15)
@given(problems(largest=4), st.sampled_from((highs, cp_sat)))
def test_the_solvers_objective_is_the_price_of_the_fusion_it_decodes_to(problem: FusionProblem, solver: Solver) -> None:
    times_of = partition_times_of(problem)
    assume(fuse(problem).feasible)
    slots = problem.choices.partitions or len(times_of.names) + 3
    model = assignment_model(
        times_of, slots, unit=sum(times_of.time_of([at]).time for at in range(len(times_of.names)))
    )
    found = solver(model, 60.0, None)
    assert found.values is not None
    times = [times_of.time_of(members).time for members in model.partitions(found.values) if members]
    assert sum(times) == pytest.approx(found.objective * model.unit, rel=1e-6)


@settings(max_examples=40)
@given(problems(largest=9))
def test_a_fusion_in_numbers_satisfies_the_model_it_starts_a_solver_with(problem: FusionProblem) -> None:
    answer = fuse(problem, method="exact")
    assume(answer.fusion is not None)
    times_of = partition_times_of(problem)
    partitions = [[times_of.index[name] for name in names] for names in answer.fusion.partitions]  # type: ignore[union-attr]
    model = assignment_model(times_of, len(partitions) + 1, unit=answer.time or 1.0, tight=True)
    assume(problem.choices.partitions is None)
    values = model.values_of(times_of, partitions)
    for row, (low, high) in enumerate(zip(model.row_lower, model.row_upper, strict=True)):
        entries = slice(model.starts[row], model.starts[row + 1])
        total = sum(values[at] * value for at, value in zip(model.columns[entries], model.values[entries], strict=True))
        assert low - 1e-9 <= total <= high + 1e-9


@settings(max_examples=40)
@given(problems(largest=9))
def test_in_whole_numbers_a_model_only_gets_easier(problem: FusionProblem) -> None:
    """The best fusion, its times rounded down to ticks, satisfies every row: so no bound is above the optimum."""
    answer = fuse(problem, method="exact")
    assume(answer.fusion is not None and problem.choices.partitions is None)
    times_of = partition_times_of(problem)
    partitions = [[times_of.index[name] for name in names] for names in answer.fusion.partitions]  # type: ignore[union-attr]
    model = assignment_model(times_of, len(partitions) + 1, unit=answer.time or 1.0, tight=True)
    whole = in_whole_numbers(model)
    assert all(float(value).is_integer() for value in whole.values)
    values = [
        value if isfinite(upper) else float(floor(value * TICKS * (1 + 1e-12)))
        for value, upper in zip(model.values_of(times_of, partitions), model.upper, strict=True)
    ]
    assert sum(values[column] for column in model.times) <= answer.time / model.unit * TICKS * (1 + 1e-12)
    for row, (low, high) in enumerate(zip(whole.row_lower, whole.row_upper, strict=True)):
        entries = slice(whole.starts[row], whole.starts[row + 1])
        total = sum(values[at] * value for at, value in zip(whole.columns[entries], whole.values[entries], strict=True))
        assert low <= total <= high


@settings(max_examples=60)
@given(problems(largest=7), st.sampled_from(("sram", "dram_rate", "dram_capacity", "cores")))
def test_more_of_anything_is_never_slower(problem: FusionProblem, what: str) -> None:
    more = replace(problem, chip=replace(problem.chip, **{what: getattr(problem.chip, what) * 2}))
    assert fuse(more).time <= fuse(problem).time * (1 + 1e-9)


@settings(max_examples=60)
@given(problems(largest=7))
def test_a_larger_partition_needs_no_less_sram_compute_or_network(problem: FusionProblem) -> None:
    names = [kernel.name for kernel in problem.kernels]
    for count in range(2, len(names) + 1):
        larger = partition_time(problem, names[:count])
        smaller = partition_time(
            replace(problem, choices=replace(problem.choices, tile_weights=False)), names[: count - 1]
        )
        assert larger.sram >= smaller.sram * (1 - 1e-12)
        assert larger.compute >= smaller.compute * (1 - 1e-12)
        assert larger.network >= smaller.network


@settings(max_examples=60)
@given(problems(largest=7))
def test_the_whole_is_the_sum_of_its_partitions(problem: FusionProblem) -> None:
    answer = fuse(problem)
    assume(answer.fusion is not None and answer.timing is not None)
    parts = [partition_time(problem, names) for names in answer.fusion.partitions if names]  # type: ignore[union-attr]
    assert answer.time == pytest.approx(sum(part.time for part in parts), rel=1e-12)
    assert sum(answer.timing.binding.values()) == pytest.approx(answer.time)  # type: ignore[union-attr]
    for part in parts:
        assert part.time >= max(part.compute, part.memory, part.network) * (1 - 1e-12)
        assert sum(part.cores) <= problem.chip.cores


@settings(max_examples=40)
@given(problems(largest=8))
def test_what_is_found_fast_is_a_fusion_and_never_better_than_the_best(problem: FusionProblem) -> None:
    free = replace(
        problem,
        kernels=tuple(replace(kernel, pinned=None) for kernel in problem.kernels),
        choices=replace(problem.choices, partitions=None),
        chip=replace(problem.chip, dram_capacity=inf),
    )
    best, times_of = fuse(free, method="exact"), partition_times_of(free)
    time, first = along_orders(times_of, slots=False)
    assert (first is None) == (best.fusion is None)
    if first is not None:
        after = sum(times_of.time_of(members).time for members in improved(times_of, first, deadline=inf))
        assert best.time * (1 - 1e-9) <= after <= time * (1 + 1e-9)


@settings(max_examples=40)
@given(problems(largest=6))
def test_cores_are_shared_out_as_well_as_can_be(problem: FusionProblem) -> None:
    """Against every sharing of the cores, one by one."""
    assume(problem.chip.utilisation is None)
    times_of = partition_times_of(problem)
    assert times_of.shares is not None
    options = times_of.shares.options[:3]
    best = min(
        (
            max(one.reached(cores) for one, cores in zip(options, given_cores, strict=True))
            for given_cores in product(range(1, problem.chip.cores + 1), repeat=len(options))
            if sum(given_cores) <= problem.chip.cores
        ),
        default=inf,
    )
    assert times_of.shares.least(list(range(len(options)))) == best


@settings(max_examples=40)
@given(problems(largest=6))
def test_a_coarse_table_of_cores_gives_the_same_answer(problem: FusionProblem) -> None:
    partition_times_of.cache_clear()
    fine = fuse(problem, method="exact")
    with patch("volvelle.estimators.dataflow.core_shares._GRID", 3):
        partition_times_of.cache_clear()
        coarse = fuse(problem, method="exact")
    partition_times_of.cache_clear()
    assert coarse.time == fine.time
