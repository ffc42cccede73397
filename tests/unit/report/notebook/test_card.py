"""An answer as HTML: with or without pictures, escaped, in the colours of the notebook around it."""

import sys

import pytest

from volvelle.report.notebook.card import card
from volvelle.report.notebook.presentation import fragment
from volvelle.report.notebook.shown import Shown
from volvelle.report.sheet import Sheet
from volvelle.verbs.estimate import Answer, estimate


@pytest.fixture(scope="module")
def answer() -> Answer:
    return estimate("llama3-8b", on="dgx-h100/16", batch=64, tensor=2)


def test_a_card_has_pictures_for_wide_and_narrow_screens_and_every_part(answer: Answer) -> None:
    pytest.importorskip("altair")
    text = fragment(answer)
    assert text.count("<svg") == 4
    for part in answer.estimate.parts():
        assert f">{part}</td>" in text
    assert "data-jp-theme-light" in text


def test_without_altair_a_card_says_what_to_install_and_keeps_its_tables(
    answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("altair", "vl_convert"):
        monkeypatch.setitem(sys.modules, name, None)
    text = fragment(answer)
    assert "<svg" not in text
    assert "volvelle[plot]" in text
    assert "</table>" in text


def test_what_is_shown_cannot_become_markup() -> None:
    sheet = Sheet(title="<i>", columns=("<b>",), rows=(("<script>",),) * 50, note="a & b")
    text = card(Shown(title="<h1>", figures=("<p>",), warnings=("<u>",), sheets=(sheet,), details=(sheet,)))
    assert "<script>" not in text
    assert "10 more" in text
    for word in ("h1", "i", "b", "u"):
        assert f"<{word}>" not in text
