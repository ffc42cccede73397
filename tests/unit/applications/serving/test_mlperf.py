"""Results of MLPerf as loads on instances."""

import numpy as np
import pytest

from volvelle import Catalogue
from volvelle.applications.serving.mlperf import UNSTATED, mlperf_answers, mlperf_run
from volvelle.applications.serving.runs import ServingRun

STATED = {
    "model": "llama3-8b",
    "chip": "h200-sxm",
    "chips": "8",
    "scenario": "Offline",
    "framework": "TensorRT 10.11, CUDA 12.9",
    "engine_precision": "fp8",
    "tokens_per_s": "66000",
    "mean_osl_derived": "128",
    "target_qps": "500",
    "tp": "1",
    "max_batch_per_engine": "256",
}


def run_of(catalogue: Catalogue, **changed: str) -> ServingRun:
    run = mlperf_run(STATED | changed, catalogue)
    assert isinstance(run, ServingRun), run
    return run


def test_twice_the_instances_make_twice_the_tokens_offline(catalogue: Catalogue) -> None:
    four, eight = (mlperf_answers(run_of(catalogue, chips=chips))["throughput"] for chips in ("4", "8"))
    assert eight == pytest.approx(2.0 * four, rel=0.02)


def test_a_server_gives_what_is_asked_for_and_a_percentile_above_the_mean(catalogue: Catalogue) -> None:
    found = mlperf_answers(run_of(catalogue, scenario="Server", target_qps="80"))
    assert found["throughput"] == pytest.approx(80 * 128)
    assert found["ttft_p99"] > found["ttft"] > 0
    assert found["tpot_p99"] > found["tpot"] > 0


def test_a_rate_that_is_not_sustained_has_no_latency(catalogue: Catalogue) -> None:
    offline = mlperf_answers(run_of(catalogue))["throughput"]
    found = mlperf_answers(run_of(catalogue, scenario="Server", target_qps=str(4 * offline / 128)))
    assert set(found) == {"throughput"}
    assert found["throughput"] < 1.1 * offline


def test_lengths_have_the_mean_that_is_stated_even_where_long_ones_are_cut(catalogue: Catalogue) -> None:
    run = run_of(catalogue, model="llama2-70b", mean_osl_derived="292", engine_precision="fp4", chip="b200")
    assert run.shape is not None
    prompts, made = run.shape.sample(np.random.default_rng(0), 40_000)
    assert float(np.mean(prompts)) == pytest.approx(221, rel=0.02)
    assert float(np.mean(made)) == pytest.approx(292, rel=0.02)
    assert int(made.max()) == 1024
    assert "OpenOrca" in run.assumed[0]


def test_latents_are_not_split_where_experts_are_spread(catalogue: Catalogue) -> None:
    run = run_of(catalogue, model="deepseek-v3", chip="b200", engine_precision="fp4", tp="8", ep="8")
    assert (run.instance.layout.tensor, run.instance.layout.data, run.instance.layout.expert) == (1, 8, 8)
    assert any("latents" in line for line in run.assumed)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"tp": ""}, UNSTATED),
        ({"max_batch_per_engine": ""}, UNSTATED),
        ({"framework": "vLLM 0.4.3"}, "of vLLM 0.4.3 no settings are known"),
        ({"mean_osl_derived": ""}, "it states no output length"),
        ({"model": "gpt-j-6b"}, "no data set of the benchmark is known"),
        ({"engine_precision": "int3"}, "weights in int3 have no kernels here"),
        ({"chips": "1", "tp": "8"}, "an instance of 8 chips does not fit on 1"),
        ({"scenario": "Server", "target_qps": ""}, "it states no rate of queries"),
        ({"model": "llama3-405b"}, "leaves no room"),
    ],
)
def test_a_result_that_cannot_be_asked_says_why(catalogue: Catalogue, changed: dict[str, str], reason: str) -> None:
    found = mlperf_run(STATED | changed, catalogue)
    assert isinstance(found, str)
    assert reason in found
