"""How far whole steps may be off, within what runs tell of and beyond it."""

from dataclasses import replace
from math import exp, hypot, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from volvelle.estimators.step_errors import CHIP, KIND, PRECISION, SIZE, SOFTWARE, StepError, StepErrors, TimedRuns

ERRORS = StepErrors(
    inside={"hopper": 1.1, "ampere": 1.2},
    anywhere=1.15,
    beyond={CHIP: 1.1, SOFTWARE: 1.25, PRECISION: 1.05, KIND: 1.2, SIZE: 1.03},
    timed=(
        TimedRuns(family="hopper", element="bf16", stack="nemo", mixture=False, chips=1024),
        TimedRuns(family="hopper", element="fp8", stack="nemo", mixture=True, chips=64),
        TimedRuns(family="ampere", element="fp16", stack="fsdp", mixture=False, chips=4096),
    ),
)
ways = st.dictionaries(st.sampled_from([SOFTWARE, PRECISION, KIND, SIZE]), st.floats(0.1, 6.0))


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        (("hopper", "bf16", "nemo", False, 1024), {}),
        (("hopper", "bf16", "", True, 8), {}),
        (("hopper", "bf16", "fsdp", False, 8), {SOFTWARE: 1.0}),
        (("hopper", "fp16", "nemo", False, 4096), {PRECISION: 1.0, SIZE: 2.0}),
        (("ampere", "fp16", "fsdp", True, 8), {KIND: 1.0}),
        (("no such chips", "fp16", "fsdp", True, 8), {CHIP: 1.0}),
        (("no such chips", "fp4", "paxml", True, 8192), {CHIP: 1.0, SOFTWARE: 1.0, PRECISION: 1.0, SIZE: 1.0}),
    ],
)
def test_a_question_leaves_by_what_no_run_on_its_chips_shares(
    asked: tuple[str, str, str, bool, int], left: dict[str, float]
) -> None:
    family, element, stack, mixture, chips = asked
    assert ERRORS.left(family, element, stack, mixture=mixture, chips=chips) == left


@given(
    ways, st.sampled_from([SOFTWARE, PRECISION, KIND, SIZE]), st.floats(0.1, 6.0), st.sampled_from(["hopper", "ampere"])
)
def test_leaving_further_never_makes_surer(left: dict[str, float], way: str, more: float, family: str) -> None:
    further = {**left, way: left.get(way, 0.0) + more}
    near, far = (ERRORS.on(one, family) for one in (left, further))
    assert near is not None
    assert far is not None
    assert far >= near >= ERRORS.inside[family] - 1e-12


@given(ways, st.floats(1.0, 2.0))
def test_chips_that_nothing_ran_on_are_at_least_as_unsure_as_stated(left: dict[str, float], stated: float) -> None:
    unseen = {CHIP: 1.0, **left}
    found = ERRORS.on(unseen, "no such chips", stated=stated)
    assert found is not None
    assert found >= stated - 1e-12
    assert ERRORS.on(unseen, "no such chips") is None
    assert StepError(factor=None, left=unseen, of=ERRORS).or_else(1.35) >= 1.35 - 1e-12


def test_what_waits_for_a_network_counts_on_chips_that_nothing_ran_on_and_is_within_others_already() -> None:
    known = replace(ERRORS, unknown_network=0.3)
    stated, unstated = (StepError(factor=factor, left={CHIP: 1.0}, of=known) for factor in (1.2, None))
    near = StepError(factor=1.2, of=known)
    assert stated.waiting(0.0) == stated
    assert stated.waiting(1.0).factor == pytest.approx(exp(hypot(log(1.2), 0.3)))
    assert stated.waiting(1.0).or_else(1.5) == stated.waiting(1.0).factor
    assert unstated.waiting(0.5).factor is None
    assert unstated.waiting(0.5).or_else(1.5) == pytest.approx(exp(hypot(log(1.5), 0.15)))
    assert near.waiting(1.0) == near
