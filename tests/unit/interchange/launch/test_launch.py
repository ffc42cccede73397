"""Launch settings: only names the frameworks have, values that read back, and refusals instead of near misses."""

import argparse
import json
import shlex
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from tests.conftest import ROOT
from volvelle import Catalogue, Recompute, TrainingStep, Transformer, transformer
from volvelle import ParallelMapping as Layout
from volvelle.errors import MappingError
from volvelle.interchange.launch import deepspeed, fsdp, megatron, torchtitan
from volvelle.mapping.parallelism import Graphs, Schedule

RECORDS = ROOT / "src" / "volvelle" / "interchange" / "launch" / "data"
EMITTERS: Mapping[str, Callable[[Transformer, TrainingStep, Layout], str]] = {
    "megatron": megatron.emit,
    "torchtitan": torchtitan.emit,
    "deepspeed": deepspeed.emit,
    "accelerate": fsdp.emit,
}
CATALOGUE = Catalogue()
SETTABLE = [Recompute.NONE, Recompute.SELECTIVE, Recompute.FULL]
"""Recomputation that frameworks have settings for which last."""


def yaml(text: str):  # type: ignore[no-untyped-def]
    return YAML(typ="safe", pure=True).load(text)


def recorded(framework: str):  # type: ignore[no-untyped-def]
    return yaml((RECORDS / f"{framework}.yaml").read_text("utf-8"))


ARGUMENTS = {framework: recorded(framework)["arguments"] for framework in EMITTERS}


def shape_of(name: str) -> Transformer:
    return CATALOGUE.model(name)


def step_of(shape: Transformer, **changes: object) -> TrainingStep:
    return replace(TrainingStep(model=transformer(shape), batch=1024), **changes)  # type: ignore[arg-type]


def read_megatron(text: str) -> dict[str, object]:
    """What Megatron-LM's own kind of parser makes of the fragment; an argument it does not have is an error."""
    parser = argparse.ArgumentParser(exit_on_error=False, allow_abbrev=False)
    for name, kind in ARGUMENTS["megatron"].items():
        if kind == "flag":
            parser.add_argument(name, action="store_true")
        elif isinstance(kind, list):
            parser.add_argument(name, choices=kind)
        else:
            parser.add_argument(name, type={"int": int, "float": float, "text": str}[kind])
    inside = text[text.index("MEGATRON_ARGS=(") + len("MEGATRON_ARGS=(") : text.rindex(")")]
    found, unknown = parser.parse_known_args(shlex.split(inside))
    assert not unknown
    return {name: value for name, value in vars(found).items() if value not in (None, False)}


def check(value: object, kind: object, where: str) -> None:
    """A value is of the recorded kind, and everything under it is recorded."""
    if isinstance(kind, dict):
        assert isinstance(value, dict), where
        for key, inner in value.items():
            assert key in kind, f"{where} has no {key}"
            check(inner, kind[key], f"{where}.{key}")
    elif isinstance(kind, list):
        assert value in kind, where
    else:
        kinds = {"int": int, "truth": bool, "text": str, "list": list}
        assert type(value) is kinds[str(kind)], where


def read(framework: str, text: str) -> dict[str, object]:
    if framework == "megatron":
        return read_megatron(text)
    found = {"torchtitan": tomllib.loads, "deepspeed": json.loads, "accelerate": yaml}[framework](text)
    check(found, ARGUMENTS[framework], framework)
    return found


def emitted(framework: str, shape: Transformer, step: TrainingStep, layout: Layout):  # type: ignore[no-untyped-def]
    return read(framework, EMITTERS[framework](shape, step, layout))


# -- every layout that is written down can be read back ------------------------------------------------------

