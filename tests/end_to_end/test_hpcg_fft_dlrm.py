"""``volvelle plan``, ``validate`` and ``calibrate`` on HPCG, transforms and recommendation models, as people do."""

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
    rate = found["plans"][0]["figures"]["rate"]
    assert rate["low"] < rate["value"] < rate["high"]
    found = json.loads(volvelle("plan", *PLANS[1], "--json").stdout)["plans"]
    times = [plan["figures"]["time"]["value"] for plan in found]
    assert times == sorted(times)
    found = json.loads(volvelle("plan", *PLANS[2], "--json").stdout)["plans"][0]
    exposed = sum(part["time"] for part in found["contributions"] if part["exposed"])
    assert exposed == pytest.approx(found["figures"]["time"]["value"])
    assert len(found["decision"]["tables"]) == 26


@pytest.mark.long
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


def test_a_plan_says_in_which_ways_its_machine_is_unlike_those_fitted() -> None:
    found = json.loads(volvelle("plan", "dlrm", "--on", "dgx-h100/8", "--json").stdout)
    assert found["outside_calibration"] == []
    done = volvelle("plan", "dlrm", "--on", "dgx-b200/8")
    assert "no fitted run was on b200" in done.stdout


HPCG_ROWS = "row_id,unit_type,n_units,mem_bw_gbs_per_unit,hpcg_tflops,split\nA,A100,8,1555,1.9,calibration\n"


@pytest.mark.long
@pytest.mark.parametrize("word", ["hpcg", "dlrm"])
def test_a_calibration_finds_the_constants_of_the_catalogue(word: str) -> None:
    done = volvelle("calibrate", word)
    assert done.returncode == 0, done.stderr
    assert "catalogue" in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 100
    found = json.loads(volvelle("calibrate", word, "--json").stdout)["constants"]
    told = [
        each for each in found if each["catalogue"] and not (each["of"] == "other" and "memory" in each["constant"])
    ]
    assert len(told) >= 8
    for each in told:
        assert each["fitted"] == pytest.approx(each["catalogue"], rel=0.02), each


def test_every_benchmark_can_be_calibrated() -> None:
    listed = volvelle("calibrate", "--help").stdout
    for word in ("dlrm", "fft", "hpcg", "hpl"):
        assert f"  {word} " in listed


def test_a_calibration_on_ones_own_rows_shows_what_they_tell(tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text(HPCG_ROWS)
    (found,) = json.loads(volvelle("calibrate", "hpcg", "--data", str(file), "--json").stdout)["constants"]
    assert (found["of"], found["constant"]) == ("ampere", "HPCG over streaming")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("B,A100,8,1555,1.9,heldout\n", "B (heldout)"),
        ("B,A100,8,1555,1.9,\n", "B (given)"),
        ("B,A100,0,1555,1.9,calibration\n", "n_units is 0"),
    ],
)
def test_a_calibration_refuses_rows_it_may_not_read(tmp_path: Path, more: str, says: str) -> None:
    file = tmp_path / "own.csv"
    file.write_text(HPCG_ROWS + more)
    done = volvelle("calibrate", "hpcg", "--data", str(file))
    assert done.returncode == 2
    assert says in done.stderr


@pytest.mark.parametrize("word", ["hpcg", "fft", "dlrm"])
def test_a_calibration_names_the_columns_that_a_table_lacks(tmp_path: Path, word: str) -> None:
    file = tmp_path / "own.csv"
    file.write_text("row_id,split\nA,calibration\n")
    done = volvelle("calibrate", word, "--data", str(file))
    assert done.returncode == 2
    assert "lacks the columns" in done.stderr
