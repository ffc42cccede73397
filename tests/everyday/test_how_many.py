"""How many accelerators: the fewest there are, found without looking at them all, and what they take."""

import json

import pytest

import volvelle
from volvelle import Catalogue
from volvelle.cli import run
from volvelle.report.how_many_text import shown_sizes
from volvelle.verbs.how_many import how_many

QUESTION = {"tokens": "300B", "batch": 256, "sequence": 8192}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return Catalogue()


@pytest.mark.parametrize(
    ("system", "days", "unit"),
    [
        ("dgx-h100", 10.0, 8),
        pytest.param("dgx-a100", 21.0, 8, marks=pytest.mark.long),
        pytest.param("perlmutter", 40.0, 4, marks=pytest.mark.long),
    ],
)
def test_the_fewest_are_those_of_brute_force(catalogue: Catalogue, system: str, days: float, unit: int) -> None:
    found = how_many("llama3-8b", on=system, days=days, catalogue=catalogue, **QUESTION)  # type: ignore[arg-type]
    assert found.smallest is not None
    for count in range(unit, found.smallest.accelerators + unit, unit):
        try:
            plan = volvelle.plan("llama3-8b", on=f"{system}/{count}", top=1, catalogue=catalogue, **QUESTION)  # type: ignore[arg-type]
        except volvelle.MappingError:
            continue
        in_time = plan.run is not None and plan.run.days_with_failures <= days
        assert in_time == (count == found.smallest.accelerators), count


def test_the_answer_is_that_of_a_plan_on_so_many(catalogue: Catalogue) -> None:
    found = how_many("llama3-8b", on="dgx-h100", days=10.0, catalogue=catalogue, **QUESTION).smallest  # type: ignore[arg-type]
    assert found is not None
    plan = volvelle.plan("llama3-8b", on=f"dgx-h100/{found.accelerators}", catalogue=catalogue, **QUESTION)  # type: ignore[arg-type]
    assert plan.run == found.run
    assert plan.basis == found.basis


def test_the_cheapest_is_no_dearer_than_the_fewest_and_keeps_the_date(catalogue: Catalogue) -> None:
    found = how_many("llama3-8b", on="dgx-h100", days=10.0, catalogue=catalogue, **QUESTION)  # type: ignore[arg-type]
    assert found.smallest is not None
    assert found.cheapest is not None
    assert found.cheapest.usd <= found.smallest.usd  # type: ignore[operator]
    assert found.cheapest.run.days_with_failures <= 10.0
    least = min(size.usd for size in found.sizes if size.run.days_with_failures <= 10.0)  # type: ignore[type-var]
    assert found.cheapest.usd == pytest.approx(least, rel=1e-12)


def test_a_budget_is_kept(catalogue: Catalogue) -> None:
    found = how_many("llama3-8b", on="dgx-h100", usd="40 kUSD", catalogue=catalogue, **QUESTION)  # type: ignore[arg-type]
    assert found.smallest is not None
    assert found.smallest.usd is not None
    assert found.smallest.usd <= 40e3


def test_a_budget_that_no_machine_keeps_is_told_at_once(catalogue: Catalogue) -> None:
    found = how_many("llama3-8b", on="dgx-h100", usd="100 USD", catalogue=catalogue, **QUESTION)  # type: ignore[arg-type]
    assert found.smallest is None
    assert len(found.sizes) == 1


def test_the_curve_falls_and_fits_a_screen(catalogue: Catalogue) -> None:
    found = how_many("llama3-70b", on="dgx-h100", tokens="2T", days=30.0, batch=512, catalogue=catalogue)
    shown = shown_sizes(found)
    assert len(shown) <= 14
    days = [size.run.days_with_failures for size in shown]
    assert days == sorted(days, reverse=True)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--days", "30"), "give --tokens too"),
        (("--tokens", "2T", "--days", "0"), "it must be a number from 0.001"),
        (("--tokens", "2T", "--usd", "-5 USD"), "it must be an amount of money"),
        (("--tokens", "2T", "--days", "30", "--emit", "fsdp"), "ask how many first"),
    ],
)
def test_a_question_that_lacks_something_is_refused(
    words: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["plan", "llama3-8b", "--on", "dgx-h100", *words]) == 2
    assert says in capsys.readouterr().err


def test_a_machine_that_has_a_count_is_not_asked_how_many(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "llama3-8b", "--on", "dgx-h100/64", "--tokens", "2T", "--days", "30"]) == 2
    assert "has a count already" in capsys.readouterr().err


def test_the_command_prints_what_python_finds(catalogue: Catalogue, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["plan", "llama3-8b", "--on", "dgx-h100", "--tokens", "300B", "--batch", "256", "--seq", "8192"]
    assert run([*words, "--days", "10", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    found = how_many("llama3-8b", on="dgx-h100", days=10.0, catalogue=catalogue, **QUESTION)  # type: ignore[arg-type]
    assert found.smallest is not None
    assert document["smallest"]["accelerators"] == found.smallest.accelerators
    assert run([*words, "--days", "10"]) == 0
    assert f"The fewest: {found.smallest.accelerators} accelerators" in capsys.readouterr().out