BF16 = {"gradient_element": "bf16"}
LAYOUTS: list[tuple[str, str, Layout, dict[str, object]]] = [
    ("megatron", "llama3-8b", Layout(tensor=8, data=16), {}),
    ("megatron", "llama3-405b", Layout(tensor=8, pipeline=14, data=8, context=2, interleave=9), {}),
    ("megatron", "gpt3-175b", Layout(tensor=8, pipeline=8, data=16, interleave=6, recompute=Recompute.FULL), {}),
    ("megatron", "mixtral-8x7b", Layout(tensor=2, pipeline=4, data=16, expert=8), {}),
    ("megatron", "deepseek-v3", Layout(data=64, expert=64, zero=1), {"element": "fp8"}),
    ("megatron", "deepseek-v2-lite", Layout(pipeline=3, data=8, expert=8), {}),
    ("megatron", "qwen2.5-7b", Layout(data=32, zero=3, zero_group=8), BF16),
    ("megatron", "qwen3-30b-a3b", Layout(data=16, zero=2, expert=8, overlap=False), {}),
    ("megatron", "llama3-8b", Layout(tensor=2, data=4, fused_attention=False, sequence_parallel=False), {}),
    ("megatron", "llama3-8b", Layout(data=8, offload_optimiser=True), {}),
    ("torchtitan", "llama3-8b", Layout(data=128, zero=3), {}),
    ("torchtitan", "llama3-405b", Layout(tensor=8, pipeline=7, data=16, context=2, interleave=2, zero=2), {}),
    ("torchtitan", "deepseek-v3", Layout(data=64, zero=3, expert=64, recompute=Recompute.FULL), {}),
    ("torchtitan", "mistral-7b", Layout(data=32, zero=3, zero_group=8), {"element": "fp8"}),
    ("torchtitan", "llama3-8b", Layout(pipeline=4, data=2, zero=2, schedule=Schedule.GPIPE), {}),
    ("torchtitan", "llama3-8b", Layout(data=8, zero=0), {}),
    ("torchtitan", "llama3-8b", Layout(data=8, zero=3, offload_weights=True, offload_optimiser=True), {}),
    ("deepspeed", "llama3-8b", Layout(data=64, zero=2), {}),
    ("deepspeed", "llama3-70b", Layout(data=64, zero=3, zero_group=8), BF16),
    ("deepspeed", "llama3-8b", Layout(data=8, zero=3, offload_weights=True, offload_optimiser=True), {}),
    ("deepspeed", "mixtral-8x7b", Layout(data=16, expert=8), {}),
    ("deepspeed", "llama3-8b", Layout(data=4, tensor=4, sequence_parallel=False), {"element": "fp16"}),
    ("deepspeed", "llama3-8b", Layout(data=8, recompute=Recompute.FULL, offload_activations=True), {}),
    ("accelerate", "llama3-8b", Layout(data=64, zero=3), BF16),
    ("accelerate", "llama3-8b", Layout(data=32, zero=2, zero_group=8, recompute=Recompute.FULL), BF16),
    ("accelerate", "llama3-70b", Layout(tensor=8, data=4, context=2, zero=3, sequence_parallel=False), BF16),
    ("accelerate", "llama3-8b", Layout(data=8, zero=3, offload_weights=True, offload_optimiser=True), BF16),
]


@pytest.mark.parametrize(("framework", "model", "layout", "changes"), LAYOUTS)
def test_what_is_written_has_only_recorded_names_and_reads_back(
    framework: str, model: str, layout: Layout, changes: dict[str, object]
) -> None:
    shape = shape_of(model)
    assert emitted(framework, shape, step_of(shape, **changes), layout)


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    def one(*options: int) -> int:
        return draw(st.sampled_from(options))

    return Layout(
        tensor=one(1, 2, 4),
        pipeline=one(1, 2, 4),
        data=one(1, 2, 8),
        context=one(1, 1, 2),
        expert=one(1, 1, 2, 8),
        micro_batch=one(1, 2),
        interleave=one(1, 1, 2),
        schedule=draw(st.sampled_from([Schedule.ONE_FORWARD_ONE_BACKWARD, *Schedule])),
        zero=one(0, 1, 2, 3),
        zero_group=one(0, 0, 2, 4),
        overlap=draw(st.booleans()),
        sequence_parallel=draw(st.booleans()),
        recompute=draw(st.sampled_from(list(Recompute))),
        fused_attention=draw(st.sampled_from([True, True, False])),
        recompute_every=one(1, 1, 2),
        offload_weights=draw(st.sampled_from([False, False, True])),
        offload_optimiser=draw(st.sampled_from([False, False, True])),
        offload_activations=draw(st.sampled_from([False, False, False, True])),
    )


