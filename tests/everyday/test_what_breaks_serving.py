"""What breaks a model of serving, tried: an error with place and cure, or an infeasible answer with reasons."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.everyday.asking import ask

HEAD = "arrival_s,input_tokens,output_tokens\n"
ONE = ("serve", "llama3-8b", "--on", "dgx-h100/1")
BENCH = ROOT / "examples" / "benchmarks" / "clients-1.json"


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("0,100,0\n", "line 2: output tokens are 0"),
        ("0,0,5\n", "line 2: input tokens are 0"),
        ("1,100,5\n0,100,5\n", "line 3: the request comes before the one above it; sort"),
        ("0,nan,5\n", "line 2: input tokens are nan"),
        ("nan,9,5\n", "line 2: the time of arrival is nan"),
        ("0,-7,5\n", "line 2: input tokens are -7"),
        ("", "has no requests; give at least one"),
    ],
)
def test_a_row_of_a_trace_that_cannot_be_is_refused_with_its_line(tmp_path: Path, rows: str, says: str) -> None:
    (tmp_path / "trace.csv").write_text(HEAD + rows)
    reply = ask(tmp_path, *ONE, "--load", "trace trace.csv")
    assert reply.status == 2
    assert says in reply.last


def test_one_token_and_rows_that_are_alike_are_requests(tmp_path: Path) -> None:
    (tmp_path / "trace.csv").write_text(HEAD + "0,1,1\n0,1,1\n0,1,1\n")
    reply = ask(tmp_path, *ONE, "--load", "trace trace.csv", "--json")
    assert reply.status == 0, reply.err
    assert json.loads(reply.out)["load"]["requests"] == 3


@pytest.mark.parametrize("row", ["0,5000000,5", "0,10,5000000"])
def test_a_request_longer_than_all_of_the_cache_is_an_answer_with_reasons(tmp_path: Path, row: str) -> None:
    (tmp_path / "trace.csv").write_text(f"{HEAD}0,10,5\n{row}\n")
    reply = ask(tmp_path, *ONE, "--load", "trace trace.csv")
    assert reply.status in (1, 2)
    assert "5,0" in " ".join((reply.out + reply.last).split())


@pytest.mark.parametrize("engine", ["sglang", "trtllm"])
def test_a_budget_below_a_block_is_refused_with_the_option_to_raise(tmp_path: Path, engine: str) -> None:
    words = ("--engine", engine, "--load", "closed 2", "--input", "8", "--max-batched-tokens", "15", "--max-seqs", "2")
    reply = ask(tmp_path, *ONE, *words)
    assert reply.status == 2
    assert "--max-batched-tokens" in reply.last


def test_a_budget_below_the_sequences_that_were_asked_for_is_refused_and_bounds_those_that_were_not(
    tmp_path: Path,
) -> None:
    words = ("--load", "at once", "--requests", "99", "--input", "1", "--output", "99", "--max-batched-tokens", "32")
    reply = ask(tmp_path, *ONE, *words, "--max-seqs", "64")
    assert reply.status == 2
    assert "a step of 32 tokens cannot decode 64 sequences" in reply.last
    reply = ask(tmp_path, *ONE, *words, "--json")
    assert json.loads(reply.out)["load"]["occupancy"]["most_running"] == 32


def test_a_million_requests_at_once_are_answered(tmp_path: Path) -> None:
    asked = ("--load", "at once", "--requests", "1000000", "--input", "16", "--output", "2", "--json")
    reply = ask(tmp_path, *ONE, *asked)
    assert reply.status == 0, reply.err
    assert json.loads(reply.out)["load"]["requests"] == 1_000_000


def test_no_rate_is_refused_and_an_endless_one_is_all_at_once(tmp_path: Path) -> None:
    nothing = ask(tmp_path, *ONE, "--load", "poisson 0/s")
    assert (nothing.status, "no request ever comes" in nothing.last) == (2, True)
    some = ("--requests", "30", "--json")
    answers = [ask(tmp_path, *ONE, "--load", load, *some).out for load in ("poisson inf/s", "at once")]
    endless, together = (json.loads(answer)["load"] for answer in answers)
    assert endless == together


def test_an_attention_that_nobody_knows_is_refused_by_name(tmp_path: Path) -> None:
    config = json.loads((ROOT / "tests" / "data" / "huggingface" / "llama-3-8b.json").read_text("utf-8"))
    (tmp_path / "config.json").write_text(
        json.dumps({**config, "model_type": "quantum", "architectures": ["QuantumLM"]})
    )
    reply = ask(tmp_path, "serve", "config.json", "--on", "dgx-h100/1")
    assert reply.status == 2
    assert "quantum" in reply.last


def test_weights_that_do_not_fit_and_limits_that_nobody_meets_are_answers(tmp_path: Path) -> None:
    few = ("--tp", "1", "--pp", "1", "--max-batched-tokens", "8192", "--max-seqs", "16", "--weights", "bf16")
    asked = ("--on", "dgx-h100/1", "--load", "poisson 1/s", "--requests", "20", "--kv", "bf16", *few, "--json")
    large = ask(tmp_path, "plan", "llama3-70b", "--serve", "--slo", "p99 ttft 2 s", *asked)
    strict = ask(tmp_path, "plan", "llama3-8b", "--serve", "--slo", "p99 tpot 10 us", *asked)
    for reply in (large, strict):
        assert reply.status == 1, reply.err
        document = json.loads(reply.out)
        assert not document["feasible"]
        assert document["serving_dead_end"]


def _failed(result: dict[str, Any]) -> dict[str, Any]:
    return {**result, "completed": 0, "failed": result["num_prompts"]}


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (lambda text: text[: len(text) // 2], "cut short"),
        (lambda text: json.dumps(_failed(json.loads(text))), "completed"),
        (lambda text: json.dumps({**json.loads(text), "model_id": "Qwen/Qwen3-8B"}), "Qwen/Qwen3-8B"),
        (lambda text: json.dumps({**json.loads(text), "engine": "sglang"}), "sglang"),
    ],
)
def test_a_result_that_is_no_run_of_the_engine_is_refused_with_its_file(tmp_path: Path, broken: Any, says: str) -> None:
    (tmp_path / "result.json").write_text(broken(BENCH.read_text("utf-8")))
    told = ("--on", "dgx-h100/1", "--model", "llama3-8b", "--engine", "vllm")
    reply = ask(tmp_path, "calibrate", "serving", "--bench", "result.json", *told)
    assert reply.status == 2
    assert "result.json" in reply.last
    assert says in reply.last


def test_ranks_of_runs_of_your_own_are_told_apart_from_a_file_of_rows(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("")
    rows = ask(tmp_path, "calibrate", "serving", "--data", "rows.csv")
    ranks = ask(tmp_path, "calibrate", "serving", "--bench", str(BENCH), "--on", "dgx-h100/1", "--dp", "1")
    alone = ask(tmp_path, "calibrate", "serving", "--dp", "1")
    assert (rows.status, ranks.status, alone.status) == (2, 0, 2), ranks.err
    assert "rows.csv" in rows.last
    assert "--dp describes your own benchmark; give --bench, too" in alone.last
