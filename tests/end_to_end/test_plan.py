"""``volvelle plan``, run as a person runs it."""

import json
from pathlib import Path

import pytest

from tests.end_to_end.test_command import volvelle

CONFIGS = Path(__file__).resolve().parent.parent / "data" / "huggingface"


def test_a_plan_ranks_layouts_and_says_why_within_eighty_columns() -> None:
    done = volvelle("plan", "llama2-7b", "--on", "dgx-a100/64", "--batch", "512")
    assert done.returncode == 0, done.stderr
    assert max(len(line) for line in done.stdout.splitlines()) <= 80
    said = " ".join(done.stdout.split())
    for words in ("The fastest of each kind", "launched by", "Its time goes to", "Sensitivity"):
        assert words in said
    assert "It beats the next kind by" in said or "The next kind takes as long" in said


def test_a_plan_in_json_is_what_estimate_says_of_its_first_layout() -> None:
    found = json.loads(volvelle("plan", "llama2-13b", "--on", "dgx-h100/64", "--batch", "256", "--json").stdout)
    first = found["layouts"][0]
    words = ["estimate", "llama2-13b", "--on", "dgx-h100/64", "--batch", "256", "--json"]
    words += ["--tp", str(first["tensor"]), "--pp", str(first["pipeline"]), "--cp", str(first["context"])]
    words += ["--micro-batch", str(first["micro_batch"]), "--interleave", str(first["interleave"])]
    words += ["--recompute-every", str(first["recompute_every"])]
    words += ["--schedule", first["schedule"], "--zero", str(first["zero"]), "--recompute", first["recompute"]]
    words += ["--sequence-parallel" if first["sequence_parallel"] else "--no-sequence-parallel"]
    answer = json.loads(volvelle(*words).stdout)
    assert answer["seconds"] == pytest.approx(first["seconds"])
    assert answer["memory_bytes"] == pytest.approx(first["memory_bytes"])
    assert found["configurations"] == found["evaluated"] + found["pruned"]


def test_a_config_of_ones_own_is_planned_like_a_name() -> None:
    file = next(CONFIGS.glob("llama-2-7b*.json"), None) or next(CONFIGS.glob("*.json"))
    done = volvelle("plan", str(file), "--on", "dgx-h100/64", "--batch", "256", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["layouts"]


def test_launch_flags_come_from_the_best_layout() -> None:
    done = volvelle("plan", "llama2-7b", "--on", "dgx-h100/64", "--batch", "256", "--emit", "megatron")
    assert done.returncode == 0, done.stderr
    assert "--tensor-model-parallel-size" in done.stdout


def test_a_machine_too_small_is_answered_with_status_one() -> None:
    done = volvelle("plan", "llama3-405b", "--on", "dgx-a100/8", "--batch", "8")
    assert done.returncode == 1
    assert "none of them fits" in done.stdout
