"""``volvelle plan`` and ``volvelle validate`` on HPCG, transforms and recommendation models, as a person runs them."""

import json
import time
from pathlib import Path

import pytest

from tests.end_to_end.test_command import volvelle

PLANS = (
    ("hpcg", "--on", "aurora/4608"),
    ("fft", "1024", "--on", "dgx-a100/64"),
    ("dlrm", "dcnv2-mlperf", "--on", "dgx-h100/8"),
)


@pytest.mark.parametrize("words", PLANS, ids=[words[0] for words in PLANS])
def test_a_plan_fits_eighty_columns_and_says_how_sure_it_is(words: tuple[str, ...]) -> None:
    done = volvelle("plan", *words)
    assert done.returncode == 0, done.stderr
    assert max(len(line) for line in done.stdout.splitlines()) <= 80
    assert "80" in done.stdout
    assert "range" in done.stdout


@pytest.mark.timing
@pytest.mark.parametrize("words", PLANS, ids=[words[0] for words in PLANS])
def test_a_plan_takes_less_than_five_seconds(words: tuple[str, ...]) -> None:
    start = time.perf_counter()
    volvelle("plan", *words)
    assert time.perf_counter() - start < 5.0


def test_plans_in_json_hold_their_ranges() -> None:
    found = json.loads(volvelle("plan", *PLANS[0], "--json").stdout)
    assert found["range"]["low"] < found["flop_per_second"] < found["range"]["high"]
    found = json.loads(volvelle("plan", *PLANS[1], "--json").stdout)["layouts"]
    assert [each["seconds"] for each in found] == sorted(each["seconds"] for each in found)
    found = json.loads(volvelle("plan", *PLANS[2], "--json").stdout)["placements"][0]
    exposed = sum(part["exposed"] for part in found["parts"].values())
    assert exposed == pytest.approx(found["seconds"])
    assert len(found["tables"]) == 26


def test_what_cannot_run_ends_with_one_and_nonsense_with_two() -> None:
    assert volvelle("plan", "dlrm", "--on", "dgx-h100/1").returncode == 1
    assert volvelle("plan", "fft", "round", "--on", "dgx-a100/8").returncode == 2
    assert volvelle("plan", "dlrm", "abacus", "--on", "dgx-a100/8").returncode == 2
    assert volvelle("plan", "hpcg", "--on", "tpu-v4-pod/64").returncode == 2


def test_rows_of_ones_own_are_scored_apart(tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text("row_id,unit_type,n_units,mem_bw_gbs_per_unit,hpcg_tflops\nA,A100,8,1555,1.9\nB,abacus,8,1,1\n")
    found = json.loads(volvelle("validate", "hpcg", "--data", str(file), "--json").stdout)
    assert found["overall"]["given"]["rows"] == 1
    assert found["rows"][0]["low"] < found["rows"][0]["predicted"] < found["rows"][0]["high"]
    assert "abacus" in found["skipped"][0]["reason"]


@pytest.mark.parametrize("word", ["hpcg", "fft"])
def test_a_validation_shows_splits_apart_and_worst_rows_first(word: str) -> None:
    done = volvelle("validate", word, "--worst", "3")
    assert done.returncode == 0, done.stderr
    for words in ("heldout rows by publication", "calibration rows by publication", "furthest off", "not scored"):
        assert words in done.stdout
