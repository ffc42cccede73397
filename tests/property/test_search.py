"""The search finds what brute force finds, and nothing that was skipped could have won."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import small_chip, small_cluster, small_gpt, small_llama
from tests.property.strategies import clusters
from volvelle import ClosedForm, Cluster, Experts, Memory, ParallelMapping, Recompute, TrainingStep, transformer
from volvelle.mapping.parallelism import MappingTable, Schedule
from volvelle.search.exhaustive import search
from volvelle.search.layouts import layouts
from volvelle.search.sensitivity import sensitivity
from volvelle.search.space import Space

STEP = TrainingStep(model=transformer(small_gpt()), batch=32, reserved=0.0)
MIXED = TrainingStep(
    model=transformer(small_llama(experts=Experts(count=8, chosen=2, ffn=256))), batch=32, reserved=0.0
)
SPACE = Space(
    context=(1, 2),
    recompute_every=(1, 2),
    schedule=tuple(Schedule),
    fused_attention=(True, False),
    overlap=(True, False),
)


def brute(space: Space, step: TrainingStep, cluster: Cluster) -> list[tuple[float, ParallelMapping]]:
    """Every layout by itself, feasible ones only, fastest first."""
    found = []
    for table in layouts(space, step, cluster):
        for row in range(len(table)):
            mapping = table.row(row)
            alone = ClosedForm().table(step, cluster, MappingTable.of([mapping]))
            if alone.feasible[0]:
                found.append((float(alone.time[0]), mapping))
    return sorted(found, key=lambda pair: pair[0])


@pytest.mark.parametrize(
    "step", [pytest.param(STEP, id="dense"), pytest.param(MIXED, id="experts", marks=pytest.mark.long)]
)
@pytest.mark.parametrize(
    "capacity", [pytest.param(80e9, marks=pytest.mark.long), 3e8, pytest.param(1.5e8, marks=pytest.mark.long)]
)
def test_the_search_finds_what_brute_force_finds(step: TrainingStep, capacity: float) -> None:
    chip = small_chip(memories=(Memory(name="HBM", capacity=capacity, rate=2e12),))
    cluster = small_cluster(1, chip=chip)
    space = Space(context=(1, 2), zero=(0, 1, 3), recompute=(Recompute.NONE, Recompute.FULL), largest_micro_batch=4)
    wanted = brute(space, step, cluster)
    ranking = search(space, step, cluster, ClosedForm(), top=5)
    assert [found.time for found in ranking.best] == pytest.approx([time for time, _ in wanted[:5]], rel=1e-12)
    assert ranking.feasible == len(wanted)
    assert ranking.configurations == ranking.evaluated + ranking.pruned


@settings(max_examples=15)
@given(clusters(), st.floats(1e7, 1e9))
def test_no_hand_made_mapping_beats_the_search(cluster: Cluster, capacity: float) -> None:
    ranking = search(SPACE, STEP, cluster, ClosedForm(), top=1)
    for mapping in (
        ParallelMapping(tensor=8, data=4),
        ParallelMapping(tensor=2, pipeline=4, data=4),
        ParallelMapping(data=32, zero=3),
    ):
        answer = ClosedForm().estimate(STEP, cluster, mapping)
        if answer.feasible:
            assert ranking.best[0].time <= answer.time * (1 + 1e-12)


def test_each_layout_of_a_space_is_made_once() -> None:
    rows = [table.row(row) for table in layouts(SPACE, STEP, small_cluster()) for row in range(len(table))]
    assert len(rows) == len(set(rows))
    assert all(mapping.chips == 32 for mapping in rows)


def test_degrees_need_not_be_powers_of_two() -> None:
    step = TrainingStep(model=transformer(small_gpt(layers=6, heads=12, kv_heads=12, ffn=2304, hidden=768)), batch=48)
    cluster = small_cluster(3)  # 24 chips
    found = {tensor for table in layouts(Space(), step, cluster) for tensor in table.tensor.tolist()}
    assert {3, 6, 12} <= found


def test_what_memory_forbids_is_named_if_it_would_be_faster() -> None:
    chip = small_chip(memories=(Memory(name="HBM", capacity=1.2e8, rate=2e12),))
    ranking = search(SPACE, STEP, small_cluster(1, chip=chip), ClosedForm(), top=1)
    assert ranking.best
    assert ranking.nearest is not None
    assert ranking.nearest.time < ranking.best[0].time
    assert ranking.nearest.memory > 1.2e8


def test_levers_name_what_bounds_the_step() -> None:
    slow = small_cluster(chip=small_chip(matrix_rates={"bf16": 1e12}))
    found = sensitivity(STEP, slow, ParallelMapping(tensor=1, data=32), ClosedForm())
    assert found[0].name == "matrix rate"
    assert found[0].gain > 0.05
