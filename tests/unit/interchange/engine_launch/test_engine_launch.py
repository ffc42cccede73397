"""Launch files of engines: only options that the version has, values that read back, no near misses."""

import argparse
import json
import shlex
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from ruamel.yaml import YAML

from volvelle import Catalogue, DescriptionError, MappingError, UnknownNameError
from volvelle.interchange.engine_launch.deployment import LaunchFile
from volvelle.interchange.engine_launch.recorded import RecordedOptions, known_versions, recorded_options
from volvelle.verbs.serving.files import launch_files
from volvelle.verbs.serving.question import ServingQuestion

KNOWN = Catalogue()


def files_of(emit: str, model: str = "llama3-8b", on: str = "dgx-h100/8", **told: Any) -> dict[str, LaunchFile]:
    checkpoint = told.pop("checkpoint", None)
    engine = told.pop("engine", emit.partition("@")[0].replace("dynamo", "vllm"))
    question = ServingQuestion(model=model, on=on, engine=engine, **told)
    cluster = KNOWN.cluster(on)
    instance = question.instance(KNOWN, KNOWN.model(model), cluster)
    return {file.name: file for file in launch_files(emit, question, instance, cluster, checkpoint=checkpoint)}


def yaml(file: LaunchFile) -> Any:
    return YAML(typ="safe", pure=True).load(StringIO(file.text))


def command(file: LaunchFile) -> list[str]:
    """Return the words that a script runs; a benchmark of clients goes on with figures after their warm-up."""
    lines = file.text.splitlines()
    if lines[-1].startswith("exec "):
        return shlex.split(lines[-1])[1:]
    return shlex.split(lines[lines.index("set -e") + 1])


def parsed(words: list[str], options: RecordedOptions, group: str) -> dict[str, object]:
    """What a parser of the recorded options makes of a command; an option that is not there is an error."""
    parser = argparse.ArgumentParser(exit_on_error=False, allow_abbrev=False)
    for name, kind in options.groups[group].items():
        if kind == "flag":
            parser.add_argument(name, action="store_true")
        elif name == "--metadata":
            parser.add_argument(name, nargs="*")
        else:
            parser.add_argument(name, type={"int": int, "float": float}.get(str(kind), str))
    found, rest = parser.parse_known_args(words)
    assert not [word for word in rest if word.startswith("--")]
    return vars(found)


@pytest.mark.parametrize("engine", ["vllm", "sglang", "trtllm", "dynamo"])
def test_recorded_options_say_where_they_are_from(engine: str) -> None:
    for version in known_versions(engine):
        options = recorded_options(engine, version)
        assert options.version == version
        assert len(options.commit) == 40
        assert options.repository.startswith("github.com/")
        assert options.groups


def test_vllm_is_told_what_the_answer_rests_on() -> None:
    found = files_of("vllm", tensor=4, batch=8, max_seqs=64, max_batched_tokens=4096, kv="fp8", weights="fp8")
    told = yaml(found["vllm.yaml"])
    assert told["tensor-parallel-size"] == 4
    assert (told["max-num-seqs"], told["max-num-batched-tokens"]) == (64, 4096)
    assert (told["kv-cache-dtype"], told["quantization"]) == ("fp8", "fp8")
    assert told["gpu-memory-utilization"] == 0.9
    assert told["max-model-len"] >= 1024 + 128
    options = recorded_options("vllm").groups["arguments"]
    assert all(f"--{name}" in options for name in told)


def test_instances_of_a_node_take_chips_and_ports_of_their_own() -> None:
    script = files_of("vllm", tensor=4)["launch.sh"]
    assert (
        "CUDA_VISIBLE_DEVICES=0,1,2,3 vllm serve meta-llama/Meta-Llama-3-8B-Instruct --config vllm.yaml --port 8000 &"
        in (script.text)
    )
    assert "CUDA_VISIBLE_DEVICES=4,5,6,7" in script.text
    assert "--port 8001" in script.text
    assert script.runs


def test_sglang_counts_ranks_of_attention_in_its_tensor_parallelism() -> None:
    found = files_of(
        "sglang", "deepseek-v3", "dgx-b200/8", tensor=1, data=8, expert=8, weights="fp8-block", kv="fp8", max_seqs=32
    )
    told = yaml(found["sglang.yaml"])
    assert (told["tp-size"], told["dp-size"], told["ep-size"]) == (8, 8, 8)
    assert told["enable-dp-attention"] is True
    assert told["max-running-requests"] == 8 * 32
    assert "quantization" not in told


