"""Context, expert and pipeline choices: what each changes, and what it must not."""

from dataclasses import replace

import pytest

from tests.conftest import small_chip, small_cluster, small_gpt, small_llama
from volvelle import (
    ClosedForm,
    DescriptionError,
    Estimate,
    Memory,
    ParallelMapping,
    Recompute,
    TrainingStep,
    Transformer,
    split,
    transformer,
    with_backward,
)
from volvelle.estimators.calibration import CONSTANTS, with_constants
from volvelle.mapping.axes import EXPERT
from volvelle.mapping.lowering import lower
from volvelle.mapping.parallelism import Schedule
from volvelle.mapping.program import saved_for_products, saved_values
from volvelle.mapping.sharding import by_dimension, shard
from volvelle.workload.families.shape import Experts, LatentAttention
from volvelle.workload.operations import Phase


def mixture(**changes: object) -> Transformer:
    shape = replace(small_llama(), name="small-moe", experts=Experts(count=16, chosen=2, ffn=512))
    return replace(shape, **changes)  # type: ignore[arg-type]


def latent() -> Transformer:
    return mixture(kv_heads=8, latent=LatentAttention(query_rank=128, kv_rank=64, rotary_dim=32, value_dim=64))


def estimated(shape: Transformer, mapping: ParallelMapping, *, batch: int = 64, **machine: object) -> Estimate:
    constants = {name: machine.pop(name) for name in list(machine) if name in CONSTANTS}
    cluster = with_constants(replace(small_cluster(), **machine), constants)  # type: ignore[arg-type]
    return ClosedForm().estimate(TrainingStep(model=transformer(shape), batch=batch), cluster, mapping)


def part(found: Estimate, name: str, *, exposed: bool | None = None) -> float:
    return sum(
        line.time for line in found.contributions if line.part == name and (exposed is None or line.exposed is exposed)
    )


def memory(found: Estimate, name: str) -> float:
    return next(one.bytes for one in found.memory if one.name == name)


def test_expert_parallelism_is_two_all_to_alls_forward_and_two_backward() -> None:
    layer = with_backward(transformer(mixture())).block("layer")
    sharded = shard(layer, by_dimension(layer, ("experts",), otherwise="batch"), boundary=split("batch"))
    for phase in (Phase.FORWARD, Phase.BACKWARD):
        assert [collective.value for collective, _ in sharded.collectives(phase)] == ["all-to-all"] * 2


def test_context_parallelism_gathers_keys_and_values_and_scatters_their_gradients() -> None:
    layer = with_backward(transformer(small_llama())).block("layer")
    sharded = shard(layer, by_dimension(layer, ("position", "slots")), boundary=split("position"))
    assert [c.value for c, _ in sharded.collectives(Phase.FORWARD)] == ["all-gather"] * 2
    assert [c.value for c, _ in sharded.collectives(Phase.BACKWARD)] == ["reduce-scatter"] * 2


def test_sharing_out_experts_divides_their_weights_and_adds_an_exchange() -> None:
    whole = estimated(mixture(), ParallelMapping(tensor=1, data=32, zero=0))
    shared = estimated(mixture(), ParallelMapping(tensor=1, data=32, expert=16, zero=0))
    assert whole.feasible
    assert shared.feasible
    assert memory(shared, "weights") < memory(whole, "weights")
    assert part(whole, "expert-parallel communication") == 0
    assert part(shared, "expert-parallel communication") > 0
    assert part(shared, "data-parallel communication") < part(whole, "data-parallel communication")
    assert part(shared, "experts") < part(whole, "experts") * 1.01  # as many tokens, weights read from memory but once


def test_each_token_passes_its_chosen_experts_and_no_more() -> None:
    one, two = (
        with_backward(transformer(mixture(experts=Experts(count=16, chosen=chosen, ffn=512)))).block("layer")
        for chosen in (1, 2)
    )
    sizes = [transformer(mixture(experts=Experts(count=16, chosen=chosen, ffn=512))).sizes for chosen in (1, 2)]
    work = [b.operation_of["expert_up"].kind.work().flops(s) for b, s in zip((one, two), sizes, strict=True)]
    assert work[1] == pytest.approx(2 * work[0])
    assert work[0] == 2 * small_llama().sequence * small_llama().hidden * 512


