"""What a served model keeps, to the byte where that is published."""

import pytest

from volvelle import Catalogue
from volvelle.estimators.serving.cache import MemoryPlan, cache_bytes, growing_bytes, weight_bytes
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.workload.served_model import ServedModel

CATALOGUE = Catalogue()


def served(name: str, **how: str) -> ServedModel:
    return ServedModel(shape=CATALOGUE.model(name), **how)


@pytest.mark.parametrize(
    ("model", "bytes_a_token"),
    [
        ("llama3-8b", 131_072),
        ("llama3-70b", 327_680),
        ("qwen3-32b", 262_144),
        ("deepseek-v3", 70_272),
        ("gpt-oss-120b", 36_864),
    ],
)
def test_every_further_token_adds_what_is_published(model: str, bytes_a_token: int) -> None:
    assert growing_bytes(served(model), ServingLayout()) == bytes_a_token


def test_windows_of_gpt_oss_stop_growing() -> None:
    model, layout = served("gpt-oss-120b"), ServingLayout()
    short, long = (float(cache_bytes(model, layout, tokens)) for tokens in (128, 1_048_576))
    assert short == 128 * 2 * 36_864
    assert long == 1_048_576 * 36_864 + 128 * 36_864


def test_a_request_of_a_hybrid_keeps_its_states_from_the_first_token_on() -> None:
    model, layout = served("qwen3.6-35b-a3b"), ServingLayout()
    short, long = (float(cache_bytes(model, layout, tokens)) for tokens in (16, 1040))
    states = 30 * (32 * 128 * 128 * 4 + 2 * (2 * 16 * 128 + 32 * 128) * 3)
    assert short == states + 16 * growing_bytes(model, layout)
    assert long - short == 1024 * growing_bytes(model, layout)


def test_narrow_caches_take_half() -> None:
    layout = ServingLayout()
    assert 2 * growing_bytes(served("llama3-8b", cache="fp8"), layout) == growing_bytes(served("llama3-8b"), layout)


def test_latent_attention_is_kept_whole_by_every_chip_of_a_tensor_group() -> None:
    model = served("deepseek-v3")
    assert growing_bytes(model, ServingLayout(tensor=8)) == growing_bytes(model, ServingLayout())


def test_stages_of_a_pipeline_share_out_layers() -> None:
    model = served("llama3-8b")
    assert growing_bytes(model, ServingLayout(pipeline=4)) == growing_bytes(model, ServingLayout()) / 4


@pytest.mark.parametrize("model", ["llama3-8b", "qwen3-32b", "deepseek-v3", "gpt-oss-120b", "qwen3.6-35b-a3b", "glm-5"])
def test_weights_are_those_of_the_model(model: str) -> None:
    """But for norms, biases, and what no engine keeps."""
    stated = float(CATALOGUE.model_file(model).parameters.value)
    assert weight_bytes(served(model), ServingLayout()) / 2.0 == pytest.approx(stated, rel=0.004)


def test_an_rtx_4090_holds_as_many_tokens_of_llama_3_8b_as_vllm_resolved() -> None:
    plan = MemoryPlan(capacity=24564 * 2**20, share=0.9, working=1.7e9)
    assert plan.blocks(served("llama3-8b"), ServingLayout()) * 16 == pytest.approx(41_408, rel=0.01)
