"""Where nothing fits, a terminal, a page and a notebook say the same."""

import io
from html import unescape

import pytest
from rich.console import Console

pytest.importorskip("altair")

import volvelle
from volvelle.report.page.plan import plan_page
from volvelle.report.plan_text import print_plan
from volvelle.report.plan_words import dead_end_words
from volvelle.verbs.plan import Plan


@pytest.fixture(scope="module")
def plan() -> Plan:
    return volvelle.plan("llama3-70b", on="dgx-h100/8", batch=64, tensor=8, zero=1, margin="12 %")


def _shown(plan: Plan) -> dict[str, str]:
    console = Console(file=io.StringIO(), width=80)
    print_plan(plan, console)
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    texts = {"terminal": printed, "page": plan_page(plan, references={}), "notebook": repr(plan)}
    return {place: " ".join(unescape(text).split()) for place, text in texts.items()}


def test_a_dead_end_is_told_in_the_same_words_everywhere(plan: Plan) -> None:
    told, ways = dead_end_words(plan)
    assert told
    assert ways
    assert all("USD a step" in gives for _, gives in ways), "what a step costs is told too"
    for place, text in _shown(plan).items():
        for words in (*told, *(gives for _, gives in ways)):
            assert words in text, place


def test_a_page_says_how_much_memory_is_left_free_where_nothing_fits(plan: Plan) -> None:
    assert "<dt>memory left free</dt><dd>12 %</dd>" in plan_page(plan, references={})