def ranks(framework: str, found, layout: Layout) -> int:  # type: ignore[no-untyped-def]
    """Ranks the settings ask for, but for what the framework takes from the number started."""
    match framework:
        case "megatron":
            split = ("tensor_model", "pipeline_model", "context")
            tensor, pipeline, context = (found[f"{name}_parallel_size"] for name in split)
            return int(tensor * pipeline * context * layout.data)
        case "torchtitan":
            degrees = [value for key, value in found["parallelism"].items() if key.endswith("_degree")]
            return int(_product(degrees) // found["parallelism"].get("expert_parallel_degree", 1))
        case "deepspeed":
            replicas = found["train_batch_size"] // (
                found["train_micro_batch_size_per_gpu"] * found["gradient_accumulation_steps"]
            )
            return int(replicas * found.get("tensor_parallel", {}).get("autotp_size", 1))
        case _:
            return _product([v for k, v in found["parallelism_config"].items() if k.endswith("_size")])


def _product(numbers: list[int]) -> int:
    whole = 1
    for number in numbers:
        whole *= number
    return whole


ABLE: dict[str, dict[str, list[object]]] = {
    "megatron": {
        "tensor": [1, 2, 4],
        "pipeline": [2, 4],
        "interleave": [1, 2],
        "context": [1, 2],
        "zero": [0, 1, 2, 3],
        "zero_group": [0, 4],
        "overlap": [True, False],
        "recompute": SETTABLE,
        "recompute_every": [1, 2],
        "fused_attention": [True, False],
    },
    "torchtitan": {
        "tensor": [1, 2, 4],
        "pipeline": [2, 4],
        "interleave": [1, 2],
        "context": [1, 2],
        "zero": [2, 3],
        "zero_group": [0, 4],
        "recompute": SETTABLE,
    },
    "deepspeed": {
        "tensor": [1, 2, 4],
        "sequence_parallel": [False],
        "zero": [1, 2, 3],
        "overlap": [True, False],
        "recompute": SETTABLE,
        "recompute_every": [1, 2],
        "offload_optimiser": [True, False],
    },
    "accelerate": {
        "tensor": [1, 2, 4],
        "sequence_parallel": [False],
        "context": [1, 2],
        "zero": [2, 3],
        "zero_group": [0, 4],
        "recompute": SETTABLE,
    },
}
"""What each framework has settings for, all of it together."""


@pytest.mark.parametrize("framework", EMITTERS)
@given(draws=st.data())
def test_what_a_framework_has_settings_for_is_written_for_as_many_ranks_as_the_layout_has(
    framework: str, draws: st.DataObject
) -> None:
    chosen = {name: draws.draw(st.sampled_from(options), label=name) for name, options in ABLE[framework].items()}
    layout = Layout(
        data=draws.draw(st.sampled_from([4, 8]), label="data"),
        micro_batch=draws.draw(st.sampled_from([1, 2]), label="micro_batch"),
        **chosen,  # type: ignore[arg-type]
    )
    shape = shape_of(draws.draw(st.sampled_from(["llama3-8b", "mixtral-8x7b", "qwen2.5-7b"]), label="model"))
    step = step_of(shape, gradient_element="bf16" if framework == "accelerate" else "fp32")
    assume(shape.layers % (layout.pipeline * layout.interleave) == 0)
    assert ranks(framework, emitted(framework, shape, step, layout), layout) == layout.chips


