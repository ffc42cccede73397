"""What a stage holds: one recipe for kernels one after another and for kernels that stream."""

from dataclasses import replace

import pytest

import volvelle
from volvelle import Catalogue, Transformer, transformer
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.estimators.training.stage_memory import MemoryRecipe, activation_parts, state_bytes
from volvelle.mapping.parallelism import ParallelMapping, Recompute
from volvelle.workload.training import TrainingStep

SMALL = Transformer(
    name="small", layers=2, hidden=256, heads=4, kv_heads=4, head_dim=64, ffn=1024, sequence=128, vocabulary=1024
)


def recipe(*, backward: bool = True) -> MemoryRecipe:
    return MemoryRecipe.of(TrainingStep(model=transformer(SMALL), batch=1, backward=backward))


def test_with_zero_1_replicas_share_out_the_optimiser_alone() -> None:
    assert state_bytes(100.0, recipe(), sharing=4.0, zero=0.0) == [200.0, 400.0, 1200.0]
    assert state_bytes(100.0, recipe(), sharing=4.0, zero=1.0) == [200.0, 400.0, 300.0]
    assert state_bytes(100.0, recipe(), sharing=4.0, zero=3.0) == [50.0, 100.0, 300.0]


def test_a_forward_pass_alone_holds_weights_alone() -> None:
    assert state_bytes(100.0, recipe(backward=False), sharing=1.0, zero=0.0) == [200.0, 0.0, 0.0]


def test_what_is_lost_grows_with_activations_from_what_is_reserved() -> None:
    lost = recipe()
    activations, gaps = activation_parts(10.0, lost, layers=3.0, in_flight=2.0, working=5.0)
    assert activations == 65.0
    assert gaps == lost.reserved + lost.fragmentation * activations


def test_a_model_that_streams_holds_the_states_that_the_closed_form_says() -> None:
    mapped = volvelle.map(SMALL, on="sn10-node/1", execution="dataflow", micro_batches=1, tiles=(128,), limit=20.0)
    assert mapped.mapping.plan is not None
    (stage,) = mapped.mapping.plan.stages
    streamed = {part.name: part.bytes for part in stage.memory}
    estimate = volvelle.estimate(SMALL, on="sn10-node/1", batch=1)
    closed = {part.name: part.bytes for part in estimate.estimate.memory}
    for name in ("weights", "gradients", "optimiser state"):
        assert streamed[name] == pytest.approx(closed[name], rel=1e-9)


def test_a_second_copy_takes_its_share_of_weights_and_nothing_else() -> None:
    assert state_bytes(100.0, recipe(), sharing=4.0, zero=3.0, secondary=2.0) == [150.0, 100.0, 300.0]
    assert state_bytes(100.0, recipe(), sharing=4.0, zero=1.0, secondary=2.0) == [200.0, 400.0, 300.0]


def test_software_that_adds_gradients_up_in_a_wider_type_may_hold_them_twice() -> None:
    step = TrainingStep(model=transformer(SMALL), batch=1)
    twice = MemoryRecipe.of(step, gradient_copy=2.0)
    assert state_bytes(100.0, twice, sharing=4.0, zero=1.0) == [200.0, 600.0, 300.0]
    assert state_bytes(100.0, twice, sharing=4.0, zero=2.0) == [200.0, 100.0, 300.0]
    narrow = MemoryRecipe.of(replace(step, gradient_element="bf16"), gradient_copy=2.0)
    assert state_bytes(100.0, narrow, sharing=4.0, zero=1.0) == [200.0, 200.0, 300.0]


def test_where_the_copy_in_32_bits_alone_is_shared_out_there_is_no_second_unless_there_is_no_such_copy() -> None:
    step = TrainingStep(model=transformer(SMALL), batch=1)
    alone = MemoryRecipe.of(step, weight_shard=0.0)
    assert state_bytes(100.0, alone, sharing=4.0, zero=3.0) == [0.0, 100.0, 300.0]
    assert state_bytes(100.0, alone, sharing=4.0, zero=1.0) == [200.0, 400.0, 300.0]
    narrow = MemoryRecipe.of(replace(step, optimiser_state=8.0, master=0.0), weight_shard=0.0)
    assert state_bytes(100.0, narrow, sharing=4.0, zero=3.0) == [50.0, 100.0, 200.0]


def held(catalogue: Catalogue, name: str, **layout: int) -> dict[str, float]:
    """Bytes by part of a model on 128 chips under torchtitan."""
    step = TrainingStep(model=transformer(catalogue.model(name)), batch=128)
    mapping = ParallelMapping(**{"data": 128, "recompute": Recompute.FULL, **layout})
    found = ClosedForm().estimate(step, catalogue.cluster("dgx-h100/128", stack="torchtitan"), mapping)
    return {part.name: part.bytes for part in found.memory}


def test_with_zero_3_two_layers_are_whole_while_one_is_at_work_and_gradients_of_what_ran_before(
    catalogue: Catalogue,
) -> None:
    layer = 2.0 * 16_384 * (16_384 + 1024) + 3.0 * 16_384 * 53_248 + 2.0 * 16_384
    shared = held(catalogue, "llama3-405b", zero=3)
    assert shared["weights"] == pytest.approx(2.0 * 2.0 * layer, rel=1e-9)
    assert shared["gradients"] == pytest.approx(4.0 * layer + 4.0 * 405.85e9 / 128, rel=1e-3)


def test_an_axis_that_splits_layers_splits_what_is_gathered_of_them(catalogue: Catalogue) -> None:
    whole = held(catalogue, "llama3-405b", zero=3)
    split = held(catalogue, "llama3-405b", zero=3, tensor=8, data=16)
    assert split["weights"] == pytest.approx(whole["weights"] / 8, rel=1e-3)


def test_a_model_of_one_replica_gathers_nothing(catalogue: Catalogue) -> None:
    alone = held(catalogue, "llama3-405b", zero=3, tensor=8, pipeline=16, data=1)
    assert alone == held(catalogue, "llama3-405b", zero=0, tensor=8, pipeline=16, data=1) | {"weights": 0.0}
