"""An engine serves no more than arrives, and a total is as sure as its parts."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.everyday.asking import ask

EIGHT_BILLION = ("llama3-8b", "--on", "dgx-h100/8", "--tp", "1")
POOLS = ("llama3-8b", "--on", "dgx-h100/2", "--prefill", "1x tp1", "--decode", "1x tp1")


def served(folder: Path, *words: str) -> dict[str, Any]:
    """Return the JSON of ``volvelle serve``."""
    reply = ask(folder, "serve", *words, "--json")
    assert reply.status == 0, reply.err
    found: dict[str, Any] = json.loads(reply.out)
    return found


def trace_file(folder: Path, *, every: float, count: int) -> str:
    """Write a trace with one request per `every` seconds, and return its name."""
    lines = [f"{place * every},256,100" for place in range(count)]
    (folder / "trace.csv").write_text("\n".join(["arrival_s,input_tokens,output_tokens", *lines]) + "\n")
    return "trace.csv"


@pytest.mark.parametrize("machine", [EIGHT_BILLION, POOLS], ids=["instances", "pools"])
@pytest.mark.parametrize("rate", [1.0, 5.0])
def test_no_more_is_served_than_arrives(tmp_path: Path, machine: tuple[str, ...], rate: float) -> None:
    lengths = ("--input", "256", "--output", "100", "--lengths", "fixed", "--requests", "400")
    answer = served(tmp_path, *machine, "--load", f"poisson {rate}/s", *lengths)
    found = answer["ranges"]["throughput"]
    assert found["high"] <= rate * 100 * (1 + 1e-9)
    assert found["low"] <= answer["load"]["output_throughput"] <= found["high"] * (1 + 1e-9)


def test_a_lightly_loaded_engine_serves_exactly_what_arrives(tmp_path: Path) -> None:
    lengths = ("--input", "256", "--output", "100", "--lengths", "fixed", "--requests", "400")
    answer = served(tmp_path, *EIGHT_BILLION, "--load", "poisson 1/s", *lengths)
    found = answer["ranges"]["throughput"]
    assert found["low"] == pytest.approx(100.0)
    assert found["high"] == pytest.approx(100.0)
    assert answer["load"]["output_throughput"] == pytest.approx(100.0)
    assert answer["load"]["request_throughput"] == pytest.approx(1.0)


def test_no_more_of_a_trace_is_served_than_arrives(tmp_path: Path) -> None:
    name = trace_file(tmp_path, every=0.5, count=200)
    answer = served(tmp_path, *EIGHT_BILLION, "--load", f"trace {name}")
    assert answer["ranges"]["throughput"]["high"] <= 200 * 100 / (199 * 0.5) * (1 + 1e-9)


def test_an_engine_near_its_capacity_may_serve_less_than_arrives(tmp_path: Path) -> None:
    one = ("llama3-8b", "--on", "dgx-h100/1", "--input", "1024", "--output", "100", "--requests", "400")
    flooded = served(tmp_path, *one, "--load", "at once")["load"]["request_throughput"]
    found = served(tmp_path, *one, "--load", f"poisson {0.85 * flooded:.3f}/s")["ranges"]["throughput"]
    assert found["low"] < 0.97 * found["high"]


def test_the_text_says_that_no_more_arrives(tmp_path: Path) -> None:
    reply = ask(tmp_path, "serve", *EIGHT_BILLION, "--load", "poisson 1/s", "--brief")
    assert reply.status == 0, reply.err
    assert "no more arrive" in " ".join(reply.out.split())


@pytest.mark.parametrize(
    "words",
    [
        ("llama3-8b", "--on", "rtx-4090-cluster/1", "--engine", "llama.cpp", "--weights", "int4"),
        ("llama3-8b", "--on", "dgx-h100/1"),
        ("llama3-70b", "--on", "dgx-a100/8", "--engine", "sglang"),
    ],
    ids=["llama.cpp", "vllm", "sglang"],
)
def test_a_latency_is_no_less_sure_than_the_sum_of_its_parts(tmp_path: Path, words: tuple[str, ...]) -> None:
    answer = served(tmp_path, *words, "--input", "512", "--output", "128")
    ranges = answer["ranges"]
    for end, beyond in (("low", -1e-9), ("high", 1e-9)):
        parts = ranges["ttft"][end] + 127 * ranges["tpot"][end]
        if end == "low":
            assert ranges["latency"][end] >= parts * (1 + beyond)
        else:
            assert ranges["latency"][end] <= parts * (1 + beyond)


def test_throughput_of_a_batch_is_as_sure_as_its_latency(tmp_path: Path) -> None:
    ranges = served(tmp_path, "llama3-8b", "--on", "dgx-h100/1", "--batch", "4", "--output", "64")["ranges"]
    assert ranges["throughput"]["low"] == pytest.approx(4 * 64 / ranges["latency"]["high"])
    assert ranges["throughput"]["high"] == pytest.approx(4 * 64 / ranges["latency"]["low"])


def test_a_fleet_says_when_its_most_chips_are_on(tmp_path: Path) -> None:
    words = ("--tp", "1", "--load", "poisson 20/s", "--slo", "p99 ttft 2 s", "--check", "none", "--brief")
    reply = ask(tmp_path, "fleet", "llama3-8b", "--on", "dgx-h100", *words)
    assert reply.status == 0, reply.err
    told = " ".join(reply.out.split())
    assert re.search(r"\d+ chips? in the busiest minute \(80 % range \d+–\d+\)", told)
    assert not re.search(r"at most +\d+ …", told)
