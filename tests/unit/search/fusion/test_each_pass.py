"""Each pass fused by itself is the whole fused with the forward pass first."""

from dataclasses import replace
from math import inf

import pytest

from tests.unit.search.fusion.gpt_layer_problem import SN10, gpt_layer
from volvelle.estimators.dataflow.on_chip import ChipKernel, ChipTensor, FusionChoices, FusionProblem, OnChip, Overlap
from volvelle.estimators.dataflow.partition_time import partition_times_of
from volvelle.search.fusion.down_sets import shortest_path
from volvelle.search.fusion.lattice import Lattice
from volvelle.search.fusion.solve import fuse
from volvelle.workload.operations.base import Phase, Unit


@pytest.fixture
def both_passes() -> FusionProblem:
    """The layer's first kernels as a forward pass, its last as a backward pass."""
    problem = gpt_layer(tile=512, chip=replace(SN10, dram_capacity=inf))
    kernels = tuple(
        replace(kernel, side=Phase.FORWARD if place < len(problem.kernels) // 2 else Phase.BACKWARD)
        for place, kernel in enumerate(problem.kernels)
    )
    return replace(problem, kernels=kernels, choices=replace(problem.choices, forward_first=True))


def test_it_takes_what_one_search_over_both_takes(both_passes: FusionProblem) -> None:
    times_of = partition_times_of(both_passes)
    whole = shortest_path(times_of, Lattice(times_of))
    answer = fuse(both_passes, method="exact")
    assert answer.proven
    assert answer.time == pytest.approx(whole.time)


def test_a_quick_answer_is_no_better_and_its_bound_no_higher(both_passes: FusionProblem) -> None:
    best, quick = fuse(both_passes, method="exact"), fuse(both_passes, quick=True)
    assert best.time <= quick.time * (1 + 1e-12) < inf
    assert quick.bound <= best.time * (1 + 1e-12)


def test_below_a_cutoff_that_none_reaches_there_is_none(both_passes: FusionProblem) -> None:
    best = fuse(both_passes, method="exact")
    none = fuse(both_passes, method="exact", cutoff=0.9 * best.time)
    assert none.fusion is None
    assert none.bound == pytest.approx(0.9 * best.time)


def test_tensors_kept_for_the_backward_pass_count_also_where_a_forward_kernel_is_numbered_last() -> None:
    """What the forward pass writes for the backward pass leaves its search; it was left out where k5 came last of all.

    The two passes, and a solver asked about both at once, agree.
    """
    names = [f"k{number}" for number in range(8)]
    read = {"k2": ("k1",), "k5": ("k2", "k4"), "k6": ("k3", "k4"), "k7": ("k3", "k4")}
    problem = FusionProblem(
        kernels=tuple(
            ChipKernel(
                name=name,
                unit=Unit.VECTOR,
                rows=1,
                columns=1,
                flops=0.0,
                side=Phase.BACKWARD if name == "k7" else Phase.FORWARD,
            )
            for name in names
        ),
        tensors=tuple(
            ChipTensor(producer=producer, consumer=consumer, bytes=1.0)
            for consumer, producers in read.items()
            for producer in producers
        ),
        tiles=1,
        chip=OnChip(cores=3, width=2, height=2, clock=1.0, sram=60.0, dram_rate=0.5),
        choices=FusionChoices(overlap=Overlap.ALL, forward_first=True),
    )
    exact, asked = fuse(problem, method="exact"), fuse(problem, method="highs")
    assert exact.proven
    assert exact.time == pytest.approx(13.0)
    assert asked.time == pytest.approx(13.0)
