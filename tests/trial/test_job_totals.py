"""One figure for one thing: the days and the ETTR of a job are the same wherever they are printed."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import volvelle
from tests.everyday.asking import ask
from volvelle.quantities import percent

_RUN = ("llama3-8b", "--on", "dgx-h100/64", "--tokens", "1T", "--batch", "512", "--seq", "8192")
_OWN_RATES = ("--events", "40", "--node-days", "3000", "--rent", "3 USD/h", "--region", "europe-north1")


def _job(folder: Path, *words: str) -> tuple[str, dict[str, Any]]:
    text = ask(folder, "job", *_RUN, *words).out
    return " ".join(text.split()), json.loads(ask(folder, "job", *_RUN, *words, "--json").out)


@pytest.mark.parametrize("words", [(), _OWN_RATES, ("--planned", "5 %", "--spares", "1")])
def test_parts_of_the_days_sum_to_the_days_printed(tmp_path: Path, words: tuple[str, ...]) -> None:
    text, document = _job(tmp_path, *words)
    days = document["days"]["value"]
    assert sum(document["contributions"].values()) == pytest.approx(days)
    headline, summed = re.search(r"tokens ([\d.,]+) days,", text), re.search(r"sum ([\d.,]+) 100", text)
    assert headline is not None
    assert summed is not None
    assert float(headline[1].replace(",", "")) == pytest.approx(float(summed[1].replace(",", "")), rel=5e-3)
    assert document["days"]["p10"] < days < document["days"]["p90"]


@pytest.mark.parametrize("words", [(), _OWN_RATES])
def test_every_ettr_printed_is_the_same(tmp_path: Path, words: tuple[str, ...]) -> None:
    text, document = _job(tmp_path, *words)
    printed = re.findall(r"ETTR ([\d.]+ %)", text)
    assert len(printed) == 2
    assert set(printed) == {percent(document["ettr"]["value"])}
    assert document["ettr"]["value"] == pytest.approx(document["ettr_by_interval"][1])
    assert document["ettr"]["value"] == pytest.approx(document["contributions"]["work"] / document["days"]["value"])


def test_dollars_interruptions_and_carbon_follow_from_the_days_printed(tmp_path: Path) -> None:
    _, document = _job(tmp_path, *_OWN_RATES)
    hours = 24.0 * document["days"]["value"]
    paid = document["spending"][0]
    assert paid["usd"]["value"] == pytest.approx(64 * hours * paid["usd_per_hour"])
    assert document["interruptions"]["value"] == pytest.approx(3600.0 * hours / document["seconds_between"])
    assert document["tco2e"]["value"] <= document["places"][-1]["tco2e"]
    grams = {place["place"]: place["grams_per_kwh"] for place in document["places"]}
    for place in document["places"]:
        assert place["tco2e"] == pytest.approx(document["kwh"]["value"] * grams[place["place"]] / 1e6)


def test_plan_prints_the_days_with_failures_that_job_prints(tmp_path: Path) -> None:
    _, job = _job(tmp_path)
    reply = ask(tmp_path, "plan", *_RUN)
    plan = json.loads(ask(tmp_path, "plan", *_RUN, "--json").out)["run"]
    assert plan["days_with_failures"] == pytest.approx(job["days"]["value"])
    assert plan["ettr"] == pytest.approx(job["ettr"]["value"])
    assert f"{job['days']['value']:.3g} days, ETTR {percent(job['ettr']['value'])}" in " ".join(reply.out.split())


def test_a_notebook_shows_the_same_days() -> None:
    answer = volvelle.job("llama3-8b", on="dgx-h100/64", tokens="1T", batch=512, seq=8192)
    card = answer._repr_html_()
    assert f"{answer.run.days.value:.3g} days" in card
    assert f"{sum(answer.contributions.values()):,.2f}" in card
