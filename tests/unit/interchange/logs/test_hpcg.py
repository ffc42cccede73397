"""Reports of HPCG, read to the values printed in them."""

import pytest

from tests.conftest import ROOT
from volvelle.interchange.logs.logged import Log
from volvelle.interchange.logs.readers import log_of, read_log

LOGS = ROOT / "tests" / "data" / "logs"


def read(name: str) -> Log:
    return read_log(LOGS / f"{name}.txt")


def test_a_report_of_version_3_0_is_read_from_under_its_headings() -> None:
    log = read("hpcg-skylake")
    (run,) = log.gradients
    assert (log.tool, run.ranks, run.grid) == ("hpcg", 8, (104, 104, 104))
    assert run.flop_rate == 3.28908e9
    assert not log.refused


def test_a_report_of_version_3_1_is_read_from_its_pairs() -> None:
    (run,) = read("hpcg-twenty").gradients
    assert (run.ranks, run.grid, run.flop_rate) == (20, (144, 144, 144), 12.8271e9)


def test_reports_one_after_another_stay_apart() -> None:
    runs = read("hpcg-scaling").gradients
    assert [run.ranks for run in runs] == [1, 2, 4, 8]
    assert [run.flop_rate / 1e9 for run in runs] == pytest.approx([2.78833, 4.68155, 7.96031, 9.88102])


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("result is VALID", "result is INVALID", "INVALID"),
        ("npx=2", "npx=3", "20 are said"),
        ("rating of=12.8271", "rating of=128.271", "above the raw"),
        ("rating of=12.8271", "rating of=-12.8271", "above 0"),
        ("rating of=12.8271", "rating of=12,8271", "comma"),
        ("rating of=12.8271", "rating of=nan", "rating"),
    ],
)
def test_reports_that_contradict_themselves_are_refused_with_their_line(before: str, after: str, why: str) -> None:
    text = (LOGS / "hpcg-twenty.txt").read_text("utf-8")
    log = log_of(text.replace(before, after), "mine.txt")
    assert not log.gradients
    (refused,) = log.refused
    assert why in refused.why
    assert "HPCG result" in text.split("\n")[refused.line - 1]


def test_work_over_time_must_be_the_raw_rate() -> None:
    text = (LOGS / "hpcg-skylake.txt").read_text("utf-8").replace("Total: 50.3291", "Total: 5.03291")
    log = log_of(text, "mine.txt")
    assert not log.gradients
    assert "33.204 GFLOP/s" in log.refused[0].why
