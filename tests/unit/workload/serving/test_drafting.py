"""Ways to draft."""

import pytest

from volvelle import DescriptionError
from volvelle.workload.serving.drafting import Drafting, DraftMethod


def test_a_sequence_verifies_what_it_drafts_and_one_more() -> None:
    drafting = Drafting(drafter=DraftMethod.EAGLE, window=3)
    assert (drafting.levels, drafting.widths, drafting.positions) == ((1, 1, 1), (1, 1, 1), 4)


def test_a_tree_goes_on_as_sequences_below_the_levels_that_are_said() -> None:
    drafting = Drafting(drafter=DraftMethod.EAGLE, window=3, branching=(4, 2))
    assert (drafting.levels, drafting.widths, drafting.positions) == ((4, 2, 1), (4, 8, 8), 21)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"window": 65}, "window is 65"),
        ({"window": 2, "branching": (2, 2, 2)}, "3 levels and 2 are drafted"),
        ({"window": 12, "branching": (2,) * 12}, "8191"),
        ({"window": 2, "branching": (0,)}, "candidates"),
        ({"window": None, "branching": (2,)}, "best window"),
        ({"window": 2, "drafter": DraftMethod.NGRAM, "branching": (2,)}, "are a sequence"),
        ({"window": 2, "model": "llama3-8b"}, "model's name"),
        ({"window": 2, "drafter": DraftMethod.MODEL}, "model's name"),
        ({"window": 2, "tensor": 1}, "where the target does"),
        ({"window": 2, "first": 1.5}, "first is 1.5"),
        ({"window": 2, "decay": 0.0}, "decay is 0"),
    ],
)
def test_what_cannot_be_drafted_is_refused_by_name(said: dict[str, object], why: str) -> None:
    with pytest.raises(DescriptionError, match=why):
        Drafting(**{"drafter": DraftMethod.EAGLE, **said})  # type: ignore[arg-type]
