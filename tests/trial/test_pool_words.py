"""Words of a pool describe the whole layout of its workers: nothing is inherited from defaults of one engine."""

import json
from pathlib import Path

import pytest

from tests.everyday.asking import Reply, ask

ASKED = (
    "--engine",
    "sglang",
    "--weights",
    "fp8-block",
    "--input",
    "256",
    "--output",
    "16",
    "--load",
    "closed 4",
    "--requests",
    "8",
)


def pools(folder: Path, decode: str, *, on: str = "dgx-h200/16") -> Reply:
    """Ask for DeepSeek-V3 by two pools."""
    words = ("--on", on, "--prefill", "1x tp8", "--decode", decode, *ASKED, "--json")
    return ask(folder, "serve", "deepseek-v3", *words)


def decode_layout(reply: Reply) -> dict[str, int]:
    """Return the layout of one decode worker."""
    found: dict[str, int] = json.loads(reply.out)["decode"]["serving_layout"]
    return found


def test_the_documented_pool_of_data_parallel_ranks_is_served(tmp_path: Path) -> None:
    reply = pools(tmp_path, "1x dp8 ep8")
    assert reply.status == 0, reply.err
    assert decode_layout(reply) == {"tensor": 1, "pipeline": 1, "expert": 8, "data": 8}


@pytest.mark.parametrize("machine", ["dgx-h200/16", "dgx-h200/32"])
def test_the_layout_of_a_pool_does_not_depend_on_the_size_of_the_machine(tmp_path: Path, machine: str) -> None:
    reply = pools(tmp_path, "1x tp4 dp2 ep8", on=machine)
    assert reply.status == 0, reply.err
    assert decode_layout(reply) == {"tensor": 4, "pipeline": 1, "expert": 8, "data": 2}


@pytest.mark.parametrize("words", ["1x dp16 ep16", "1x ep8", "1x dp4 pp8"])
def test_an_error_names_the_words_of_the_pool_and_no_option_that_nobody_typed(tmp_path: Path, words: str) -> None:
    reply = pools(tmp_path, words)
    assert reply.status != 0
    assert "--decode '1x" in reply.err
    for option in ("--tp", "--dp", "--pp", "--ep"):
        assert option not in reply.err


def test_data_parallel_ranks_of_one_engine_leave_tensor_parallelism_the_rest_of_a_node(tmp_path: Path) -> None:
    words = ("--engine", "sglang", "--weights", "fp8-block", "--dp", "8", "--ep", "8", "--json")
    reply = ask(tmp_path, "serve", "deepseek-v3", "--on", "dgx-h200/32", *words)
    assert reply.status == 0, reply.err
    assert json.loads(reply.out)["serving_layout"]["tensor"] == 1


def test_a_plan_for_experts_says_that_experts_across_nodes_were_not_considered(tmp_path: Path) -> None:
    limits = ("--load", "poisson 200/s", "--slo", "p99 ttft 1 ms", "--input", "256", "--output", "16")
    words = ("plan", "qwen3-30b-a3b", "--serve", "--weights", "bf16", "--kv", "bf16", "--tp", "8", *limits)
    note = "expert parallelism across nodes of dgx-h100/16 is not modelled"
    assert note in " ".join(ask(tmp_path, *words, "--on", "dgx-h100/16").out.split())
    assert "across nodes" not in ask(tmp_path, *words, "--on", "dgx-h100/8").out
