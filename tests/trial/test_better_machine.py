"""A machine with other numbers, compared with the machine as it is."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.everyday.asking import ask

PLAN = ("llama3-8b", "--on", "dgx-h100/16", "--seq", "8192", "--batch", "128")
BETTER = (
    "scale_up.rate=2x",
    "scale_out.rate=4x",
    "scale_out.latency=0.5x",
    "chip.memory.rate=+30%",
    "chip.memory.capacity=2x",
    "chip.matrix_rate=1.5x",
    "calibration.matrix_efficiency=1.1x",
)
WORSE = ("scale_up.rate=0.5x", "scale_out.latency=3x", "chip.memory.capacity=0.8x", "chip.matrix_rate=-20%")


def answered(folder: Path, *words: str) -> dict[str, Any]:
    """An answer as JSON."""
    reply = ask(folder, *words, "--json")
    assert reply.out, reply.err
    return dict(json.loads(reply.out))


def told(folder: Path, verb: str, *words: str) -> dict[str, Any]:
    """How the answer on a changed machine differs from that on the machine as it is."""
    found = answered(folder, verb, *words)["difference"]
    assert found is not None
    return dict(found)


@pytest.mark.parametrize("change", BETTER)
def test_a_better_machine_is_never_slower(tmp_path: Path, change: str) -> None:
    found = told(tmp_path, "plan", *PLAN, "--set", change)
    assert found["ratio"] <= 1.0
    assert found["range"]["high"] <= 1.0
    assert found["range"]["low"] <= found["ratio"] <= found["range"]["high"]


@pytest.mark.parametrize("change", WORSE)
def test_a_worse_machine_is_never_faster(tmp_path: Path, change: str) -> None:
    found = told(tmp_path, "plan", *PLAN, "--set", change)
    assert found["ratio"] >= 1.0
    assert found["range"]["low"] >= 1.0


def test_two_improvements_together_gain_at_least_as_much_as_one(tmp_path: Path) -> None:
    one = told(tmp_path, "plan", *PLAN, "--set", "scale_up.rate=2x")
    both = told(tmp_path, "plan", *PLAN, "--set", "scale_up.rate=2x", "--set", "chip.matrix_rate=1.2x")
    assert both["ratio"] < one["ratio"]
    assert both["range"]["high"] <= 1.0


def test_a_machine_that_is_better_and_worse_may_be_either(tmp_path: Path) -> None:
    changes = ("--set", "chip.matrix_rate=1.1x", "--set", "scale_out.rate=0.1x", "--set", "scale_up.rate=0.5x")
    found = told(tmp_path, "plan", *PLAN, *changes)
    assert found["range"]["low"] < 1.0 < found["range"]["high"] or found["verdict"] in ("real", "likely")
    wide = found["range"]["high"] / found["range"]["low"]
    alone = answered(tmp_path, "plan", *PLAN)["range"]
    assert wide < alone["high"] / alone["low"], "errors that both machines share do not count"


@pytest.mark.parametrize("change", ["scale_up.rate=2x", "chip.memory.rate=1.01x"])
def test_a_stated_layout_is_never_slower_on_a_better_machine(tmp_path: Path, change: str) -> None:
    question = (*PLAN, "--tp", "2", "--pp", "2")
    found = told(tmp_path, "estimate", *question, "--set", change)
    assert found["range"]["high"] <= 1.0
    replayed = told(tmp_path, "estimate", *question, "--set", change, "--estimator", "event")
    assert replayed["range"]["high"] <= 1.0


def test_a_comparison_of_changes_begins_with_the_machine_as_it_is(tmp_path: Path) -> None:
    model, *question = PLAN
    changes = ("scale_up.rate=2x", "scale_out.rate=2x")
    found = answered(tmp_path, "compare", *changes, "--model", model, *question)
    assert [one["name"] for one in found["alternatives"]] == ["as it is", *changes]
    alone = told(tmp_path, "plan", *PLAN, "--set", changes[0])
    assert all(one["range"]["high"] <= 1.0 for one in found["differences"])
    first = found["differences"][0]
    assert (first["ratio"], first["range"]["low"]) == pytest.approx((alone["ratio"], alone["range"]["low"]))


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("nvlink", "scale_up.rate"),
        ("nvswitch.rate", "scale_up.rate"),
        ("infiniband", "scale_out.rate"),
        ("network", "scale_up.rate"),
        ("network", "scale_out.rate"),
        ("hbm", "chip.memory.rate"),
    ],
)
def test_words_of_the_trade_lead_to_the_field(tmp_path: Path, word: str, meant: str) -> None:
    reply = ask(tmp_path, "plan", *PLAN, "--set", f"{word}=2x")
    assert reply.status == 2
    assert repr(meant) in reply.last
    assert "network.link" not in reply.last
