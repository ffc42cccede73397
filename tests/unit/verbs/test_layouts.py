"""A ranking as people compare layouts: kinds, ties, frameworks, and what is known of them."""

import pytest

import volvelle
from volvelle import Plan, Schedule
from volvelle.catalogue.residuals import measured_kind, pair_spread, residuals
from volvelle.laws.model_error import chance_of_order
from volvelle.mapping.kinds import Kind
from volvelle.verbs.layouts import FRAMEWORKS, launch_flags
from volvelle.verbs.plan import launch


@pytest.fixture(scope="module")
def plan() -> Plan:
    return volvelle.plan("llama3-70b", on="dgx-h100/64", batch=1024, top=20)


def test_each_kind_stands_once_and_the_fastest_first(plan: Plan) -> None:
    assert len({layout.kind for layout in plan.kinds}) == len(plan.kinds) >= 5
    times = [layout.time for layout in plan.kinds]
    assert times == sorted(times)
    assert plan.kinds[0].mapping == plan.layouts[0].mapping == plan.ranking.best[0].mapping


@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        (Kind.DATA, {"tensor": 1, "pipeline": 1, "context": 1}),
        (Kind.PIPELINE, {"context": 1, "schedule": Schedule.ONE_FORWARD_ONE_BACKWARD}),
    ],
)
def test_the_fastest_of_a_kind_is_what_a_search_of_that_kind_alone_finds(
    plan: Plan, kind: Kind, asked: dict[str, object]
) -> None:
    alone = volvelle.plan("llama3-70b", on="dgx-h100/64", batch=1024, **asked)
    found = next(layout for layout in plan.kinds if layout.kind is kind)
    assert found.time == pytest.approx(next(one.time for one in alone.kinds if one.kind is kind), rel=1e-12)


@pytest.mark.parametrize(
    "several", [{2, 1}, (stage for stage in (1, 2)), range(1, 3)], ids=["set", "generator", "range"]
)
def test_values_to_try_are_read_from_anything_that_holds_several(several: object) -> None:
    listed = volvelle.plan("llama3-8b", on="dgx-h100/8", batch=64, zero=[1, 2])
    assert volvelle.plan("llama3-8b", on="dgx-h100/8", batch=64, zero=several).ranking.best == listed.ranking.best
    assert {ranked.mapping.zero for ranked in listed.ranking.best} == {1, 2}


def test_no_two_layouts_shown_tie(plan: Plan) -> None:
    for place, first in enumerate(plan.layouts):
        for other in plan.layouts[place + 1 :]:
            same = first.mapping.shown == other.mapping.shown and first.kind is other.kind
            assert not (same and first.mapping.ulysses == other.mapping.ulysses and other.time <= 1.01 * first.time)
    assert any(layout.ties for layout in plan.layouts)


def test_what_is_said_to_launch_a_layout_launches_it(plan: Plan) -> None:
    assert plan.shape is not None
    for layout in plan.kinds:
        for framework in layout.frameworks:
            assert launch_flags(framework, plan.shape, plan.step, layout.mapping)
    assert {name for layout in plan.kinds for name in layout.frameworks} >= {"megatron", "torchtitan", "deepspeed"}
    assert set(FRAMEWORKS) >= {name for layout in plan.layouts for name in layout.frameworks}
    assert launch(plan, "megatron").flags


def test_a_first_place_that_was_never_measured_says_so() -> None:
    found = volvelle.plan("llama3-70b", on="dgx-h100/64", batch=1024, schedule=Schedule.ZERO_BUBBLE)
    assert found.kinds[0].kind is Kind.NO_BUBBLE
    assert found.kinds[0].measured_runs == 0
    assert any("rests on formulas alone" in warning for warning in found.warnings)


def test_a_first_place_that_was_measured_does_not() -> None:
    found = volvelle.plan(
        "llama3-70b", on="dgx-h100/64", batch=1024, schedule=Schedule.ONE_FORWARD_ONE_BACKWARD, context=1
    )
    assert not any("formulas alone" in warning for warning in found.warnings)


def test_measured_kinds_count_every_calibration_run_once() -> None:
    counted = sum(measured_kind(kind, mixture=mixture).runs for kind in Kind for mixture in (False, True))
    assert counted == len(residuals())


def test_the_chance_of_an_order_is_a_coin_where_nothing_leads_and_certain_far_away() -> None:
    spread = pair_spread()
    assert 0.1 < spread < 0.25
    assert float(chance_of_order(0.0, spread=spread)) == 0.5
    assert float(chance_of_order(1.0, spread=spread)) > 0.999
    assert float(chance_of_order(-0.1, spread=spread)) == float(chance_of_order(0.1, spread=spread))