@pytest.mark.parametrize("framework", EMITTERS)
@given(
    layout=layouts(),
    model=st.sampled_from(["llama3-8b", "mixtral-8x7b", "deepseek-v2-lite", "gpt2", "falcon-7b"]),
    element=st.sampled_from(["bf16", "bf16", "fp16", "fp32", "fp8", "int8"]),
    gradient=st.sampled_from(["fp32", "bf16"]),
)
def test_any_layout_is_written_for_as_many_ranks_as_it_has_or_refused_in_the_frameworks_name(
    framework: str, layout: Layout, model: str, element: str, gradient: str
) -> None:
    shape = shape_of(model)
    step = step_of(shape, element=element, gradient_element=gradient)
    refused = ""
    try:
        found = emitted(framework, shape, step, layout)
    except MappingError as error:
        refused = str(error)
    if refused:
        known = {"megatron": "Megatron-LM", "torchtitan": "torchtitan", "deepspeed": "DeepSpeed", "accelerate": "FSDP"}
        assert known[framework] in refused
        assert " cannot express " in refused
        return
    assert ranks(framework, found, layout) == layout.chips
    if framework == "accelerate":
        assert found["num_processes"] == layout.chips


# -- single settings -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("framework", EMITTERS)
@pytest.mark.parametrize(
    "changes", [{"graphs": Graphs.WHOLE}, {"narrow_attention": True}, {"recompute": Recompute.LIGHT}], ids=str
)
def test_what_has_no_option_that_lasts_is_refused_and_not_dropped(framework: str, changes: dict[str, Any]) -> None:
    shape = shape_of("llama3-8b")
    with pytest.raises(MappingError, match="cannot express"):
        EMITTERS[framework](shape, step_of(shape), replace(Layout(data=8), **changes))


def test_every_second_product_kept_is_the_selective_mode_of_torchtitan_alone() -> None:
    shape, layout = shape_of("llama3-8b"), Layout(data=8, zero=3, recompute=Recompute.ALTERNATE)
    found = emitted("torchtitan", shape, step_of(shape), layout)
    assert found["activation_checkpoint"] == {"mode": "selective"}
    for framework in set(EMITTERS) - {"torchtitan"}:
        with pytest.raises(MappingError, match="every second product"):
            EMITTERS[framework](shape, step_of(shape), layout)


def test_tokens_behind_computation_are_megatrons_alone() -> None:
    shape, layout = shape_of("deepseek-v3"), Layout(data=64, expert=32, expert_overlap=True)
    assert emitted("megatron", shape, step_of(shape), layout)["overlap_moe_expert_parallel_comm"]
    with pytest.raises(MappingError, match="behind computation"):
        torchtitan.emit(shape, step_of(shape), replace(layout, zero=3))


def test_megatron_gets_the_sizes_of_a_model_with_experts_and_latents() -> None:
    shape = shape_of("deepseek-v3")
    found = emitted("megatron", shape, step_of(shape), Layout(data=64, expert=32))
    assert found["num_experts"] == 256
    assert found["moe_router_topk"] == 8
    assert found["moe_ffn_hidden_size"] == 2048
    assert found["moe_shared_expert_intermediate_size"] == 2048
    assert eval(str(found["moe_layer_freq"])) == [0] * 3 + [1] * 58
    assert (found["q_lora_rank"], found["kv_lora_rank"]) == (1536, 512)
    assert (found["qk_head_dim"], found["qk_pos_emb_head_dim"], found["v_head_dim"]) == (128, 64, 128)
    assert found["expert_model_parallel_size"] == 32
    assert "group_query_attention" not in found


