"""Serving uses what a checkpoint states: the format of its weights, its context, and its name on the hub."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import volvelle
from tests.everyday.asking import Reply, ask
from volvelle.catalogue import Catalogue
from volvelle.catalogue.aliases import hub_model, hub_names, launched_checkpoints
from volvelle.catalogue.checkpoints import checkpoint_of
from volvelle.interchange.quantization import weight_format_of

CONFIGS = Path(__file__).parents[1] / "data" / "huggingface"
AWQ = {"quant_method": "awq", "bits": 4, "group_size": 128}
LONG = ("--input", "30000", "--output", "500")


def config(folder: Path, name: str = "llama-3-8b", **changes: object) -> str:
    """Write a config.json with some of its fields changed."""
    fields = {**json.loads((CONFIGS / f"{name}.json").read_text("utf-8")), **changes}
    (folder / "my-model").mkdir()
    (folder / "my-model" / "config.json").write_text(json.dumps(fields), "utf-8")
    return "my-model/config.json"


def serve(folder: Path, model: str, *words: str, on: str = "dgx-h100/1") -> Reply:
    return ask(folder, "serve", model, "--on", on, *words)


def served_in(folder: Path, model: str, *words: str, on: str = "dgx-h100/1") -> str:
    reply = serve(folder, model, *words, "--json", on=on)
    assert reply.status in (0, 1), reply.err
    return str(json.loads(reply.out)["weight_format"])


@pytest.mark.parametrize(
    ("stated", "served"),
    [
        (AWQ, "int4"),
        ({"quant_method": "gptq", "bits": 4}, "int4"),
        ({"quant_method": "gptq", "bits": 8}, "int8"),
        ({"quant_method": "fp8"}, "fp8"),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, "fp8-block"),
        ({"quant_method": "mxfp4"}, "mxfp4"),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "nvfp4"),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"a": {"weights": {"num_bits": 8, "type": "float"}}},
            },
            "fp8",
        ),
        (
            {"quant_method": "compressed-tensors", "config_groups": {"a": {"weights": {"num_bits": 4, "type": "int"}}}},
            "int4",
        ),
    ],
)
def test_a_quantised_config_sets_the_format_of_weights(stated: dict[str, Any], served: str) -> None:
    assert weight_format_of({"quantization_config": stated}) == served


def test_serve_uses_the_format_of_a_quantised_config_and_prints_it(tmp_path: Path) -> None:
    model = config(tmp_path, quantization_config=AWQ)
    assert served_in(tmp_path, model) == "int4"
    assert "int4, the format of the published checkpoint" in " ".join(serve(tmp_path, model).out.split())
    assert served_in(tmp_path, model, "--weights", "bf16") == "bf16"


def test_training_keeps_its_own_element_type(tmp_path: Path) -> None:
    question = {"on": "dgx-h100/8", "batch": 64, "zero": 2}
    plain = volvelle.estimate(volvelle.read_model(json.loads((CONFIGS / "llama-3-8b.json").read_text())), **question)
    config(tmp_path, quantization_config=AWQ)
    assert volvelle.estimate(tmp_path / "my-model", **question).estimate.time == plain.estimate.time


def test_an_unknown_quantisation_is_rejected_by_name(tmp_path: Path) -> None:
    model = config(tmp_path, quantization_config={"quant_method": "hqq", "bits": 3})
    reply = serve(tmp_path, model)
    assert reply.status == 2
    assert "hqq" in reply.err
    assert "--weights" in reply.err
    assert serve(tmp_path, model, "--weights", "int4").status == 0


@pytest.mark.parametrize(
    ("model", "on", "weights"),
    [
        ("deepseek-v3", "dgx-h200/8", "fp8-block"),
        ("gpt-oss-120b", "dgx-h100/8", "mxfp4"),
        ("qwen3-8b", "dgx-h100/1", "bf16"),
    ],
)
def test_models_of_the_catalogue_are_served_as_published(tmp_path: Path, model: str, on: str, weights: str) -> None:
    assert served_in(tmp_path, model, on=on) == weights


def test_a_chip_without_kernels_for_the_published_format_gets_a_warning(tmp_path: Path) -> None:
    out = " ".join(serve(tmp_path, "qwen3-8b-fp8", on="dgx-a100/1").out.split())
    assert "the published checkpoint is in fp8-block" in out
    assert "weights are in bf16" in out


@pytest.mark.parametrize("word", ["awq", "gptq", "q4_K_M"])
def test_names_of_four_bit_checkpoints_mean_int4(tmp_path: Path, word: str) -> None:
    assert served_in(tmp_path, "llama3-8b", "--weights", word) == "int4"


def test_the_printed_command_keeps_an_explicit_format(tmp_path: Path) -> None:
    reply = serve(tmp_path, "deepseek-v3", "--weights", "bf16", on="dgx-h100/8")
    assert reply.status == 1
    assert "--weights" in reply.out


# -- context ---------------------------------------------------------------------


def test_a_request_longer_than_the_context_is_rejected(tmp_path: Path) -> None:
    reply = serve(tmp_path, "llama3-8b", "--input", "200000")
    assert reply.status == 2
    assert "8,192 tokens" in reply.err
    assert "--input" in reply.err
    assert serve(tmp_path, "llama3-8b", "--input", "8000", "--output", "192", "--brief").status == 0


def test_plan_and_fleet_reject_requests_longer_than_the_context(tmp_path: Path) -> None:
    load = ("--on", "dgx-h100/8", "--load", "poisson 1/s", "--slo", "p99 ttft 9 s", "--input", "20000")
    for words in (("plan", "llama3-8b", "--serve"), ("fleet", "llama3-8b")):
        reply = ask(tmp_path, *words, *load)
        assert reply.status == 2
        assert "longer than the context of llama3-8b" in reply.err


def test_the_emitted_length_is_within_the_context(tmp_path: Path) -> None:
    out = serve(tmp_path, "llama3-8b", "--input", "8000", "--output", "190", "--emit", "vllm").out
    found = re.search(r"max-model-len: (\d+)", out)
    assert found is not None
    assert int(found[1]) <= 8192


def test_a_config_with_rope_scaling_has_the_longer_context(tmp_path: Path) -> None:
    yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8192}
    model = config(tmp_path, rope_scaling=yarn)
    assert serve(tmp_path, model, *LONG).status == 0
    shutil.rmtree(tmp_path / "my-model")
    assert serve(tmp_path, config(tmp_path), *LONG).status == 2


def test_an_unknown_context_is_not_checked_and_the_answer_says_so(catalogue: Catalogue) -> None:
    shape = replace(catalogue.model("llama3-8b"), context=0)
    answer = volvelle.serve(shape, on="dgx-h100/1", input=30_000)
    assert any("context of llama3-8b is unknown" in note for note in answer.notes)


def test_a_trace_with_requests_beyond_the_context_gets_a_note(tmp_path: Path) -> None:
    lines = "\n".join(f"{second},{tokens},10" for second, tokens in ((0, 100), (1, 20_000)))
    (tmp_path / "trace.csv").write_text(f"arrival_s,input_tokens,output_tokens\n{lines}\n", "utf-8")
    reply = serve(tmp_path, "llama3-8b", "--load", "trace trace.csv")
    assert "1 of 2 requests of the trace are longer than the context" in " ".join(reply.out.split())


# -- names ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "model", "context"),
    [
        ("llama3.1-8b", "llama3-8b", 131072),
        ("llama-3.3-70b", "llama3-70b", 131072),
        ("llama3.3-70b", "llama3-70b", 131072),
        ("Llama-3.3-70B-Instruct", "llama3-70b", 131072),
        ("Llama 3.3 70B", "llama3-70b", 131072),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama3-8b", 131072),
        ("meta-llama/Meta-Llama-3-8B-Instruct", "llama3-8b", 8192),
        ("llama3-8b", "llama3-8b", 8192),
        ("Qwen3-30B-A3B-Instruct-2507", "qwen3-30b-a3b", 262144),
        ("Qwen/Qwen2.5-7B-Instruct", "qwen2.5-7b", 32768),
    ],
)
def test_names_that_people_type_have_their_own_context(
    name: str, model: str, context: int, catalogue: Catalogue
) -> None:
    shape = catalogue.model(name)
    assert (shape.name, shape.context) == (model, context)


@pytest.mark.parametrize(
    ("model", "checkpoint"),
    [
        ("llama3-70b", "meta-llama/Meta-Llama-3-70B-Instruct"),
        ("llama3.3-70b", "meta-llama/Llama-3.3-70B-Instruct"),
        ("llama-3.1-70b", "meta-llama/Llama-3.1-70B-Instruct"),
        ("meta-llama/Llama-3.1-70B", "meta-llama/Llama-3.1-70B"),
    ],
)
def test_serving_launches_the_checkpoint_that_follows_instructions(tmp_path: Path, model: str, checkpoint: str) -> None:
    out = serve(tmp_path, model, "--emit", "vllm", on="dgx-h100/8").out
    assert f"vllm serve {checkpoint} " in out


def test_a_launched_checkpoint_limits_the_context(tmp_path: Path) -> None:
    assert serve(tmp_path, "Qwen/Qwen2.5-7B", "--input", "60000", "--brief").status == 0
    assert serve(tmp_path, "qwen2.5-7b", "--input", "60000").status == 2


def test_every_launched_checkpoint_is_a_known_name_of_its_model(catalogue: Catalogue) -> None:
    for model, checkpoint in launched_checkpoints().items():
        assert hub_model(checkpoint) == model
        assert checkpoint_of(model, catalogue) == checkpoint


def test_facts_of_names_on_the_hub_have_a_source(catalogue: Catalogue) -> None:
    for entry in hub_names():
        for fact in (entry.context, entry.weights):
            assert fact is None or fact.source in catalogue.references, entry.match