def test_tensorrt_llm_gets_what_it_has_no_options_for_in_a_file() -> None:
    found = files_of("trtllm", tensor=8, kv="fp8", chunked_prefill=True)
    words = command(found["launch.sh"])
    assert words[:2] == ["trtllm-serve", "meta-llama/Meta-Llama-3-8B-Instruct"]
    told = parsed(words[2:], recorded_options("trtllm"), "arguments")
    assert told["tp_size"] == 8
    extra = yaml(found[str(told["extra_llm_api_options"])])
    assert extra["kv_cache_config"]["dtype"] == "fp8"
    assert extra["enable_chunked_prefill"] is True


@pytest.mark.parametrize("engine", ["vllm", "sglang", "trtllm"])
def test_dynamo_deploys_workers_with_options_of_the_release_it_is_built_with(engine: str) -> None:
    resource = yaml(files_of("dynamo", engine=engine, tensor=2)["dynamo.yaml"])
    assert resource["kind"] == "DynamoGraphDeployment"
    worker = next(one for one in resource["spec"]["services"].values() if one["componentType"] == "worker")
    assert (worker["replicas"], worker["resources"]["limits"]["gpu"]) == (4, "2")
    container = worker["extraPodSpec"]["mainContainer"]
    assert container["command"] == ["python3", "-m", f"dynamo.{engine}"]
    options = recorded_options("dynamo")
    release = recorded_options(engine, options.built_with[engine])
    group = (options, "trtllm") if engine == "trtllm" else (release, "arguments")
    told = parsed(container["args"], *group)
    assert told["tp_size" if engine == "sglang" else "tensor_parallel_size"] == 2
    if engine == "trtllm":
        assert json.loads(str(told["override_engine_args"]))["kv_cache_config"]["tokens_per_block"] == 32


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_the_benchmark_puts_the_same_load_on_it(engine: str) -> None:
    words = command(files_of(engine, load="closed 16", input=512, output=64, seed=7)["benchmark.sh"])
    told = parsed(words, recorded_options(engine), "benchmark")
    assert (told["max_concurrency"], told["num_prompts"], told["seed"]) == (16, 160, 7)
    inputs, outputs, ratio = (float(str(told[f"random_{name}"])) for name in ("input_len", "output_len", "range_ratio"))
    most = inputs * (1 + ratio) if engine == "vllm" else inputs
    least = inputs * (1 - ratio) if engine == "vllm" else inputs * ratio
    assert (least, most) == pytest.approx((0.8 * 512, 1.2 * 512), abs=1.0)
    assert outputs / inputs == pytest.approx(64 / 512, rel=0.01)
    assert told["request_rate"] is None


def test_lengths_drawn_up_to_one_are_said_as_vllm_draws_them() -> None:
    words = command(files_of("vllm", load="poisson 3/s", lengths="uniform:0.8", input=1000, output=100)["benchmark.sh"])
    told = parsed(words, recorded_options("vllm"), "benchmark")
    middle, ratio = float(str(told["random_input_len"])), float(str(told["random_range_ratio"]))
    assert (middle * (1 - ratio), middle * (1 + ratio)) == pytest.approx((800, 1000), abs=0.5)
    assert told["request_rate"] == 3.0


def test_a_recorded_load_is_not_replaced_by_another(tmp_path: Any) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text("arrival,input_tokens,output_tokens\n0,100,10\n1,100,10\n", "utf-8")
    script = files_of("vllm", load=f"trace {trace}")["benchmark.sh"]
    assert "does not send requests when" in script.text
    assert "vllm bench serve" not in script.text.splitlines()[-1]


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"emit": "vllm", "engine": "sglang"}, "files for vllm would launch another engine"),
        ({"emit": "vllm", "engine": "vllm-2024"}, "not an engine whose options are recorded"),
        ({"emit": "vllm", "weights": "fp8-block"}, "--checkpoint"),
        ({"emit": "trtllm", "weights": "fp8"}, "--checkpoint"),
        ({"emit": "sglang", "tensor": 2, "data": 2}, "take --dp 1"),
        ({"emit": "vllm", "on": "dgx-h100/16", "tensor": 8, "pipeline": 2}, "use --emit dynamo"),
        (
            {"emit": "vllm", "model": "qwen3-30b-a3b", "tensor": 4, "expert": 2},
            "take --ep 4 or --ep 1",
        ),
        (
            {"emit": "trtllm", "model": "qwen3-30b-a3b", "tensor": 2, "data": 2, "expert": 4},
            "take --tp 1 or --dp 1",
        ),
    ],
)
def test_what_an_engine_cannot_run_as_timed_is_refused(told: dict[str, Any], said: str) -> None:
    with pytest.raises(MappingError, match=said):
        files_of(**told)