def test_megatron_gets_stages_batches_and_shared_keys() -> None:
    shape = shape_of("llama3-405b")
    layout = Layout(tensor=8, pipeline=14, data=8, interleave=9, context=2, micro_batch=2)
    text = megatron.emit(shape, step_of(shape), layout)
    found = read_megatron(text)
    assert found["num_virtual_stages_per_pipeline_rank"] == 9
    assert (found["micro_batch_size"], found["global_batch_size"]) == (2, 1024)
    assert found["num_query_groups"] == 8
    assert found["sequence_parallel"]
    assert text.startswith("# llama3-405b: 1792 ranks, of which 8 are data-parallel replicas")
    assert "export CUDA_DEVICE_MAX_CONNECTIONS=1" in text


def test_a_step_of_shorter_sequences_is_launched_with_them() -> None:
    shape = shape_of("llama3-8b")
    step = TrainingStep(model=transformer(shape, sequence=2048), batch=64)
    assert emitted("megatron", shape, step, Layout(data=8))["seq_length"] == 2048
    assert emitted("torchtitan", shape, step, Layout(data=8, zero=3))["training"]["seq_len"] == 2048


@pytest.mark.parametrize(("zero", "strategy"), [(0, None), (1, None), (2, "optim_grads"), (3, "optim_grads_params")])
def test_what_replicas_share_out_is_a_strategy_of_megatron(zero: int, strategy: str | None) -> None:
    shape = shape_of("llama3-8b")
    found = emitted("megatron", shape, step_of(shape), Layout(data=32, zero=zero, zero_group=8))
    assert found.get("data_parallel_sharding_strategy") == strategy
    assert ("use_distributed_optimizer" in found) is (zero >= 1)
    assert found.get("num_distributed_optimizer_instances") == (4 if zero else None)


def test_a_fused_attention_core_is_not_told_to_run_again() -> None:
    shape = shape_of("llama3-8b")
    layout = Layout(data=8, recompute=Recompute.SELECTIVE)
    assert "recompute_granularity" not in emitted("megatron", shape, step_of(shape), layout)
    apart = replace(layout, fused_attention=False)
    assert emitted("megatron", shape, step_of(shape), apart)["recompute_modules"] == "core_attn"


def test_hybrid_sharding_is_two_degrees_of_replicas() -> None:
    shape = shape_of("llama3-8b")
    layout = Layout(data=32, context=2, zero=3, zero_group=8)
    titan = emitted("torchtitan", shape, step_of(shape), layout)["parallelism"]
    assert (titan["data_parallel_replicate_degree"], titan["data_parallel_shard_degree"]) == (8, 4)
    found = emitted("accelerate", shape, step_of(shape, gradient_element="bf16"), layout)["parallelism_config"]
    assert found["parallelism_config_dp_replicate_size"] == 8
    assert found["parallelism_config_dp_shard_size"] == 4
    deep = emitted("deepspeed", shape, step_of(shape), replace(layout, context=1))["zero_optimization"]
    assert deep["mics_shard_size"] == 8


def test_a_second_copy_of_the_weights_is_a_setting_of_deepspeed_alone() -> None:
    shape = shape_of("llama3-8b")
    layout = Layout(data=32, zero=3, zero_secondary=8)
    assert emitted("deepspeed", shape, step_of(shape), layout)["zero_optimization"]["zero_hpz_partition_size"] == 8
    with pytest.raises(MappingError, match="hybrid sharding"):
        emitted("deepspeed", shape, step_of(shape), replace(layout, zero_group=16))
    for other in ("megatron", "torchtitan", "accelerate"):
        with pytest.raises(MappingError, match="second copy of the weights; set zero_secondary to 0"):
            emitted(other, shape, step_of(shape, gradient_element="bf16"), layout)


def test_torchtitan_knows_its_own_models_and_is_told_the_sizes_of_others() -> None:
    shape = shape_of("llama3-70b")
    found = emitted("torchtitan", shape, step_of(shape), Layout(data=64, zero=3))
    assert found["model"] == {"name": "llama3", "flavor": "70B"}
    other = shape_of("mistral-7b")
    text = torchtitan.emit(other, step_of(other), Layout(data=64, zero=3))
    assert "model" not in tomllib.loads(text)
    assert "register a flavor of 32 layers, hidden 4096" in text