def test_context_parallelism_divides_activations_and_attention_work() -> None:
    whole = estimated(small_llama(), ParallelMapping(tensor=2, data=16))
    cut = estimated(small_llama(), ParallelMapping(tensor=2, data=4, context=4))
    assert cut.feasible
    assert memory(cut, "activations") == pytest.approx(memory(whole, "activations") / 4, rel=0.02)
    assert part(cut, "context-parallel communication") > 0
    assert cut.facts["micro_batches"] == 4 * whole.facts["micro_batches"]


def test_latent_attention_costs_what_its_projections_say() -> None:
    found = estimated(latent(), ParallelMapping(tensor=2, data=16, expert=8))
    assert found.feasible
    assert part(found, "attention") > 0


@pytest.mark.parametrize("schedule", [Schedule.ZERO_BUBBLE, Schedule.DUAL_PIPE])
def test_newer_schedules_wait_less_than_one_forward_one_backward(schedule: Schedule) -> None:
    layout = ParallelMapping(tensor=2, pipeline=4, data=4)
    plain, newer = (
        estimated(small_gpt(), replace(layout, schedule=s)) for s in (Schedule.ONE_FORWARD_ONE_BACKWARD, schedule)
    )
    bubble = [sum(line.time for line in found.contributions if line.name == "bubble") for found in (plain, newer)]
    assert bubble[1] < bubble[0]


def test_gpipe_has_the_same_bubble_and_waits_for_fewer_transfers_but_keeps_every_micro_batch() -> None:
    layout = ParallelMapping(tensor=2, pipeline=4, data=4)
    plain = estimated(small_gpt(), layout)
    gpipe = estimated(small_gpt(), replace(layout, schedule=Schedule.GPIPE))
    bubble, sent = (
        [sum(line.time for line in found.contributions if line.name == name) for found in (plain, gpipe)]
        for name in ("bubble", "pipeline send/recv")
    )
    assert bubble[1] == pytest.approx(bubble[0])
    assert sent[1] < sent[0]
    assert gpipe.time == pytest.approx(plain.time - sent[0] + sent[1])
    assert memory(gpipe, "activations") > 3 * memory(plain, "activations")


def test_dual_pipe_keeps_two_copies_of_the_weights_and_hides_the_experts_exchange() -> None:
    layout = ParallelMapping(tensor=1, pipeline=4, data=8, expert=8, zero=0)
    plain, dual = (
        estimated(mixture(), replace(layout, schedule=s))
        for s in (Schedule.ONE_FORWARD_ONE_BACKWARD, Schedule.DUAL_PIPE)
    )
    assert memory(dual, "weights") == pytest.approx(2 * memory(plain, "weights"), rel=1e-3)
    name = "expert-parallel communication"
    assert part(dual, name, exposed=True) < part(plain, name, exposed=True)


def test_hybrid_sharding_keeps_more_and_gathers_from_nearer() -> None:
    layout = ParallelMapping(tensor=1, data=32, zero=3)
    every, near = estimated(small_gpt(), layout), estimated(small_gpt(), replace(layout, zero_group=8))
    assert memory(near, "optimiser state") == pytest.approx(4 * memory(every, "optimiser state"))
    assert memory(near, "weights") > memory(every, "weights")
    assert part(near, "data-parallel communication") < part(every, "data-parallel communication")


def test_keeping_every_other_input_halves_what_full_recomputation_keeps() -> None:
    layout = ParallelMapping(tensor=2, data=16, recompute=Recompute.FULL, sequence_parallel=False)
    model = small_gpt(layers=64)
    each, other = (estimated(model, replace(layout, recompute_every=every)) for every in (1, 2))
    assert memory(other, "activations") < memory(each, "activations")
    assert other.time == pytest.approx(each.time)


