"""Answers side by side: what differs, by part, and whether it is real."""

import json
from pathlib import Path

import pytest

import volvelle
from volvelle import Catalogue
from volvelle.catalogue.residuals import pair_spread
from volvelle.cli import run

QUESTION = ("--model", "llama3-8b", "--on", "dgx-h100/16", "--batch", "64")


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return Catalogue()


@pytest.mark.parametrize(
    ("alternatives", "what", "options"),
    [
        (("dgx-h100/16", "dgx-b200/16"), "system", ("--model", "llama3-8b", "--batch", "64")),
        (("llama3-8b", "qwen3-8b"), "model", ("--on", "dgx-h100/16", "--batch", "64")),
        (("tp2 zero1 recompute full", "tp8 zero1", "dp16 zero3 recompute full"), "layout", QUESTION),
        (("nemo", "fsdp"), "stack", QUESTION),
        (("as it is", "scale_up.rate=2x", "chip.memory.rate=+50%"), "change", QUESTION),
    ],
)
def test_each_kind_of_thing_is_compared(
    alternatives: tuple[str, ...], what: str, options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", *alternatives, *options]) == 0
    shown = capsys.readouterr().out
    assert all(len(line) <= 100 for line in shown.splitlines())
    assert "Where the difference comes from" in shown
    assert run(["compare", *alternatives, *options, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {one["what"] for one in document["alternatives"]} == {what}
    assert [one["name"] for one in document["alternatives"]] == list(alternatives)
    first = document["alternatives"][0]
    for other, told in zip(document["alternatives"][1:], document["differences"], strict=True):
        pace = other["seconds"] / other["tokens"], first["seconds"] / first["tokens"]
        assert told["ratio"] == pytest.approx(pace[0] / pace[1])
        assert sum(told["parts"].values()) == pytest.approx((pace[0] - pace[1]) * first["tokens"], abs=1e-9)
        assert told["range"]["low"] <= told["ratio"] <= told["range"]["high"]
        assert 0 <= told["chance"] <= 1


def test_each_alternative_is_what_estimate_says_of_it(catalogue: Catalogue) -> None:
    found = volvelle.compare(
        "tp2 zero1 recompute full", "tp8 pp2", model="llama3-8b", on="dgx-h100/16", batch=64, catalogue=catalogue
    )
    alone = volvelle.estimate("llama3-8b", on="dgx-h100/16", batch=64, tensor=8, pipeline=2, catalogue=catalogue)
    assert found.alternatives[1].time == alone.estimate.time
    assert found.alternatives[1].usd == alone.costs.dollars
    assert found.alternatives[1].basis == alone.basis


def test_without_a_layout_each_has_its_fastest(catalogue: Catalogue) -> None:
    found = volvelle.compare("dgx-h100/16", "dgx-a100/16", model="llama3-8b", batch=64, catalogue=catalogue)
    for one in found.alternatives:
        best = volvelle.plan("llama3-8b", on=one.system, batch=64, catalogue=catalogue)
        assert one.time == pytest.approx(best.layouts[0].time, rel=1e-12)


def test_kept_answers_are_compared_with_each_other_and_with_new_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["estimate", "llama3-8b", "--on", "dgx-h100/16", "--batch", "64", "--zero", "3"]
    files = [tmp_path / "plain.json", tmp_path / "recomputed.json", tmp_path / "planned.json"]
    for file, words in zip(
        files,
        (asked, [*asked, "--recompute", "full"], ["plan", *asked[1:-2]]),
        strict=True,
    ):
        assert run([*words, "--json"]) == 0
        file.write_text(capsys.readouterr().out, "utf-8")
    assert run(["compare", *map(str, files), "tp4 zero1 recompute full", *QUESTION, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    kept = json.loads(files[1].read_text("utf-8"))
    assert document["alternatives"][1]["seconds"] == kept["seconds"]
    assert document["alternatives"][2]["what"] == "answer"
    assert document["differences"][0]["parts"]["recomputation"] > 0


@pytest.mark.parametrize("content", ["{}", "[]", "nonsense", '{"verb": "cost"}', '{"verb": "estimate"}'])
def test_what_is_no_answer_is_refused(tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "some.json"
    file.write_text(content, "utf-8")
    assert run(["compare", str(file), str(file), *QUESTION]) == 2
    assert capsys.readouterr().err.startswith("error")


def test_two_layouts_of_one_machine_are_told_apart_as_measured_pairs_are(catalogue: Catalogue) -> None:
    found = volvelle.compare(
        "tp2 zero1 recompute full", "tp2 zero1 recompute full mb2", model="llama3-8b", on="dgx-h100/16", batch=64,
        catalogue=catalogue,
    )  # fmt: skip
    told = found.differences[0]
    assert told is not None
    assert abs(told.ratio - 1) < 0.1
    assert told.verdict == "not told apart"
    assert told.range.high / told.range.low == pytest.approx(2.718281828 ** (2 * 1.2816 * pair_spread()), rel=1e-3)


def test_one_that_cannot_run_says_so_and_the_others_are_still_compared(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", "dgx-h100/64", "dgx-h100/8", "dgx-b200/64", "--model", "llama3-70b", "--batch", "64", "--json"]
    assert run(words) == 1
    document = json.loads(capsys.readouterr().out)
    assert [one["feasible"] for one in document["alternatives"]] == [True, False, True]
    assert document["differences"][0] is None
    assert document["differences"][1] is not None


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("compare", "dgx-h100/16"), "two or more"),
        (("compare", "dgx-h100/16", "dgx-b200/16", "--batch", "64"), "--model"),
        (("compare", "nemo", "fsdp", "--model", "llama3-8b", "--batch", "64"), "--on"),
        (("compare", "tp2", "tp4", "--model", "llama3-8b", "--on", "dgx-h100/8"), "--batch"),
        (("compare", "tp2 tp4", "tp8", *QUESTION), "twice"),
        (("compare", "tp2 zerro3", "tp8", *QUESTION), "word of a layout"),
        (("compare", "dgx-h1000/16", "dgx-b200/16", *QUESTION), "dgx-h100"),
    ],
)
def test_a_comparison_that_leaves_something_open_is_told_what(
    words: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == 2
    assert told in capsys.readouterr().err
