"""Layouts of a plan name what their own ranges rest on."""

import json

import pytest

import volvelle
from volvelle.catalogue.residuals import layout_pairs, layout_spreads
from volvelle.report.documents.document import json_text


def test_every_layout_names_the_error_that_an_estimate_of_it_takes() -> None:
    plan = volvelle.plan("llama3-8b", on="dgx-h100/16", batch=64, top=4)
    told = json.loads(json_text("plan", plan))
    reaches = set()
    for layout, entry in zip(plan.layouts, told["layouts"], strict=True):
        estimate = volvelle.estimate("llama3-8b", on="dgx-h100/16", batch=64, mapping=layout.mapping)
        own = json.loads(json_text("estimate", estimate))
        assert entry["model_error"] == own["model_error"]
        assert entry["outside_calibration"] == own["outside_calibration"]
        assert entry["weakest_evidence"] == own["weakest_evidence"]
        reaches.add(entry["model_error"]["reach"])
    assert told["layouts"][0]["model_error"] == told["model_error"]
    assert len(reaches) > 1, "layouts feel constants that runs leave open more or less"
    assert all(entry["model_error"] for entry in told["best_of_kinds"])


def test_chances_of_being_the_fastest_name_the_pairs_of_runs_that_they_rest_on() -> None:
    told = json.loads(json_text("plan", volvelle.plan("gpt2", on="dgx-h100/8", batch=64, top=2)))["layout_error"]
    pairs = layout_pairs()
    assert (told["of_kind"], told["own"]) == pytest.approx(layout_spreads())
    assert (told["same_kind_pairs"], told["other_kind_pairs"]) == (pairs.same_kind, pairs.other_kind)
    assert min(pairs.same_kind, pairs.other_kind) > pairs.sources > 1


def test_a_plan_without_a_layout_has_no_error_of_layouts() -> None:
    told = json.loads(json_text("plan", volvelle.plan("llama3-405b", on="dgx-h100/8", batch=8)))
    assert told["layouts"] == []
    assert told["layout_error"] is None
