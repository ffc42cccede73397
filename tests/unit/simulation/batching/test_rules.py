"""Settings that contradict each other are refused, with what to write."""

from dataclasses import replace

import pytest

from volvelle.errors import DescriptionError
from volvelle.simulation.batching.rules import Eviction, sglang, tensorrt_llm, vllm


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"token_budget": 100}, "a step of 100 tokens cannot decode 256 sequences"),
        ({"eviction": Eviction.NONE}, "write Eviction.RECOMPUTE"),
        ({"receive_interval": 10}, "receive_interval is SGLang's"),
        ({"batch_wait_steps": 10}, "batch_wait_steps is TensorRT-LLM's"),
        ({"balance_steps": 10}, "balance_steps is TensorRT-LLM's"),
        ({"mixes": False}, "write mixes=True"),
        ({"kv_blocks": 0}, "kv_blocks is 0"),
        ({"batch_wait_ratio": float("nan")}, "batch_wait_ratio is nan"),
    ],
)
def test_a_setting_of_another_engine_is_refused(changed: dict[str, object], said: str) -> None:
    with pytest.raises(DescriptionError, match=said):
        replace(vllm(kv_blocks=100), **changed)  # type: ignore[arg-type]


def test_an_engine_that_cuts_at_blocks_needs_room_for_one() -> None:
    with pytest.raises(DescriptionError, match="no room for a block of 64"):
        sglang(kv_blocks=100, chunk_tokens=32, block_tokens=64)


def test_each_engine_has_its_own_defaults() -> None:
    assert vllm(kv_blocks=1).reserve_whole_prompt
    assert not sglang(kv_blocks=1).mixes
    assert tensorrt_llm(kv_blocks=1).eviction is Eviction.NONE
    assert not tensorrt_llm(kv_blocks=1).chunks
