"""Clients of a closed loop are not in step, and the start of the loop is not counted."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import volvelle
from tests.everyday.asking import ask

ASKED = ("llama3-8b", "--on", "dgx-h100/1", "--input", "512", "--output", "256", "--load", "closed 32")


def served(folder: Path, *words: str) -> dict[str, Any]:
    """Return the JSON of ``volvelle serve``."""
    reply = ask(folder, "serve", *words, "--json")
    assert reply.status == 0, reply.err
    found: dict[str, Any] = json.loads(reply.out)
    return found


def test_clients_are_not_in_step_by_default(tmp_path: Path) -> None:
    usual, fixed = (served(tmp_path, *ASKED, *more) for more in ((), ("--lengths", "fixed")))
    assert usual["load"]["latencies"]["ttft"]["median"] < 0.5 * fixed["load"]["latencies"]["ttft"]["median"]


def test_lengths_vary_by_default_and_keep_their_mean() -> None:
    for load in ("closed 32", "poisson 8/s"):
        answer = volvelle.serve("llama3-8b", on="dgx-h100/1", input=512, output=256, load=load, requests=2000)
        assert answer.load is not None
        outputs, inputs = answer.load.served.output_tokens, answer.load.served.input_tokens
        assert outputs.std() > 0.0
        assert inputs.std() > 0.0
        assert outputs.mean() == pytest.approx(256, rel=0.02)
        assert inputs.mean() == pytest.approx(512, rel=0.02)


def test_fixed_lengths_are_an_option_with_a_note_about_waves(tmp_path: Path) -> None:
    fixed, usual = (ask(tmp_path, "serve", *ASKED, *more) for more in (("--lengths", "fixed"), ()))
    assert "all clients finish together" in " ".join(fixed.out.split())
    assert "all clients finish together" not in " ".join(usual.out.split())


def test_the_first_request_of_each_client_is_not_counted() -> None:
    answer = volvelle.serve("llama3-8b", on="dgx-h100/1", input=512, output=256, load="closed 32")
    load = answer.load
    assert load is not None
    assert load.metrics is not None
    ttft = load.served.first_token - load.served.sent
    assert load.metrics.ttft.mean == pytest.approx(float(np.mean(ttft[32:])))
    assert load.metrics.ttft.percentiles[99.0] < np.max(ttft[:32])
    assert any("warm-up" in note for note in answer.notes)


def test_throughput_is_that_of_clients_that_are_all_busy() -> None:
    answer = volvelle.serve("llama3-8b", on="dgx-h100/1", input=512, output=256, load="closed 32")
    load = answer.load
    assert load is not None
    assert load.metrics is not None
    assert load.request_throughput == pytest.approx(32 / load.metrics.e2el.mean, rel=0.02)


def test_longer_runs_of_a_closed_loop_give_the_same_answer(tmp_path: Path) -> None:
    short, long = (served(tmp_path, *ASKED, "--requests", count)["load"] for count in ("320", "2560"))
    assert short["output_throughput"] == pytest.approx(long["output_throughput"], rel=0.03)
    assert short["latencies"]["ttft"]["median"] == pytest.approx(long["latencies"]["ttft"]["median"], rel=0.15)


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_the_emitted_benchmark_leaves_out_the_same_requests(tmp_path: Path, engine: str) -> None:
    lengths = ("--lengths", "uniform:0.8") if engine == "sglang" else ()
    words = ("llama3-8b", "--on", "dgx-h100/1", "--load", "closed 2", "--requests", "6", "--engine", engine, *lengths)
    reply = ask(tmp_path, "serve", *words, "--emit", engine, "--into", "files")
    assert reply.status == 0, reply.err
    script = (tmp_path / "files" / "benchmark.sh").read_text()
    program = script.split("<<'END'\n")[1].split("\nEND\n")[0]
    name = re.search(r'open\("(bench\.jsonl?)"', program)
    assert name is not None
    # Two first requests that took long, then four whose first token took 0.1 s and each later one 0.01 s.
    run = {"ttfts": [9.0, 9.0, *[0.1] * 4], "itls": [[0.01] * 9] * 6, "output_lens": [10] * 6}
    (tmp_path / name[1]).write_text(json.dumps(run) + "\n")
    told = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "TTFT mean 100.0 ms" in told.stdout
    assert "TPOT mean 10.0 ms" in told.stdout
    assert f"output tokens/s {round(2 * 10 / 0.19)}" in told.stdout


def test_the_emitted_benchmark_draws_lengths_as_the_prediction_does(tmp_path: Path) -> None:
    reply = ask(tmp_path, "serve", "llama3-8b", "--on", "dgx-h100/1", "--load", "closed 4", "--emit", "vllm")
    assert "--random-range-ratio 0.2" in reply.out


def test_a_prompt_that_is_drawn_too_long_for_a_step_comes_with_a_fix(tmp_path: Path) -> None:
    words = ("llama3.1-8b", "--on", "dgx-h100/1", "--engine", "trtllm", "--input", "8000", "--load", "closed 4")
    usual, fixed = (ask(tmp_path, "serve", *words, *more, "--brief") for more in ((), ("--lengths", "fixed")))
    assert usual.status == 1
    assert "--max-batched-tokens 9600" in " ".join(usual.out.split())
    assert fixed.status == 0, fixed.err


def test_answers_of_one_token_keep_one_token() -> None:
    answer = volvelle.serve("llama3-8b", on="dgx-h100/1", input=512, output=1, load="closed 4", requests=40)
    assert answer.load is not None
    assert set(answer.load.served.output_tokens) == {1}
