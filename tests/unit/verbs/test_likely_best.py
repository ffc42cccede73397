"""Which layout is likely to be the fastest."""

from dataclasses import replace

import numpy as np
import pytest

import volvelle
from volvelle import Catalogue, ClosedForm, Transformer
from volvelle.estimators.sampler import Stratified
from volvelle.estimators.uncertainty import UnderUncertainty
from volvelle.mapping.parallelism import MappingTable
from volvelle.search.exhaustive import Ranked
from volvelle.verbs.layouts import Layout, Layouts
from volvelle.verbs.likely_best import contest, sampled_times, with_chances_to_fit
from volvelle.verbs.plan import Plan
from volvelle.verbs.question import question_of


@pytest.fixture(scope="module")
def asked() -> Plan:
    return volvelle.plan("llama3-8b", on="dgx-h100/64", batch=128, top=8)


def test_chances_of_being_the_fastest_sum_to_one_and_the_centre_orders_by_default(asked: Plan) -> None:
    told = contest(asked.step, asked.cluster, asked.layouts, ClosedForm())
    assert sum(layout.p_best or 0.0 for layout in told.layouts) == pytest.approx(1.0)
    assert [layout.time for layout in told.layouts] == sorted(layout.time for layout in told.layouts)
    assert 1 <= told.sharing <= len(told.layouts)
    assert all((layout.regret or 0.0) >= 0.0 for layout in told.layouts)


def chance_of_being_faster(asked: Plan, first: Layout, second: Layout) -> float:
    times, *_ = sampled_times(asked.step, asked.cluster, (first, second), ClosedForm(), Stratified(4096, 0))
    return float(np.mean(times[0] < times[1]))


def test_a_small_lead_is_no_certainty_and_a_large_one_nearly_is(asked: Plan) -> None:
    first, second = asked.layouts[:2]
    assert second.time < 1.05 * first.time
    assert 0.4 < chance_of_being_faster(asked, first, second) < 0.75
    worst = volvelle.plan("llama3-8b", on="dgx-h100/64", batch=128, tensor=8, micro_batch=1, zero=0, top=1).layouts[0]
    sure = chance_of_being_faster(asked, first, worst)
    assert sure > (0.9 if worst.time > 1.4 * first.time else 0.5)


def test_ranks_by_chance_and_by_mean_are_what_they_say(asked: Plan) -> None:
    likely = contest(asked.step, asked.cluster, asked.layouts, ClosedForm(), rank="likely").layouts
    chances = [layout.p_best or 0.0 for layout in likely]
    assert chances == sorted(chances, reverse=True)
    expected = contest(asked.step, asked.cluster, asked.layouts, ClosedForm(), rank="expected").layouts
    assert {layout.mapping for layout in expected} == {layout.mapping for layout in asked.layouts}


def test_more_memory_never_makes_a_layout_less_likely_to_fit(asked: Plan, catalogue: Catalogue) -> None:
    small = catalogue.cluster("dgx-h100/64")
    chances = []
    for share in (0.5, 0.55, 0.6, 2.0):
        memory = replace(small.chip.memory, capacity=share * small.chip.memory.capacity)
        machine = replace(small, chip=replace(small.chip, memories=(memory, *small.chip.memories[1:])))
        chances.append(with_chances_to_fit(asked.step, machine, asked.layouts[:1], ClosedForm())[0].p_fit or 0.0)
    assert chances == sorted(chances)
    assert chances[0] < 0.9 < chances[-1]


def test_a_layout_among_others_is_as_likely_to_fit_as_alone_also_where_gaps_choose_the_fullest_stage() -> None:
    """The stage that holds most is another one here than were nothing lost between tensors."""
    wide = Transformer(
        name="wide", layers=9, hidden=4096, heads=32, kv_heads=32, head_dim=128, ffn=16384, sequence=4096,
        vocabulary=65536,
    )  # fmt: skip
    asked = question_of(wide, on="dgx-h100/8", batch=32, pipeline=4, recompute="none")
    step = replace(asked.step, fragmentation=0.5)
    alone = ClosedForm().estimate(step, asked.cluster, asked.mapping)
    without_gaps = replace(step, fragmentation=0.0, reserved=0.0)
    assert ClosedForm().estimate(without_gaps, asked.cluster, asked.mapping).worst_rank != alone.worst_rank
    tables = ClosedForm().table(step, asked.cluster, MappingTable.of([asked.mapping] * 2), breakdown=True)
    assert tables.tensor_bytes == pytest.approx(alone.tensor_bytes, rel=1e-12)

    chip = asked.cluster.chip
    memory = replace(chip.memory, capacity=1.02 * alone.memory_bytes)
    machine = replace(asked.cluster, chip=replace(chip, memories=(memory, *chip.memories[1:])))
    ranked = Ranked(mapping=asked.mapping, time=alone.time, memory=alone.memory_bytes)
    layout = Layouts(None, step, alone).plain(ranked)
    told = with_chances_to_fit(step, machine, (layout,), ClosedForm())[0]
    fits = UnderUncertainty(estimator=ClosedForm(), samples=512).estimate(step, machine, asked.mapping).fits
    assert 0.1 < (fits or 0.0) < 0.9
    assert told.p_fit == fits


def test_chances_to_fit_are_those_of_an_estimate_and_drawn_ones_agree_within_what_draws_scatter(asked: Plan) -> None:
    chip = asked.cluster.chip
    needed = max(layout.memory_bytes for layout in asked.layouts)
    tight = replace(chip.memory, capacity=1.1 * needed)
    machine = replace(asked.cluster, chip=replace(chip, memories=(tight, *chip.memories[1:])))
    sampler = Stratified(4096, seed=5)
    _, fits, chances = sampled_times(asked.step, machine, asked.layouts, ClosedForm(), sampler)
    scatter = np.sqrt(chances * (1.0 - chances) / sampler.samples)
    assert np.all(np.abs(fits.mean(axis=1) - chances) < 4.0 * scatter)
    assert chances.min() < 0.8
    alone = UnderUncertainty(estimator=ClosedForm(), sampler=sampler)
    for layout, chance in zip(asked.layouts, chances, strict=True):
        assert alone.estimate(asked.step, machine, layout.mapping).fits == pytest.approx(chance, rel=1e-9)
