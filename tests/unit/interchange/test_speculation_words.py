"""Speculation in words."""

from pathlib import Path

import pytest

from volvelle import DescriptionError, UnknownNameError
from volvelle.interchange.speculation_words import read_speculation
from volvelle.workload.serving.drafting import Drafting, DraftMethod


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("eagle 3", Drafting(drafter=DraftMethod.EAGLE, window=3)),
        ("EAGLE-3 best", Drafting(drafter=DraftMethod.EAGLE, window=None)),
        ("n-gram 4", Drafting(drafter=DraftMethod.NGRAM, window=4)),
        ("draft llama3-8b 4 tp1", Drafting(drafter=DraftMethod.MODEL, window=4, model="llama3-8b", tensor=1)),
        ("eagle 3 tree 4x2", Drafting(drafter=DraftMethod.EAGLE, window=3, branching=(4, 2))),
        ("mtp 1 decay 0.9 acceptance 0.8", Drafting(drafter=DraftMethod.MTP, window=1, first=0.8, decay=0.9)),
        ("parallel 0", Drafting(drafter=DraftMethod.PARALLEL, window=0)),
    ],
)
def test_words_say_who_drafts_and_how(text: str, meant: Drafting) -> None:
    assert read_speculation(text) == meant


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is empty"),
        ("eagle", "how many tokens"),
        ("draft", "which model"),
        ("draft llama3-8b", "how many tokens"),
        ("eagle three", "'three' is no number of drafted tokens"),
        ("eagle -1", "'-1' is no number"),
        ("eagle 1000", "drafted tokens is 1"),
        ("eagle 3 tree", "nothing follows tree"),
        ("eagle 3 tree 4y2", "no tree like 4x2"),
        ("eagle 3 wood 4", "'wood' is none of"),
        ("eagle 3 acceptance lots", "is no acceptance"),
        ("eagle 3 acceptance nan", "acceptance"),
        ("eagle 3 acceptance 1.2", "acceptance is 1.2"),
        ("eagle 3 acceptance 0.5 acceptance 0.6", "said twice"),
        ("eagle 3 curve nowhere.csv", "there is no curve 'nowhere.csv'"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(text: str, why: str) -> None:
    with pytest.raises(DescriptionError, match=why):
        read_speculation(text)


def test_an_unknown_drafter_is_told_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="eagle"):
        read_speculation("eagel 3")


def test_a_curve_is_read_from_a_file_whose_name_may_have_blanks(tmp_path: Path) -> None:
    file = tmp_path / "my curve.csv"
    file.write_text("window,tokens_per_step\n3,2.7\n1,1.8\n", "utf-8")
    found = read_speculation(f"eagle 3 curve {file}")
    assert found.curve == ((1, 1.8), (3, 2.7))
    with pytest.raises(DescriptionError, match="its own acceptance"):
        read_speculation(f"eagle 3 acceptance 0.5 curve {file}")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a,b\n1,2\n", "no column 'window'"),
        ("window,tokens_per_step\n", "no rows"),
        ("window,tokens_per_step\n3,many\n", "line 2: a window"),
        ("window,tokens_per_step\n3,nan\n", "line 2: tokens_per_step"),
        ("window,tokens_per_step\n3,4.5\n", "line 2: 4.5 tokens of a step with 3 drafted"),
        ("window,tokens_per_step\n0,1\n", "line 2"),
    ],
)
def test_a_curve_that_cannot_be_is_refused_with_its_line(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "curve.csv"
    file.write_text(text, "utf-8")
    with pytest.raises(DescriptionError, match=why):
        read_speculation(f"eagle 3 curve {file}")
