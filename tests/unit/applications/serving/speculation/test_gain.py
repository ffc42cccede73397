"""Whether speculation is worth it."""

import pytest

import volvelle
from volvelle.applications.serving.speculation.gain import SpeculationGain

ASKED = {"on": "dgx-h100/8", "weights": "fp8", "input": 512, "output": 128}


def gain(speculate: str, **more: object) -> SpeculationGain:
    found = volvelle.serve("llama3-70b", speculate=speculate, **{**ASKED, **more}).speculation  # type: ignore[arg-type]
    assert found is not None
    return found


def test_the_row_of_the_asked_batch_is_the_answer() -> None:
    found = gain("eagle 3", batch=16)
    (row,) = (row for row in found.batches if row.batch == 16)
    assert row.gain == pytest.approx(found.gain)
    assert [one.tpot for one in found.windows if one.window == 3] == pytest.approx([found.tpot])


def test_the_best_window_has_the_lowest_latency_and_is_shorter_for_larger_batches() -> None:
    small, large = (gain("eagle best", batch=batch) for batch in (1, 256))
    for found in (small, large):
        best = min(found.windows, key=lambda one: one.latency)
        assert found.speculation.drafting.window == best.window
    assert small.speculation.drafting.window > large.speculation.drafting.window  # type: ignore[operator]


def test_the_best_window_under_load_is_that_of_the_load() -> None:
    found = gain("eagle best", load="closed 8", requests=32)
    best = min(found.windows, key=lambda one: one.latency)
    assert found.speculation.drafting.window == best.window
    assert found.tpot == pytest.approx(best.tpot)


def test_a_tree_is_told_both_ways() -> None:
    tree = gain("eagle 3 tree 2x2x2", batch=1).tree
    assert tree is not None
    assert (tree.positions, tree.leaves) == (15, 8)
    assert tree.branch_tpot > tree.level_tpot
    assert gain("eagle 3", batch=1).tree is None


def test_replicas_share_the_batch_of_the_table() -> None:
    one, two = (gain("eagle 3", batch=16, on=f"dgx-h100/{chips}") for chips in (8, 16))
    assert [row.batch * 2 for row in one.batches] == [row.batch for row in two.batches]
    assert one.loss_from is not None
    assert two.loss_from == 2 * one.loss_from
