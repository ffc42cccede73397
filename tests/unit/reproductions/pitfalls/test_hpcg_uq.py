"""HPCG under uncertainty: the talk's mean, and what a run of one's own makes of our range."""

import pytest

from volvelle.catalogue import Catalogue
from volvelle.catalogue.published.pitfalls import pitfalls_talk
from volvelle.reproductions.pitfalls.hpcg_uq import hpcg_uq_item


def test_the_product_of_factors_has_the_mean_of_the_talk_and_the_range_holds_the_run(catalogue: Catalogue) -> None:
    printed = pitfalls_talk().hpcg
    document = hpcg_uq_item(printed, catalogue).document
    talk, ours, known = document["rows"]
    assert talk["rate"] == pytest.approx(printed.rate.model, rel=1e-5)
    assert document["efficiencies"] == pytest.approx(0.4167, abs=5e-5)
    assert ours["low"] < printed.rate.run < ours["high"]
    assert ours["half_width"] > 0.25
    assert known["half_width"] < 0.12
