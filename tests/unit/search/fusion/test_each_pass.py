"""Each pass fused by itself is the whole fused with the forward pass first."""

from dataclasses import replace
from math import inf

import pytest

from tests.unit.search.fusion.gpt_layer_problem import SN10, gpt_layer
from volvelle.estimators.dataflow.on_chip import FusionProblem
from volvelle.estimators.dataflow.partition_time import partition_times_of
from volvelle.search.fusion.down_sets import shortest_path
from volvelle.search.fusion.lattice import Lattice
from volvelle.search.fusion.solve import fuse
from volvelle.workload.operations import Phase


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
