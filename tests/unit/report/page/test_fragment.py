"""An estimate in a notebook: whole, without a script, and with or without pictures."""

import sys
from xml.etree import ElementTree

import pytest

from volvelle.quantities import SECONDS, show
from volvelle.report.page.fragment import estimate_fragment
from volvelle.verbs.estimate import Answer, estimate


@pytest.fixture(scope="module")
def answer() -> Answer:
    return estimate("llama3-8b", on="dgx-h100/16", batch=64, tensor=2)


def test_a_fragment_has_the_headline_the_pictures_and_every_part(answer: Answer) -> None:
    pytest.importorskip("altair")
    text = estimate_fragment(answer)
    ElementTree.fromstring(text)
    assert f"{show(answer.estimate.time, SECONDS)}/step" in text
    assert text.count("<svg") == 2
    assert "<script" not in text
    for part in answer.estimate.parts():
        assert f">{part}</td>" in text


def test_without_pictures_a_fragment_says_what_to_install(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("altair", "vl_convert"):
        monkeypatch.setitem(sys.modules, name, None)
    text = estimate_fragment(answer)
    assert "<svg" not in text
    assert "volvelle[plot]" in text
    assert "</table>" in text


def test_a_layout_that_cannot_exist_has_no_speed() -> None:
    text = estimate_fragment(estimate("llama3-70b", on="dgx-h100/1024", batch=8))
    assert "no speed" in text
    assert "</table>" not in text