def test_a_pipeline_of_torchtitan_takes_all_its_micro_batches_at_once() -> None:
    shape = shape_of("llama3-8b")
    piped = emitted("torchtitan", shape, step_of(shape), Layout(pipeline=4, data=8, interleave=2, zero=2))
    assert piped["training"]["local_batch_size"] == 128
    assert piped["parallelism"]["pipeline_parallel_schedule"] == "Interleaved1F1B"
    assert piped["parallelism"]["pipeline_parallel_layers_per_stage"] == 4
    flat = emitted("torchtitan", shape, step_of(shape), Layout(data=8, zero=2))
    assert flat["training"]["local_batch_size"] == 1


def test_what_accelerate_leaves_to_the_script_stands_in_comments() -> None:
    shape = shape_of("llama3-8b")
    text = fsdp.emit(shape, step_of(shape, gradient_element="bf16"), Layout(data=64, zero=3, micro_batch=2))
    assert "per_device_train_batch_size 2, gradient_accumulation_steps 8, global batch 1024" in text


@pytest.mark.parametrize("framework", ["megatron", "torchtitan", "accelerate"])
def test_a_name_with_line_breaks_stays_inside_its_comment(framework: str) -> None:
    shape = replace(shape_of("llama3-8b"), name="x\nrm -rf /")
    text = EMITTERS[framework](
        shape, step_of(shape, **BF16 if framework == "accelerate" else {}), Layout(data=8, zero=3)
    )
    assert text.startswith("# x rm -rf /:")
    assert read(framework, text)


