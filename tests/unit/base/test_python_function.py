"""Verbs understand the words of the command."""

import pytest

import volvelle
from volvelle import Recompute, Schedule
from volvelle.errors import DescriptionError


def test_an_estimate_is_the_same_by_either_words() -> None:
    question = {"on": "dgx-h100/16", "batch": 64}
    short = volvelle.estimate("llama3-8b", tp=2, pp=2, seq=4096, recompute="full", schedule="zero-bubble", **question)
    long = volvelle.estimate(
        "llama3-8b",
        tensor=2,
        pipeline=2,
        sequence=4096,
        recompute=Recompute.FULL,
        schedule=Schedule.ZERO_BUBBLE,
        **question,
    )
    assert short.to_dict() == long.to_dict()


def test_a_plan_takes_several_words() -> None:
    plan = volvelle.plan("llama3-8b", on="dgx-h100/16", batch=64, tp=(1, 2), pp=1, recompute=("none", "full"))
    assert {layout.mapping.recompute for layout in plan.layouts} <= {Recompute.NONE, Recompute.FULL}
    assert {layout.mapping.tensor for layout in plan.layouts} <= {1, 2}


def test_an_argument_by_both_words_is_refused() -> None:
    with pytest.raises(DescriptionError, match="tensor is given twice"):
        volvelle.estimate("llama3-8b", on="dgx-h100/16", batch=64, tp=2, tensor=2)


def test_a_word_that_is_none_is_told_with_those_that_are() -> None:
    with pytest.raises(DescriptionError, match="recompute is 'some'; it must be 'none', 'selective', 'full', 'light'"):
        volvelle.estimate("llama3-8b", on="dgx-h100/16", batch=64, recompute="some")
