from dataclasses import replace

import numpy as np
import pytest

from table_rate import mappings
from table_rate_bare import bare_table
from tests.conftest import small_chip, small_cluster, small_gpt, small_llama
from volvelle import (
    Catalogue,
    ClosedForm,
    MappingError,
    MappingTable,
    Memory,
    ParallelMapping,
    Recompute,
    TrainingStep,
    UnderUncertainty,
    step_costs,
    transformer,
)
from volvelle.mapping.lowering import lower
from volvelle.mapping.parallelism import Structure
from volvelle.system.host_power import HOST_POWER_SHARE
from volvelle.workload.transforms import with_backward

LAYOUT = ParallelMapping(tensor=4, pipeline=2, data=4)


def test_the_slowest_stage_times_micro_batches_and_a_bubble_make_the_step(step: TrainingStep) -> None:
    found = ClosedForm().estimate(step, small_cluster(), LAYOUT)
    assert found.feasible
    assert found.time == pytest.approx(sum(line.time for line in found.contributions if line.exposed))
    assert found.facts["micro_batches"] == 16


def test_what_is_derived_from_declarations_equals_what_a_person_wrote_by_hand(catalogue: Catalogue) -> None:
    step = TrainingStep(model=transformer(catalogue.model("megatron-1t")), batch=4096)
    cluster = catalogue.cluster("dgx-a100/4096")
    table = mappings(60_000)
    found = ClosedForm().table(step, cluster, table)
    times, memory = bare_table(step, cluster, table)
    np.testing.assert_allclose(found.time, times, rtol=1e-12)
    np.testing.assert_allclose(found.memory_bytes, memory, rtol=1e-12)


@pytest.mark.parametrize("tensor", [1, 8])
@pytest.mark.parametrize("sequence", [False, True])
@pytest.mark.parametrize("recompute", [Recompute.NONE, Recompute.SELECTIVE, Recompute.FULL])
def test_saved_activations_are_those_of_korthikanti_table_2(tensor: int, sequence: bool, recompute: Recompute) -> None:
    """Korthikanti et al. 2023, table 2: bytes a layer and micro-batch for a GPT with dropout in 16 bits."""
    shape = small_gpt()
    model = with_backward(transformer(shape))
    structure = Structure(sequence_parallel=sequence, recompute=recompute, fused_attention=False)
    plan = lower(model, model.block("layer"), structure)
    ours = sum(term.coefficient * tensor ** -float(term.power("tensor")) for term in plan.saved)
    s, h, a, t = shape.sequence, shape.hidden, shape.heads, tensor
    attention = 5 * a * s / (h * t) if recompute is Recompute.NONE else 0.0
    paper = s * h * (34 / t + attention if sequence else 10 + 24 / t + attention)
    if recompute is Recompute.FULL:
        paper = 2 * s * h / (t if sequence else 1)
    assert ours == pytest.approx(paper)


def test_a_fused_attention_kernel_keeps_no_scores_and_computes_them_twice() -> None:
    model = with_backward(transformer(small_llama()))
    layer = model.block("layer")
    plans = {
        fused: lower(model, layer, Structure(sequence_parallel=False, recompute=Recompute.NONE, fused_attention=fused))
        for fused in (False, True)
    }
    saved = {fused: sum(term.coefficient for term in plan.saved) for fused, plan in plans.items()}
    scores = layer.tensor_of["scores"].bytes(model.sizes)
    assert saved[False] - saved[True] == pytest.approx(scores)
    work = {
        fused: sum(kernel.matrix_work.coefficient for kernel in plan.kernels if kernel.matrix_work)
        for fused, plan in plans.items()
    }
    again = layer.operation_of["scores"].kind.work().flops(model.sizes)
    assert work[True] - work[False] == pytest.approx(again)


def test_a_mapping_that_needs_other_chips_is_answered_with_a_cure(step: TrainingStep) -> None:
    found = ClosedForm().estimate(step, small_cluster(), replace(LAYOUT, data=2))
    (violation,) = found.violations
    assert "= 16 chips, but toy/32 has 32" in violation.problem
    assert violation.cures == ("--dp 4",)


@pytest.mark.parametrize(
    ("change", "name", "words"),
    [
        ({"tensor": 16, "data": 1}, "tensor split", "does not divide kv_heads = 8"),
        ({"pipeline": 16, "tensor": 2, "data": 1}, "stages", "16 pipeline stages for 8 layers"),
        ({"micro_batch": 3}, "batch", "does not divide"),
        ({"interleave": 8}, "interleaving", "8 pieces a stage"),
        ({"zero": 0, "zero_group": 2}, "sharing", "ZeRO-0 shares nothing out"),
        ({"zero": 3, "zero_group": 3}, "sharing", "over 3 of 4 replicas"),
        ({"zero": 1, "zero_secondary": 2}, "sharing", "not of stage 1"),
        ({"zero": 3, "zero_secondary": 3}, "sharing", "4 replicas do not make groups of 3"),
    ],
)
def test_what_cannot_run_says_why_and_what_would(
    step: TrainingStep, change: dict[str, int], name: str, words: str
) -> None:
    found = ClosedForm().estimate(step, small_cluster(), replace(LAYOUT, **change))
    violation = next(one for one in found.violations if one.name == name)
    assert words in violation.problem
    assert violation.cures