# -- refusals ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("framework", "model", "layout", "changes", "says"),
    [
        ("megatron", "llama3-8b", Layout(pipeline=4, data=2, schedule=Schedule.DUAL_PIPE), {}, "schedule dualpipe"),
        ("megatron", "llama3-8b", Layout(pipeline=4, data=2, schedule=Schedule.ZERO_BUBBLE), {}, "zero-bubble"),
        ("megatron", "llama3-8b", Layout(pipeline=4, data=2, schedule=Schedule.GPIPE), {}, "gpipe"),
        ("megatron", "llama3-8b", Layout(pipeline=5, data=2), {}, "32 layers over 5 stages"),
        ("megatron", "llama3-8b", Layout(data=2, interleave=2), {}, "pieces of a single stage"),
        ("megatron", "llama3-8b", Layout(data=2, offload_weights=True), {}, "weights in host memory"),
        ("megatron", "llama3-8b", Layout(data=2, offload_activations=True), {}, "activations of all layers"),
        ("megatron", "llama3-8b", Layout(data=2, expert=2), {}, "without experts"),
        ("megatron", "mixtral-8x7b", Layout(data=3, expert=3), {"batch": 3}, "8 experts over 3"),
        ("megatron", "mixtral-8x7b", Layout(tensor=2, data=2, sequence_parallel=False), {}, "without sequence"),
        ("megatron", "gemma2-9b", Layout(data=2), {}, "layers of several kinds"),
        ("megatron", "gemma-2b", Layout(data=2), {}, "activation geglu"),
        ("megatron", "falcon-7b", Layout(data=2), {}, "side by side"),
        ("megatron", "glm-5", Layout(data=2), {}, "gated or sparse attention"),
        ("megatron", "jamba-1.5-large", Layout(data=2), {}, "layers of several kinds"),
        ("megatron", "bloom-7b1", Layout(data=2), {}, "norm after the embedding"),
        ("megatron", "mpt-7b", Layout(data=2), {}, "layernorm without bias"),
        ("megatron", "llama3-8b", Layout(data=2), {"element": "tf32"}, "element type tf32"),
        ("megatron", "llama3-8b", Layout(data=2), {"gradient_element": "fp16"}, "gradients in fp16"),
        ("megatron", "llama3-8b", Layout(data=2), {"optimiser_state": 6.0}, "6 bytes a parameter"),
        ("megatron", "llama3-8b", Layout(data=3), {}, "multiple of 3"),
        ("megatron", "llama3-8b", Layout(data=8, zero_group=3), {}, "sharding over 3 of 8"),
        ("torchtitan", "llama3-8b", Layout(data=8, zero=1), {}, "ZeRO 1"),
        ("torchtitan", "llama3-8b", Layout(data=8, tensor=2, zero=0), {}, "ZeRO 0"),
        ("torchtitan", "llama3-8b", Layout(data=8, tensor=2, zero=3, sequence_parallel=False), {}, "without sequence"),
        ("torchtitan", "llama3-8b", Layout(pipeline=4, schedule=Schedule.ZERO_BUBBLE), {}, "zero-bubble"),
        ("torchtitan", "llama3-8b", Layout(pipeline=4, schedule=Schedule.DUAL_PIPE), {}, "dualpipe"),
        ("torchtitan", "llama3-8b", Layout(pipeline=9), {}, "32 layers over 9 stages"),
        ("torchtitan", "llama3-8b", Layout(data=8, zero=3), {"gradient_element": "bf16"}, "exchanged in bf16"),
        ("torchtitan", "llama3-8b", Layout(data=8, zero=3, offload_optimiser=True), {}, "only optimiser in host"),
        ("torchtitan", "mixtral-8x7b", Layout(data=8, zero=3, context=4, expert=2), {}, "multiple of context"),
        ("deepspeed", "llama3-8b", Layout(pipeline=4, data=2), {}, "4 pipeline stages"),
        ("deepspeed", "llama3-8b", Layout(context=4, data=2), {}, "context parallelism of 4"),
        ("deepspeed", "llama3-8b", Layout(tensor=4, data=2), {}, "sequence parallelism beside tensor"),
        ("deepspeed", "llama3-8b", Layout(data=8, zero=2, zero_group=4), {}, "hybrid sharding at ZeRO stage 2"),
        ("deepspeed", "llama3-8b", Layout(data=8, zero=2, offload_weights=True), {}, "off-loaded weights"),
        ("deepspeed", "llama3-8b", Layout(data=8), {"element": "fp8"}, "element type fp8"),
        ("accelerate", "llama3-8b", Layout(pipeline=4, data=2, zero=3), BF16, "pipeline parallelism (4 stages"),
        ("accelerate", "mixtral-8x7b", Layout(data=8, zero=3, expert=8), BF16, "expert parallelism of 8"),
        ("accelerate", "llama3-8b", Layout(data=8, zero=1), BF16, "ZeRO stage 1"),
        ("accelerate", "llama3-8b", Layout(data=8, zero=3), {}, "gradients exchanged in fp32"),
        ("accelerate", "llama3-8b", Layout(data=8, zero=3, overlap=False), BF16, "after the backward pass"),
    ],
)
def test_what_a_framework_cannot_run_is_refused_by_name(
    framework: str, model: str, layout: Layout, changes: dict[str, object], says: str
) -> None:
    shape = shape_of(model)
    with pytest.raises(MappingError) as caught:
        EMITTERS[framework](shape, step_of(shape, **changes), layout)
    assert says in str(caught.value)


@pytest.mark.parametrize("framework", EMITTERS)
def test_a_step_of_another_model_is_refused(framework: str) -> None:
    step = step_of(shape_of("llama3-70b"))
    with pytest.raises(MappingError, match="give the step of"):
        EMITTERS[framework](shape_of("llama3-8b"), step, Layout(data=8))


@pytest.mark.parametrize("framework", EMITTERS)
def test_every_record_says_which_version_it_was_read_from(framework: str) -> None:
    record = recorded(framework)
    assert len(record["commit"]) == 40
    assert record["repository"].startswith("github.com/")
    assert record["files"]
