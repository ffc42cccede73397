"""Plans of every application say what their ranges rest on: runs left out of the fit, and how many groups of them."""

from dataclasses import replace
from math import exp
from typing import Any

import pytest

from volvelle.applications.contract import AnyApplication, Planned
from volvelle.applications.range_evidence import error_told_by
from volvelle.applications.registry import application
from volvelle.catalogue import Catalogue
from volvelle.catalogue.left_out import publications_left_out
from volvelle.report.applications.documents import plan_document
from volvelle.report.applications.plan_text import print_plan
from volvelle.spread import Evidence, model_reach

ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "fft": ("dgx-h100/16", {"grid": "512"}),
    "dlrm": ("dgx-h100/8", {}),
    "hpl-mxp": ("dgx-a100/16", {}),
    "stencil": ("dgx-h100/8", {"grid": "512", "scaling": True}),
    "hpl": ("dgx-a100/16", {}),
    "hpcg": ("dgx-a100/16", {}),
}


def planned(
    word: str, catalogue: Catalogue, on: str = "", **options: Any
) -> tuple[AnyApplication, Planned[Any, Any, Any]]:
    machine, usual = ASKED[word]
    planning = application(word)
    system = catalogue.cluster(on or machine)
    asked = planning.space(system, catalogue, planning.plan_question(on=system, **usual, **options))
    ranking = planning.planner(asked).rank(asked.candidates, asked.system, top=2)
    return planning, Planned(asked=asked, ranking=ranking, seconds=0.0)


@pytest.mark.parametrize("word", ASKED)
def test_a_plan_names_the_runs_behind_its_range_in_text_and_json(
    word: str, catalogue: Catalogue, capsys: pytest.CaptureFixture[str]
) -> None:
    planning, plan = planned(word, catalogue)
    told: Any = plan_document(planning, plan)["range_basis"]
    rows = [row for row in publications_left_out(word) if row.regime.startswith(told["model_error"]["regime"])]
    assert told["model_error"]["rows"] == len(rows) > 0
    assert told["model_error"]["sources"] == len({row.source for row in rows})
    assert told["weakest_evidence"] in [grade.word for grade in Evidence]
    print_plan(planning, plan)
    printed = " ".join(capsys.readouterr().out.split())
    assert f"the range rests on {len(rows)} calibration runs" in printed


@pytest.mark.parametrize(("word", "on"), [("fft", "dgx-h100/32"), ("dlrm", "dgx-a100/64"), ("hpl-mxp", "dgx-h100/8")])
def test_what_a_machine_leaves_of_the_fitted_ones_is_named_and_widens_the_error(
    word: str, on: str, catalogue: Catalogue
) -> None:
    planning, plan = planned(word, catalogue, on)
    told = planning.evidence(plan.asked)
    assert told is not None
    assert told.model_error is not None
    assert told.model_error.axes
    inside = error_told_by(word, 1.0001, regime=told.model_error.regime)
    assert inside is not None
    assert inside.axes == ()
    assert told.model_error.reach > inside.reach
    assert f"leaving them by {' and '.join(told.model_error.axes)}" in told.words


def test_the_error_of_a_plan_is_the_one_that_its_model_takes(catalogue: Catalogue) -> None:
    for word in ("fft", "dlrm", "hpl-mxp", "stencil"):
        planning, plan = planned(word, catalogue)
        told, model = planning.evidence(plan.asked), planning.planner(plan.asked)
        assert told is not None
        assert told.model_error is not None
        taken = getattr(model, "error", None) or plan.asked.calibration.error
        assert exp(told.model_error.reach / model_reach(0.8)) == pytest.approx(taken)


def test_closed_forms_of_linpack_have_neither_a_range_nor_a_basis(catalogue: Catalogue) -> None:
    planning, plan = planned("hpl", catalogue, method="original")
    assert plan_document(planning, plan)["range_basis"] is None


def test_a_family_that_nobody_ran_linpack_on_says_what_is_taken_instead(catalogue: Catalogue) -> None:
    planning, plan = planned("hpl", catalogue, on="mi355x-cluster/8")
    told = planning.evidence(plan.asked)
    assert told is not None
    assert told.model_error is None
    assert f"a factor of {plan.asked.calibration.error:.3g}" in told.words


def test_runs_of_ones_own_are_what_a_range_rests_on(catalogue: Catalogue) -> None:
    planning, plan = planned("hpl", catalogue)
    own = replace(plan.asked, calibration=replace(plan.asked.calibration, own="two runs, 3 % faster"))
    told = planning.evidence(own)
    assert told is not None
    assert told.model_error is None
    assert told.own_runs == "two runs, 3 % faster"
    assert "runs of one's own" in told.words
