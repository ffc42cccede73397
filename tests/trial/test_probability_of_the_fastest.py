"""The probability of being the fastest layout, and the names of layouts beside each other."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import volvelle
from tests.everyday.asking import ask
from volvelle.mapping.parallelism import ParallelMapping, Recompute, Schedule
from volvelle.report import plan_words

QUESTION = ("llama3-8b", "--on", "dgx-h100/8", "--batch", "128", "--seq", "8192")
TWO_LIKELIEST = re.compile(r"that are likeliest, (?P<first>.+?) and (?P<second>tp.+?), \d+ min")


def planned(folder: Path, *words: str) -> dict[str, Any]:
    """A plan as JSON."""
    reply = ask(folder, "plan", *QUESTION, *words, "--json")
    assert reply.status == 0, reply.err
    return dict(json.loads(reply.out))


@pytest.fixture(scope="module")
def by_top(tmp_path_factory: pytest.TempPathFactory) -> dict[int, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("plans")
    return {top: planned(folder, "--top", str(top)) for top in (1, 4, 40)}


def test_the_number_of_rows_printed_changes_no_probability(by_top: dict[int, dict[str, Any]]) -> None:
    chances = {
        top: {json.dumps(degrees(row)): (row["p_best"], row["p_fit"], row["regret"]) for row in plan["layouts"]}
        for top, plan in by_top.items()
    }
    for few, many in ((1, 4), (4, 40)):
        assert chances[few]
        assert chances[few].items() <= chances[many].items()


def degrees(row: dict[str, Any]) -> dict[str, Any]:
    """What a row says of its layout."""
    return {name: value for name, value in row.items() if isinstance(value, int | str | bool)}


def test_the_number_of_rows_printed_changes_neither_the_likeliest_nor_the_advice(
    by_top: dict[int, dict[str, Any]],
) -> None:
    first, *others = by_top.values()
    assert first["settling"] is not None
    for other in others:
        assert other["settling"] == first["settling"]
        assert other["sharing"] == first["sharing"]
        assert other["compared"] == first["compared"]
        assert other["best_of_kinds"] == first["best_of_kinds"]


def test_the_two_layouts_to_run_have_different_names(tmp_path: Path) -> None:
    question = ("llama3-70b", "--on", "dgx-h100/64", "--seq", "8192", "--batch", "1024", "--cp", "2", "--tp", "4")
    reply = ask(tmp_path, "plan", *question, "--pp", "4")
    named = TWO_LIKELIEST.search(" ".join(reply.out.split()))
    assert named is not None, reply.out
    assert named["first"] != named["second"]


def test_layouts_with_the_same_degrees_are_named_by_what_differs() -> None:
    same = {"tensor": 4, "pipeline": 4, "data": 2}
    several = [
        ParallelMapping(**same, interleave=5),
        ParallelMapping(**same, schedule=Schedule.ZERO_BUBBLE),
        ParallelMapping(**same, schedule=Schedule.ZERO_BUBBLE, zero_group=2),
        ParallelMapping(**same, recompute=Recompute.FULL),
        ParallelMapping(**same, offload_optimiser=True),
        ParallelMapping(tensor=8, pipeline=4),
    ]
    names = plan_words.layout_names(several)
    assert len(set(names)) == len(several)
    assert names[-1] == "tp8 pp4 dp1"
    assert plan_words.layout_names(several[:1]) == ("tp4 pp4 dp2",)


def test_alternatives_of_a_comparison_that_differ_are_printed_differently(tmp_path: Path) -> None:
    question = ("--model", "llama3-70b", "--on", "dgx-h100/64", "--batch", "128", "--seq", "4096")
    reply = ask(tmp_path, "compare", "tp8 pp4 recompute full", "tp8 pp4 recompute none", *question)
    assert reply.status in (0, 1), reply.err
    line = next(line for line in reply.out.splitlines() if line.strip().startswith("layout"))
    below = reply.out.splitlines()[reply.out.splitlines().index(line) : reply.out.splitlines().index(line) + 3]
    assert "recompute" in " ".join(below)
    assert "none" in " ".join(below)
    assert "full" in " ".join(below)


def test_the_range_under_the_likeliest_layout_is_its_own(tmp_path: Path) -> None:
    plan = planned(tmp_path, "--rank", "likely", "--top", "8")
    first = plan["layouts"][0]
    assert first["p_best"] == max(row["p_best"] for row in plan["layouts"])
    assert first["p_best"] > plan["layouts"][1]["p_best"] or len(plan["layouts"]) == 1
    assert plan["best_of_kinds"][0]["seconds"] == first["seconds"]
    own = volvelle.plan("llama3-8b", on="dgx-h100/8", batch=128, sequence=8192, rank="likely", top=8)
    timed = volvelle.estimate(
        "llama3-8b", on="dgx-h100/8", batch=128, sequence=8192, mapping=own.layouts[0].mapping
    ).estimate.time_range
    assert timed is not None
    assert (plan["range"]["low"], plan["range"]["high"]) == pytest.approx((timed.low, timed.high))