def test_an_option_that_a_version_does_not_have_is_refused_not_written() -> None:
    options = recorded_options("vllm")
    without = {name: kind for name, kind in options.groups["arguments"].items() if name != "--block-size"}
    older = replace(options, groups={**options.groups, "arguments": without})
    with pytest.raises(MappingError, match="has no option --block-size"):
        older.checked({"--block-size": 16})
    with pytest.raises(MappingError, match="does not take 'int3'"):
        options.checked({"--kv-cache-dtype": "int3"})
    with pytest.raises(MappingError, match="does not take 'many'"):
        options.checked({"--max-num-seqs": "many"})


def test_versions_and_targets_that_nobody_recorded_are_refused_by_name() -> None:
    with pytest.raises(UnknownNameError, match="recorded version of vllm"):
        files_of("vllm@0.1")
    with pytest.raises(UnknownNameError, match="target of --emit"):
        files_of("tgi", engine="vllm")
    assert "0.26.0" in files_of("vllm@0.26.0")["vllm.yaml"].text


def test_a_checkpoint_may_be_named_and_is_no_option() -> None:
    found = files_of("vllm", weights="nvfp4", on="dgx-b200/8", tensor=1, checkpoint="nvidia/Llama-3-8B-NVFP4")
    assert "vllm serve nvidia/Llama-3-8B-NVFP4" in found["launch.sh"].text
    assert "quantization" not in yaml(found["vllm.yaml"])
    with pytest.raises(DescriptionError, match="give a name on the hub"):
        files_of("vllm", checkpoint="--trust-remote-code")


def test_a_line_break_in_a_model_name_starts_no_command() -> None:
    question = ServingQuestion(model="llama3-8b\nrm -rf x", on="dgx-h100/8")
    cluster = KNOWN.cluster("dgx-h100/8")
    instance = question.instance(KNOWN, KNOWN.model("llama3-8b"), cluster)
    for file in launch_files("vllm", question, instance, cluster):
        assert not any(line.startswith("rm") for line in file.text.splitlines())


@pytest.mark.parametrize(
    ("speculate", "told"),
    [
        ("eagle 3", {"method": "eagle3", "model": "DRAFT_HEAD", "num_speculative_tokens": 3}),
        ("mtp 1", {"method": "mtp", "num_speculative_tokens": 1}),
        ("ngram 4", {"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_max": 4}),
        (
            "parallel 5",
            {"method": "eagle3", "model": "DRAFT_HEAD", "num_speculative_tokens": 5, "parallel_drafting": True},
        ),
    ],
)
@pytest.mark.parametrize("version", known_versions("vllm"))
def test_vllm_is_told_how_to_draft(speculate: str, told: dict[str, object], version: str) -> None:
    file = files_of(f"vllm@{version}", speculate=speculate)["vllm.yaml"]
    assert json.loads(yaml(file)["speculative-config"]) == told
    assert ("in place of DRAFT_HEAD" in file.text) == ("model" in told)


def test_a_draft_model_is_named_by_its_checkpoint() -> None:
    told = yaml(files_of("vllm", model="llama3-70b", speculate="draft llama3-8b 4 tp1")["vllm.yaml"])
    config = json.loads(told["speculative-config"])
    assert config["model"].endswith("Llama-3-8B-Instruct")
    assert config["draft_tensor_parallel_size"] == 1


def test_sglang_is_told_how_to_draft() -> None:
    told = yaml(files_of("sglang", speculate="eagle 3")["sglang.yaml"])
    assert told["speculative-algorithm"] == "EAGLE3"
    assert (told["speculative-num-steps"], told["speculative-num-draft-tokens"]) == (3, 4)


@pytest.mark.parametrize(
    ("emit", "speculate", "said"),
    [
        ("vllm", "eagle 3 tree 4x2", "tree"),
        ("vllm", "draft llama3-8b 4 tp2", "2 chips"),
        ("sglang", "ngram 4", "ngram"),
        ("sglang", "draft llama3-8b 4 tp1", "1 chips"),
        ("trtllm", "eagle 3", "recorded"),
    ],
)
def test_drafts_that_an_engine_cannot_make_are_refused(emit: str, speculate: str, said: str) -> None:
    with pytest.raises(MappingError, match=said):
        files_of(emit, model="llama3-70b", speculate=speculate)
