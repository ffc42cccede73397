"""The number of GPUs that a date takes, also where it is far above the lower bound."""

import json
from pathlib import Path

import pytest

from tests.everyday.asking import Reply, ask

# A batch of 64 sequences divides over few counts, so a sufficient count lies far above the lower bound.
_QUESTION = ("llama3-8b", "--batch", "64", "--seq", "8192", "--tokens", "15T", "--cp", "1")


def _how_many(folder: Path, *words: str) -> Reply:
    return ask(folder, "plan", *_QUESTION, "--on", "dgx-h100", *words)


def _days(folder: Path, count: int) -> float:
    reply = ask(folder, "plan", *_QUESTION, "--on", f"dgx-h100/{count}", "--json")
    days: float = json.loads(reply.out)["run"]["days_with_failures"]
    return days


def test_a_date_that_a_plan_meets_is_met_by_how_many(tmp_path: Path) -> None:
    question = ("llama3-405b", "--tokens", "15.6T", "--batch", "2048", "--seq", "8192", "--pp", "16", "--json")
    plan = ask(tmp_path, "plan", *question, "--on", "dgx-h100/16384")
    assert json.loads(plan.out)["run"]["days_with_failures"] <= 70.0
    reply = ask(tmp_path, "plan", *question, "--on", "dgx-h100", "--days", "70")
    assert reply.status == 0
    smallest = json.loads(reply.out)["smallest"]
    assert smallest["accelerators"] <= 16384
    assert smallest["run"]["days_with_failures"] <= 70.0


def test_the_smallest_size_meets_the_date_with_failures(tmp_path: Path) -> None:
    document = json.loads(_how_many(tmp_path, "--days", "365", "--json").out)
    smallest = document["smallest"]["accelerators"]
    assert _days(tmp_path, smallest) <= 365.0
    assert document["searched"]["every"] == 8
    assert document["searched"]["most"] == smallest
    assert all(
        size["run"]["days_with_failures"] > 365.0 for size in document["sizes"] if size["accelerators"] < smallest
    )


def test_an_impossible_date_names_the_largest_size_and_its_days(tmp_path: Path) -> None:
    reply = _how_many(tmp_path, "--days", "20")
    assert reply.status == 1
    text = " ".join(reply.out.split())
    assert "No size up to 1,048,576 GPUs meets 20 days" in text
    document = json.loads(_how_many(tmp_path, "--days", "20", "--json").out)
    fastest = min(document["sizes"], key=lambda size: size["run"]["days_with_failures"])
    days = fastest["run"]["days_with_failures"]
    assert days > 20.0
    assert f"At {fastest['accelerators']:,}, the fastest, it takes {days:,.1f} days with failures." in text
    assert _days(tmp_path, fastest["accelerators"]) == pytest.approx(days)


def test_restricted_degrees_are_searched_by_their_multiples(tmp_path: Path) -> None:
    reply = _how_many(tmp_path, "--days", "365", "--tp", "4", "--pp", "7", "--json")
    document = json.loads(reply.out)
    assert all(size["accelerators"] % 28 == 0 for size in document["sizes"])
