"""Acceptance of ways to draft."""

import pytest

from volvelle.applications.acceptance.drafters import known_acceptance
from volvelle.applications.acceptance.measurements import acceptance_measurements
from volvelle.interchange.speculation_words import read_speculation


@pytest.mark.parametrize("drafter", ["eagle", "mtp", "parallel", "ngram"])
def test_curves_of_such_drafters_are_taken_where_nothing_is_said(drafter: str) -> None:
    found = known_acceptance(read_speculation(f"{drafter} 3"))
    assert 0.5 < found.found.first < 1.0
    assert found.error > 1.0
    assert "published curve" in found.source
    assert not found.stands_in


def test_held_out_curves_are_never_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    from volvelle.applications.acceptance import drafters  # noqa: PLC0415 - its caches are emptied

    before = {kind: known_acceptance(read_speculation(f"{kind} 4")).found for kind in ("eagle", "mtp", "parallel")}

    def without_held_out(*, table: str) -> object:
        read = acceptance_measurements(table=table)
        kept = tuple(row for row in read.rows if row.head.split != "heldout")
        assert table == "serving_ngram" or len(kept) < len(read.rows)
        return type(read)(rows=kept, unread=read.unread)

    monkeypatch.setattr(drafters, "acceptance_measurements", without_held_out)
    drafters._curves.cache_clear()
    drafters._shape_error.cache_clear()
    try:
        for kind, found in before.items():
            assert known_acceptance(read_speculation(f"{kind} 4")).found == found
    finally:
        drafters._curves.cache_clear()
        drafters._shape_error.cache_clear()


def test_a_draft_model_has_no_curve_so_all_drafters_stand_in() -> None:
    found = known_acceptance(read_speculation("draft llama3-8b 4"))
    assert found.stands_in
    assert "no curve of draft models" in found.source


def test_what_is_said_is_taken_with_the_doubt_that_two_numbers_leave() -> None:
    said, usual = (known_acceptance(read_speculation(f"eagle 4{more}")) for more in (" acceptance 0.6 decay 0.8", ""))
    assert (said.found.first, said.found.decay) == (0.6, 0.8)
    assert 1.0 < said.error < usual.error


def test_a_level_of_a_tree_is_passed_if_any_candidate_is_accepted() -> None:
    drafting = read_speculation("eagle 2 tree 3 acceptance 0.5 decay 0.8")
    found = known_acceptance(drafting)
    assert found.levels(drafting) == pytest.approx((1 - 0.5**3, 0.4))
    assert found.tokens(drafting) == pytest.approx(1 + 0.875 + 0.875 * 0.4)