def test_off_load_trades_memory_for_a_stream_over_the_host_link() -> None:
    layout = ParallelMapping(tensor=2, data=16, zero=0)
    here = estimated(small_gpt(), layout, host_rate=20e9, host_memory=1e12)
    for name, what in (("optimiser state", "optimiser"), ("weights", "weights"), ("activations", "activations")):
        there = estimated(small_gpt(), replace(layout, **{f"offload_{what}": True}), host_rate=20e9, host_memory=1e12)
        assert there.feasible
        assert memory(there, name) < memory(here, name)
        assert there.time >= here.time


def test_a_faster_host_link_never_slows_an_off_loaded_step_down() -> None:
    layout = ParallelMapping(tensor=2, data=16, offload_activations=True, offload_weights=True, offload_optimiser=True)
    slow, fast = (estimated(small_gpt(), layout, host_rate=rate, host_memory=1e12) for rate in (1e9, 50e9))
    assert fast.time <= slow.time


@pytest.mark.parametrize(
    ("change", "name", "words"),
    [
        ({"offload_weights": True}, "host memory", "states no host link"),
        ({"expert": 3}, "experts", "16 experts do not divide over 3"),
        ({"context": 3, "data": 1}, "context", "does not divide over 3"),
        ({"schedule": Schedule.DUAL_PIPE, "pipeline": 1}, "schedule", "even number of stages"),
        ({"schedule": Schedule.ZERO_BUBBLE, "interleave": 2, "pipeline": 2}, "schedule", "not defined for stages"),
    ],
)
def test_what_these_choices_cannot_do_is_said_with_a_cure(change: dict[str, object], name: str, words: str) -> None:
    found = estimated(mixture(), replace(ParallelMapping(tensor=1, data=32), **change))  # type: ignore[arg-type]
    violation = next(one for one in found.violations if one.name == name)
    assert words in violation.problem
    assert violation.cures


def test_memory_of_a_middle_stage_counts_where_it_holds_a_layer_more() -> None:
    tight = small_chip(memories=(Memory(name="HBM", capacity=80e9, rate=2e12),))
    found = estimated(
        small_gpt(layers=10, vocabulary=64), ParallelMapping(tensor=1, pipeline=4, data=8, zero=0), chip=tight
    )
    assert found.worst_rank == "second stage"


def test_units_of_a_chip_make_awkward_shapes_slower_and_never_faster() -> None:
    plain = estimated(small_gpt(), ParallelMapping(tensor=8, data=4))
    cut = estimated(
        small_gpt(), ParallelMapping(tensor=8, data=4), chip=small_chip(units=108.0, tile=8192.0), gemm_k_half=64.0
    )
    assert cut.time > plain.time
    launched = estimated(small_gpt(), ParallelMapping(tensor=8, data=4), kernel_launch_time=5e-6)
    assert launched.time > plain.time


def test_whole_experts_are_dealt_out_over_tensor_chips_and_exchange_less() -> None:
    layout = ParallelMapping(tensor=4, data=8, expert=8, zero=0)
    shape = mixture(kv_heads=8)
    cut = estimated(shape, layout)
    whole = estimated(shape, replace(layout, expert_tensor_parallel=False))
    assert cut.feasible
    assert whole.feasible
    # The same chips hold each expert four times as whole, and a quarter as often: as many weights a chip.
    assert memory(whole, "weights") > memory(cut, "weights")
    assert part(whole, "tensor-parallel communication") < part(cut, "tensor-parallel communication")
    more = estimated(shape, replace(layout, expert=16, expert_tensor_parallel=False))
    assert memory(more, "weights") < memory(whole, "weights")


def test_whole_experts_without_sequence_parallelism_are_refused() -> None:
    shape = mixture(kv_heads=8)
    found = estimated(
        shape, ParallelMapping(tensor=4, data=8, expert=8, expert_tensor_parallel=False, sequence_parallel=False)
    )
    (violation,) = found.violations
    assert "sequence parallelism" in violation.problem
    assert "--expert-tensor-parallel" in violation.cures


