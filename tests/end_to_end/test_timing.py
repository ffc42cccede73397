"""Figures of wall-clock time, each as a ratio or with room for a noisy machine."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.end_to_end.test_command import QUESTION, volvelle
from volvelle import Catalogue, ClosedForm, MappingTable, ParallelMapping, TrainingStep, transformer

pytestmark = pytest.mark.timing


def best(times: int, action) -> float:  # type: ignore[no-untyped-def]
    found = []
    for _ in range(times):
        start = time.perf_counter()
        action()
        found.append(time.perf_counter() - start)
    return min(found)


def ratio(times: int, one, other) -> float:  # type: ignore[no-untyped-def]
    """How much longer one action takes than another, at best; in turn, so that a noisy machine disturbs both."""
    pairs = [(best(1, one), best(1, other)) for _ in range(times)]
    return min(first for first, _ in pairs) / min(second for _, second in pairs)


def test_an_estimate_answers_within_two_seconds() -> None:
    assert best(6, lambda: volvelle(*QUESTION)) < 2.0


def test_a_batch_is_served_within_a_second_and_a_half() -> None:
    words = ("serve", "llama3-70b", "--on", "dgx-h100/8", "--weights", "fp8", "--batch", "16")
    assert best(6, lambda: volvelle(*words)) < 1.5


def test_a_million_accelerators_cost_what_eight_do() -> None:
    catalogue = Catalogue()
    # A model that fits both machines: where one does not, its cures are priced too, and the comparison would be unfair.
    step = TrainingStep(model=transformer(catalogue.model("llama2-7b")), batch=1048576)
    small, large = catalogue.cluster("dgx-a100/8"), catalogue.cluster("dgx-a100/1048576")
    estimator = ClosedForm()
    one, many = ParallelMapping(tensor=8, data=1), ParallelMapping(tensor=8, pipeline=8, data=16384)
    for cluster, mapping in ((small, one), (large, many)):
        assert estimator.estimate(step, cluster, mapping).feasible
    alone = ratio(20, lambda: estimator.estimate(step, large, many), lambda: estimator.estimate(step, small, one))
    assert 0.5 < alone < 2.0
    table = MappingTable.of([many] * 1000)
    fewer = MappingTable.of([one] * 1000)
    tabled = ratio(20, lambda: estimator.table(step, large, table), lambda: estimator.table(step, small, fewer))
    assert 0.5 < tabled < 2.0


def figures(benchmark: str, good: Callable[[Any], bool], *, tries: int) -> Any:
    """What a benchmark prints last; run again if a noisy neighbour spoilt it."""
    found = None
    for _ in range(tries):
        done = subprocess.run(
            [sys.executable, str(ROOT / "benchmarks" / benchmark), "--json"], capture_output=True, text=True, check=True
        )
        found = json.loads(done.stdout.splitlines()[-1])
        if good(found):
            break
    return found


def test_a_table_is_priced_at_half_a_million_rows_a_second_and_within_twice_of_bare() -> None:
    found = figures("table_rate.py", lambda found: found["rows_per_s"] >= 500_000, tries=4)
    assert found["rows_per_s"] >= 500_000
    assert found["ratio"] >= 0.4  # aim 0.5; a noisy neighbour may take some of it


@pytest.mark.long
def test_compiled_code_prices_a_table_five_times_as_fast_as_numpy_and_the_same() -> None:
    found = figures("compiled_rate.py", lambda found: found["ratio"] >= 5, tries=3)
    assert found["ratio"] >= 5
    assert found["largest_difference"] <= 1e-12
    assert found["compile_s"] / found["structures"] < 10


@pytest.mark.long
def test_a_trillion_parameters_on_4096_chips_are_searched_in_seconds() -> None:
    found = figures(
        "search_1t.py", lambda found: found["plain"]["seconds"] < 10 and found["offload"]["seconds"] < 60, tries=2
    )
    assert found["plain"]["configurations"] >= 1_053_228
    assert found["plain"]["seconds"] < 10
    assert found["offload"]["configurations"] >= 7_276_848
    assert found["offload"]["seconds"] < 60
    # The record is 56.3 % (Korthikanti et al. 2023); a plan that claims much more crowns its own error.
    assert found["plain"]["best"]["mfu"] <= 1.1 * 0.563


def test_a_mixture_of_experts_on_256_chips_is_planned_within_five_seconds() -> None:
    assert best(2, lambda: volvelle("plan", "mixtral-8x7b", "--on", "dgx-h100/256", "--batch", "1024")) < 5.0