def test_a_second_copy_of_weights_takes_room_and_spares_the_outer_network(catalogue: Catalogue) -> None:
    """Of two gathers a micro-batch one stays in the node: time as if hybrid sharding had that one, memory as stated."""
    step = TrainingStep(model=transformer(catalogue.model("llama2-70b")), batch=256)
    cluster, plain = catalogue.cluster("dgx-h100/256"), ParallelMapping(data=256, zero=3, recompute=Recompute.FULL)
    all_of_them, second = (
        ClosedForm().estimate(step, cluster, replace(plain, **each)) for each in ({}, {"zero_secondary": 8})
    )
    weights, more = (next(part.bytes for part in one.memory if part.name == "weights") for one in (all_of_them, second))
    assert more - weights == pytest.approx(2.0 * step.model.trainable_parameters() / 8, rel=1e-12)
    assert second.memory[1:3] == all_of_them.memory[1:3]
    assert second.time < all_of_them.time


def test_a_cure_for_memory_really_fits(catalogue: Catalogue) -> None:
    step = TrainingStep(model=transformer(catalogue.model("gpt3-175b")), batch=1536)
    cluster = catalogue.cluster("dgx-a100/1024")
    heavy = ParallelMapping(tensor=8, pipeline=2, data=64, zero=0, recompute=Recompute.NONE)
    (violation,) = ClosedForm().estimate(step, cluster, heavy).violations
    assert violation.name == "memory"
    assert any(cure.startswith("--pp 16") for cure in violation.cures)
    cured = replace(heavy, pipeline=16, data=8)
    assert ClosedForm().estimate(step, cluster, cured).feasible


def test_a_model_too_large_for_the_machine_offers_no_change_that_does_not_fit(step: TrainingStep) -> None:
    tiny = small_cluster(1, chip=small_chip(memories=(Memory(name="HBM", capacity=1e6, rate=2e12),)))
    (violation,) = ClosedForm().estimate(step, tiny, ParallelMapping(tensor=8)).violations
    assert violation.name == "memory"
    assert violation.cures == ()


def test_bad_mappings_are_refused_where_they_are_made() -> None:
    with pytest.raises(MappingError, match="tensor is 0"):
        ParallelMapping(tensor=0)
    with pytest.raises(MappingError, match="zero is 7"):
        ParallelMapping(zero=7)
    with pytest.raises(MappingError, match="no column colour"):
        MappingTable.columns(colour=[1])


def test_a_range_comes_from_the_spread_of_inputs_and_holds_the_estimate(catalogue: Catalogue) -> None:
    step = TrainingStep(model=transformer(catalogue.model("llama2-7b")), batch=256)
    cluster = catalogue.cluster("dgx-a100/64")
    found = UnderUncertainty(estimator=ClosedForm()).estimate(step, cluster, ParallelMapping(tensor=2, data=32))
    assert found.time_range is not None
    assert found.time_range.low < found.time < found.time_range.high
    assert "a100-sxm4-80gb: matrix efficiency" in found.time_range.varied
    again = UnderUncertainty(estimator=ClosedForm()).estimate(step, cluster, ParallelMapping(tensor=2, data=32))
    assert again.time_range == found.time_range


def test_energy_and_money_follow_time_and_chips(step: TrainingStep) -> None:
    cluster = small_cluster()
    found = ClosedForm().estimate(step, cluster, LAYOUT)
    costs = step_costs(found, cluster)
    hosts = HOST_POWER_SHARE.value * 400.0
    assert costs.energy == pytest.approx(found.time * 32 * (0.85 * 400.0 + 0.65 * hosts))
    assert costs.dollars is not None
    poor = small_cluster(chip=small_chip(price=None, power=None))
    assert step_costs(found, poor).missing == ("toy: power", "toy: price")
    assert step_costs(found, poor).energy is None


def test_a_system_of_many_variants_needs_as_many_mappings_or_one(step: TrainingStep) -> None:
    variants = small_cluster(matrix_efficiency=np.array([0.5, 0.6, 0.7]))
    assert len(ClosedForm().table(step, variants, MappingTable.of([LAYOUT]))) == 3
    with pytest.raises(MappingError, match="3 variants and the table 2 mappings"):
        ClosedForm().table(step, variants, MappingTable.of([LAYOUT, LAYOUT]))