def test_partial_sums_of_split_experts_are_added_up_before_they_travel() -> None:
    whole = with_backward(transformer(mixture()))
    plan = lower(whole, whole.block("layer"), ParallelMapping(tensor=2, sequence_parallel=True).structure)
    sent = [one.size for one in plan.exchanges if one.axis is EXPERT]
    assert len(sent) == 4
    assert {size.power("tensor") for size in sent} == {1}  # tensor chips share what is sent


def test_swapping_heads_is_an_all_to_all_that_is_waited_for() -> None:
    layout = ParallelMapping(tensor=1, data=8, context=4)
    shape = small_llama(kv_heads=8)
    ring, swapped = (estimated(shape, replace(layout, ulysses=swap)) for swap in (False, True))
    assert swapped.feasible
    assert part(swapped, "context-parallel communication", exposed=False) == 0
    assert part(swapped, "context-parallel communication", exposed=True) > 0
    assert {line.law for line in swapped.contributions if line.part == "context-parallel communication"} == {
        "nested_all_to_all_time"
    }
    assert part(swapped, "attention") == pytest.approx(part(ring, "attention"), rel=0.05)


def test_heads_that_do_not_divide_cannot_be_swapped() -> None:
    found = estimated(small_llama(kv_heads=2), ParallelMapping(tensor=1, data=8, context=4, ulysses=True))
    (violation,) = found.violations
    assert "2 key-value heads do not divide" in violation.problem


def test_tokens_that_cross_once_send_less_between_nodes_and_never_more() -> None:
    layout = ParallelMapping(tensor=1, data=32, expert=16)
    shape = mixture(experts=Experts(count=16, chosen=8, ffn=512))
    each, once = (estimated(shape, replace(layout, hierarchical_dispatch=relay)) for relay in (False, True))
    assert part(once, "expert-parallel communication") < part(each, "expert-parallel communication")


def test_a_busier_expert_takes_longer_without_counting_as_more_work() -> None:
    steps = [TrainingStep(model=transformer(mixture()), batch=64, expert_load=load) for load in (1.0, 1.5)]
    even, busy = (ClosedForm().estimate(step, small_cluster(), ParallelMapping(data=32, expert=16)) for step in steps)
    assert part(busy, "experts") > 1.3 * part(even, "experts")
    assert busy.work == even.work
    with pytest.raises(DescriptionError, match=r"expert_load is 0\.5; it must be a number from 1"):
        TrainingStep(model=transformer(mixture()), batch=64, expert_load=0.5)


def test_dense_layers_ahead_take_places_of_the_first_stage() -> None:
    shape = mixture(layers=8, experts=Experts(count=16, chosen=2, ffn=512, dense_layers=2))
    found = estimated(shape, ParallelMapping(pipeline=4, data=8, expert=8))
    assert found.feasible
    # Two layers a stage: the first holds both dense ones and no other, so no stage runs more than two of the rest.
    assert found.facts["layers_per_stage"] == 2


def test_pieces_need_not_divide_the_layers() -> None:
    layout = ParallelMapping(tensor=2, pipeline=4, data=4)
    plain, cut = (estimated(small_gpt(layers=14), replace(layout, interleave=pieces)) for pieces in (1, 2))
    assert cut.feasible
    assert cut.facts["layers_per_stage"] == plain.facts["layers_per_stage"]
    bubble = [sum(line.time for line in found.contributions if line.name == "bubble") for found in (plain, cut)]
    assert bubble[1] == pytest.approx(bubble[0] / 2)


def test_communication_beside_computation_borrows_units() -> None:
    """What hides behind kernels slows them; an exchange that is waited for ends no later."""
    layout = ParallelMapping(tensor=2, data=16)
    kept, lent = (estimated(small_gpt(), layout, communication_sm_share=share) for share in (0.0, 0.2))
    hidden = {line.part: line.time for line in kept.contributions if not line.exposed}
    assert lent.time > kept.time
    assert lent.time - kept.time <= 0.2 * sum(hidden.values()) * (1.0 + 1e-12)
    alone = ParallelMapping(tensor=2)
    kept, lent = (estimated(small_gpt(), alone, communication_sm_share=share) for share in (0.0, 0.2))
    gathers = sum(line.time for line in kept.contributions if not line.exposed)
    assert lent.time - kept.time == pytest.approx(0.2 * gathers)


