"""Where counts do not divide there is no run, and so no speed of it; memory that does not suffice is another matter."""

import json
from pathlib import Path

import pytest

from tests.everyday.asking import ask

SPEEDS = ("seconds", "range", "tokens_per_second", "utilisation", "joules", "usd")


@pytest.mark.parametrize(
    "words",
    [
        "llama3-70b --on dgx-h100/1024 --batch 8",
        "gpt2 --on dgx-h100/1000 --batch 960 --dp 960",
        "gpt2 --on dgx-h100/8 --batch 7",
        "gpt2 --on dgx-h100/8 --batch 64 --tp 7",
    ],
)
def test_a_layout_whose_counts_do_not_divide_has_no_speed(tmp_path: Path, words: str) -> None:
    reply = ask(tmp_path, "estimate", *words.split(), "--json")
    document = json.loads(reply.out)
    assert reply.status == 1
    assert not document["feasible"]
    assert document["violations"]
    assert [document[name] for name in SPEEDS] == [None] * len(SPEEDS)
    assert (document["contributions"], document["other_stacks"]) == ([], {})
    assert {"time", "power", "energy", "dollars"}.isdisjoint(document["ranges"])
    text = ask(tmp_path, "estimate", *words.split()).out
    assert "no speed: counts do not divide" in text
    assert "why it cannot run" in text
    of_itself = text.partition("fix:")[0]  # a fix has a speed: it was tried
    for word in ("MFU", "/step", "tokens/s", "hidden:"):
        assert word not in of_itself


def test_a_layout_that_only_memory_forbids_keeps_its_speed(tmp_path: Path) -> None:
    words = ("estimate", "llama3-405b", "--on", "dgx-h100/16", "--tp", "8", "--pp", "2", "--batch", "8", "--json")
    document = json.loads(ask(tmp_path, *words).out)
    assert [one["name"] for one in document["violations"]] == ["memory"]
    assert document["seconds"] > 0


def test_a_real_machine_without_a_number_is_used_whole_and_the_answer_says_so(tmp_path: Path) -> None:
    out = ask(tmp_path, "estimate", "gpt2", "--on", "selene", "--batch", "4480").out
    assert "no number of accelerators is given: all 4,480 of selene are used" in " ".join(out.replace("│", " ").split())
