"""A followed load as a trace: what is read back is what was followed."""

import gzip
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import volvelle
from volvelle import DescriptionError
from volvelle.interchange import timeline


def events(file: Path) -> list[dict[str, Any]]:
    raw = file.read_bytes()
    found: list[dict[str, Any]] = json.loads(gzip.decompress(raw) if file.suffix == ".gz" else raw)["traceEvents"]
    return found


@pytest.mark.parametrize("engine", ["vllm", "sglang", "trtllm"])
def test_sums_of_a_trace_are_those_of_the_metrics(engine: str, tmp_path: Path) -> None:
    file = tmp_path / "load.json"
    answer = volvelle.serve(
        "llama3-8b", on="dgx-h100/1", engine=engine, load="closed 8", input=300, output=40, timeline=file
    )
    assert answer.load is not None
    metrics, served = answer.load.metrics, answer.load.served
    assert metrics is not None
    found = events(file)
    steps = [event for event in found if event["ph"] == "X"]
    made = sum(event["args"]["steps"] * event["args"]["decoding"] for event in steps)
    # Every request has its first token from the step that ends its prompt, all others from decoding.
    assert made + metrics.completed == metrics.total_output_tokens
    assert sum(event["args"]["prompt_tokens"] for event in steps) == served.prefilled_tokens
    assert sum(event["args"]["prompt_tokens"] for event in steps) == metrics.total_input_tokens
    begins = {event["id"]: event for event in found if event["ph"] == "b" and event["name"].startswith("request")}
    ends = {event["id"]: event["ts"] for event in found if event["ph"] == "e" and event["name"].startswith("request")}
    assert len(begins) == metrics.completed
    latency = sum(ends[one] - begins[one]["ts"] for one in begins) / len(begins)
    assert latency == pytest.approx(1e6 * float((served.end - served.sent).mean()))
    first = sum(one["args"]["ttft_ms"] for one in begins.values()) / len(begins)
    assert first == pytest.approx(1e3 * float((served.first_token - served.sent).mean()))
    running = [event["args"]["running"] for event in found if event["name"] == "running"]
    assert max(running) == answer.load.occupancy.most_running


def test_slices_of_steps_do_not_overlap(tmp_path: Path) -> None:
    volvelle.serve("llama3-8b", on="dgx-h100/1", load="poisson 5/s", requests=60, timeline=tmp_path / "load.json.gz")
    steps = [event for event in events(tmp_path / "load.json.gz") if event["ph"] == "X"]
    assert len(steps) > 10
    for before, after in pairwise(steps):
        assert before["ts"] + before["dur"] <= after["ts"] + 1e-3


def test_the_same_load_is_the_same_file(tmp_path: Path) -> None:
    for name in ("one.json.gz", "two.json.gz"):
        volvelle.serve("llama3-8b", on="dgx-h100/1", load="closed 2", timeline=tmp_path / name)
    assert (tmp_path / "one.json.gz").read_bytes() == (tmp_path / "two.json.gz").read_bytes()


def test_a_long_load_is_cut_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "MOST_SPANS", 7)
    answer = volvelle.serve("llama3-8b", on="dgx-h100/1", load="closed 4", timeline=tmp_path / "cut.json")
    assert answer.timeline is not None
    assert answer.timeline.spans == 7
    assert "7 of" in answer.timeline.cut
    assert answer.timeline.requests < answer.load.requests  # type: ignore[union-attr]
    steps = [event for event in events(tmp_path / "cut.json") if event["ph"] == "X"]
    assert len(steps) == 7
    monkeypatch.setattr(timeline, "MOST_SPANS", 10**6)
    monkeypatch.setattr(timeline, "MOST_REQUESTS", 5)
    answer = volvelle.serve("llama3-8b", on="dgx-h100/1", load="closed 4", timeline=tmp_path / "cut.json")
    assert answer.timeline is not None
    assert answer.timeline.requests == 5


def test_a_timeline_needs_a_load_and_a_place(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match="give load, like 'closed 64'"):
        volvelle.serve("llama3-8b", on="dgx-h100/1", batch=1, timeline=tmp_path / "x.json")
    with pytest.raises(DescriptionError, match="cannot be written"):
        volvelle.serve("llama3-8b", on="dgx-h100/1", load="closed 1", timeline=tmp_path / "none" / "x.json")