def test_attention_over_longer_sequences_runs_nearer_to_its_rate() -> None:
    def core(length: int, half: float) -> float:
        layout = ParallelMapping(tensor=2, data=16)
        found = estimated(small_gpt(sequence=length), layout, attention_kv_half=half, kernel_launch_time=0.0)
        return sum(line.time for line in found.contributions if "attention core" in line.name)

    assert core(8192, 1000.0) / core(8192, 0.0) < core(1024, 1000.0) / core(1024, 0.0)


@pytest.mark.parametrize("shape", [small_llama(), small_gpt()])
def test_light_recomputation_frees_memory_for_little_time(shape: Transformer) -> None:
    layout = ParallelMapping(tensor=2, data=4, fused_attention=True)
    none, light, full = (
        estimated(shape, replace(layout, recompute=kind)) for kind in (Recompute.NONE, Recompute.LIGHT, Recompute.FULL)
    )
    assert none.time < light.time < full.time
    assert none.memory_bytes > light.memory_bytes > full.memory_bytes


def test_what_is_computed_again_is_not_kept_and_is_there_before_it_is_read() -> None:
    workload = with_backward(transformer(small_llama()))
    structure = ParallelMapping(tensor=2, data=4, recompute=Recompute.LIGHT).structure
    block = lower(workload, workload.block("layer"), structure)
    kept = {value.tensor for value in saved_values(block.tasks, block.lifetimes)}
    again = {name for task in block.tasks if task.phase is Phase.RECOMPUTE for name in task.operations}
    assert {"attention_norm", "mlp_norm", "activation"} <= again
    assert not kept & again
    for place, task in enumerate(block.tasks):
        assert all(before < place for before in task.after)


def test_alternate_recomputation_keeps_every_second_product_and_what_attention_makes() -> None:
    """torchtitan, _wrap_block of SelectiveAC: queries, values and one half of the gated layer; keys are made again."""
    workload = with_backward(transformer(small_llama()))
    structure = ParallelMapping(tensor=2, data=4, recompute=Recompute.ALTERNATE, fused_attention=True).structure
    block = lower(workload, workload.block("layer"), structure)
    kept = {value.tensor for value in saved_values(block.tasks, block.lifetimes)}
    again = {name for task in block.tasks if task.phase is Phase.RECOMPUTE for name in task.operations}
    summed = {"attention_out"}  # kept as it is after the exchange that sums it
    assert kept == {"x", "query", "value", "context", "mlp_up"} | summed
    assert {"key_proj", "mlp_gate", "attention_norm", "mlp_norm", "activation"} <= again
    assert not (kept - summed) & again


def test_alternate_recomputation_is_between_light_and_full() -> None:
    layout = ParallelMapping(tensor=2, data=4, fused_attention=True)
    kinds = (Recompute.LIGHT, Recompute.ALTERNATE, Recompute.FULL)
    light, alternate, full = (estimated(small_llama(), replace(layout, recompute=kind)) for kind in kinds)
    assert light.time < alternate.time < full.time
    assert light.memory_bytes > alternate.memory_bytes > full.memory_bytes


def test_what_only_products_read_again_is_kept_in_their_type() -> None:
    workload = with_backward(transformer(small_llama()))
    block = lower(workload, workload.block("layer"), ParallelMapping(tensor=2, data=4).structure)
    names = {value.tensor for value in saved_for_products(block.tasks, block.lifetimes)}
    assert "attention_norm" in names  # inputs of projections
    assert not {"mlp_gate", "mlp_up", "x"} & names  # the activation and the norm read them too
    wide, narrow = (
        ClosedForm().estimate(
            TrainingStep(model=transformer(small_llama()), batch=64, element=element),
            small_cluster(chip=small_chip(matrix_rates={"bf16": 300e12, "fp8": 600e12})),
            ParallelMapping(tensor=2, data=4, recompute=Recompute.NONE),
        )
        for element in ("bf16", "fp8")
    )
    assert memory(narrow, "activations") < memory(wide, "activations")
    assert memory(narrow, "weights") == memory(wide, "weights")
