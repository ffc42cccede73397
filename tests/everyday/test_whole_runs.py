"""Tokens in, days and money out: the same figures on every verb, in one command."""

import csv
import json
from importlib import resources

import pytest

import volvelle
from volvelle import Catalogue
from volvelle.catalogue.rents import rent_of
from volvelle.cli import run
from volvelle.domains import TOKENS

DAY = 86_400.0
QUESTION = {"on": "dgx-h100/64", "batch": 1024, "sequence": 8192}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return Catalogue()


@pytest.mark.parametrize(
    ("written", "number"), [("2T", 2e12), ("300B", 3e11), ("15e12", 15e12), ("1.5 M", 1.5e6), (7e9, 7e9)]
)
def test_tokens_are_written_as_people_write_them(written: str | float, number: float) -> None:
    assert TOKENS.read(written, "tokens") == number


@pytest.mark.parametrize("written", ["2X", "", "many", "-1T", "nan"])
def test_other_words_are_no_tokens(written: str) -> None:
    with pytest.raises(volvelle.VolvelleError, match="tokens"):
        TOKENS.read(written, "tokens")


def test_plan_and_estimate_say_the_same_of_a_run(catalogue: Catalogue) -> None:
    plan = volvelle.plan("llama3-70b", tokens="2T", catalogue=catalogue, **QUESTION)  # type: ignore[arg-type]
    first = plan.layouts[0].mapping
    answer = volvelle.estimate("llama3-70b", mapping=first, tokens=2e12, catalogue=catalogue, **QUESTION)  # type: ignore[arg-type]
    assert plan.run == answer.run


def test_a_run_is_its_steps(catalogue: Catalogue) -> None:
    answer = volvelle.estimate("llama3-70b", tensor=8, pipeline=4, tokens="2T", catalogue=catalogue, **QUESTION)  # type: ignore[arg-type]
    whole, step = answer.run, answer.estimate
    assert whole is not None
    assert whole.steps == pytest.approx(2e12 / (1024 * 8192))
    assert whole.days == pytest.approx(whole.steps * step.time / DAY)
    assert whole.joules == pytest.approx(whole.steps * float(answer.costs.energy or 0.0))
    assert whole.usd_owned == pytest.approx(whole.steps * float(answer.costs.dollars or 0.0))
    rent = rent_of("h100-sxm")
    assert rent is not None
    assert whole.usd_rented == pytest.approx(24 * whole.days * 64 * rent.dollars_per_hour)
    for name, value in (("days", whole.days), ("usd_owned", whole.usd_owned), ("usd_rented", whole.usd_rented)):
        assert whole.ranges[name].low <= value <= whole.ranges[name].high  # type: ignore[operator]


def test_a_chip_that_nobody_rents_out_has_no_rent(catalogue: Catalogue) -> None:
    answer = volvelle.estimate("llama3-8b", on="frontier/16", batch=64, zero=3, tokens="1B", catalogue=catalogue)
    assert answer.run is not None
    assert answer.run.usd_rented is None


def test_a_layout_that_cannot_exist_has_no_run(catalogue: Catalogue) -> None:
    answer = volvelle.estimate("llama3-8b", on="dgx-h100/64", batch=8, tokens="1B", catalogue=catalogue)
    assert answer.run is None


def test_one_command_answers_layout_fit_days_and_money(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["plan", "llama3-70b", "--on", "dgx-h100/64", "--seq", "8192", "--batch", "1024", "--tokens", "2T"]
    assert run(words) == 0
    shown = capsys.readouterr().out
    for word in ("2.00 T tokens", "days", "owned", "rented", "MWh", "tp4"):
        assert word in shown
    assert run([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["run"]["tokens"] == 2e12
    assert set(document["run"]["ranges"]) == {"days", "joules", "usd_owned", "usd_rented"}


def test_every_rent_names_a_chip_of_the_catalogue_a_date_and_a_page(catalogue: Catalogue) -> None:
    text = (resources.files("volvelle.catalogue") / "data" / "prices" / "rents.csv").read_text("utf-8")
    for row in csv.DictReader(text.splitlines()):
        assert row["chip"] in catalogue.names("chips")
        assert row["address"].startswith("http")
        assert len(row["date"]) == 10
        assert 0.1 < float(row["usd_per_hour"]) < 100
