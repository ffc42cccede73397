"""Estimators held against each other: they agree, and what they do not agree on has causes that add up."""

from dataclasses import replace

import pytest

import volvelle
from volvelle import FatTree, MappingError
from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.estimators.event_driven.causes import causes
from volvelle.estimators.event_driven.estimator import EventDriven
from volvelle.estimators.flow_level.estimator import FlowLevel
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.interchange.layout_words import read_layout_words
from volvelle.interchange.simgrid.engine import simgrid_python
from volvelle.verbs.crosscheck.suite import SUITE
from volvelle.verbs.crosscheck.suite_check import crosscheck_suite
from volvelle.verbs.question import question_of

_KINDS = {row.kind: row for row in SUITE}


def test_the_suite_has_what_was_asked_for() -> None:
    assert len(SUITE) >= 40
    chips = [int(row.system.rpartition("/")[2]) for row in SUITE]
    assert min(chips) == 8
    assert max(chips) == 65_536
    stages = {read_layout_words(row.layout)["zero"] for row in SUITE}
    assert stages == {0, 1, 2, 3}
    assert {"dense", "mixture of experts", "deep pipeline", "interleaved", "long context", "off-load"} <= set(_KINDS)


def test_closed_form_and_replay_agree_on_one_workload_of_every_kind() -> None:
    """The whole suite is asked by ``volvelle crosscheck --suite``: median 1 %, worst 5 %."""
    few = [next(row for row in SUITE if row.kind == kind) for kind in _KINDS if kind != "deep pipeline"]
    found = crosscheck_suite(rows=few)
    assert found.workloads == len(few)
    assert found.median <= 0.01
    assert found.worst <= 0.05
    assert [abs(result.error) for result in found.results] == sorted(
        (abs(result.error) for result in found.results), reverse=True
    )
    assert all(bool(result.difference.causes) == (abs(result.difference.share) > 0.01) for result in found.results)


@pytest.mark.parametrize(
    "layout",
    [
        {"tensor": 4, "pipeline": 4, "interleave": 2},
        {"tensor": 2, "pipeline": 2, "context": 2, "zero": 0},
        {"zero": 3, "offload_activations": True, "recompute": volvelle.Recompute.FULL},
    ],
    ids=str,
)
def test_causes_sum_to_the_difference(layout: dict[str, object]) -> None:
    asked = question_of("llama3-8b", on="dgx-h100/32", batch=64, **layout)
    question = asked.step, asked.cluster, asked.mapping
    closed, event = (one.estimate(*question).time for one in (ClosedForm(), EventDriven()))
    found = causes(EventDriven(), *question)
    assert sum(cause.seconds for cause in found) == pytest.approx(closed - event, abs=1e-9 * closed)


def test_without_contention_flows_add_nothing() -> None:
    """Ranks in order on a full-bandwidth tree."""
    found = volvelle.crosscheck("llama3-8b", on="dgx-h100/16", batch=32, tp=8, estimators="closed,event,flows")
    assert found.times["flows"] == pytest.approx(found.times["event"], rel=1e-9)
    assert {factor.exchange.axis.name for factor in found.flows} == {"tensor", "data"}


def test_a_thinner_tree_makes_transfers_that_cross_it_longer() -> None:
    """Every node of one half of the machine sends to one of the other: leaves of eight nodes, with fewer uplinks."""
    asked = question_of("llama3-8b", on="dgx-h100/512", batch=512, tp=8, pp=2)
    found = {}
    for thinned in (1.0, 4.0):
        inner, outer = asked.cluster.dimensions
        tree = replace(outer, topology=FatTree(16, thinned))
        question = asked.step, replace(asked.cluster, dimensions=(inner, tree)), asked.mapping
        factors = FlowLevel().factors(EventDriven().replayed(*question), *question)
        found[thinned] = {one.exchange.axis.name: one.factor for one in factors}
    assert found[1.0]["pipeline"] == pytest.approx(1.0)
    assert found[4.0]["pipeline"] == pytest.approx(4.0, rel=0.02)
    assert found[4.0]["tensor"] == pytest.approx(1.0)


@pytest.mark.skipif(simgrid_python() is None, reason="no Python here has SimGrid 3.32")
def test_simgrid_says_of_one_group_what_our_engine_says() -> None:
    asked = question_of("llama3-8b", on="dgx-h100/16", batch=32, tp=4, pp=2)
    question = asked.step, asked.cluster, asked.mapping
    ours = FlowLevel(together=False).estimate(*question).time
    found = volvelle.crosscheck("llama3-8b", on="dgx-h100/16", batch=32, tp=4, pp=2, estimators=["event", "simgrid"])
    assert found.times["simgrid"] == pytest.approx(ours, rel=1e-9)


def test_what_simgrid_cannot_be_asked_is_refused_with_a_reason() -> None:
    found = volvelle.crosscheck("llama3-8b", on="dgx-h100/256", batch=256, estimators="event,simgrid")
    (refused,) = (answer for answer in found.answers if answer.time is None)
    assert refused.name == "simgrid"
    assert "SimGrid" in refused.refused


def test_one_estimator_or_an_unknown_one_is_no_cross_check() -> None:
    with pytest.raises(DescriptionError, match="give two or more"):
        volvelle.crosscheck("llama3-8b", on="dgx-h100/16", batch=32, estimators="event")
    with pytest.raises(UnknownNameError, match="eventt"):
        volvelle.crosscheck("llama3-8b", on="dgx-h100/16", batch=32, estimators="closed,eventt")


def test_a_layout_that_needs_more_chips_than_there_are_is_refused() -> None:
    with pytest.raises(MappingError, match="needs 64 accelerators"):
        volvelle.crosscheck("llama3-8b", on="dgx-h100/16", batch=32, tp=8, pp=8)


def test_ranges_are_those_that_estimate_gives_by_the_same_estimator() -> None:
    asked = {"on": "dgx-h100/16", "batch": 32, "tp": 4, "pp": 2}
    found = volvelle.crosscheck("llama3-8b", **asked, seed=3)
    for answer in found.answers:
        alone = volvelle.estimate("llama3-8b", **asked, seed=3, estimator=answer.name).estimate
        assert (answer.time, answer.range) == (alone.time, alone.time_range)
    assert found.basis == volvelle.estimate("llama3-8b", **asked).basis


def test_the_same_seed_gives_the_same_digits_and_another_one_others() -> None:
    asked = {"on": "dgx-h100/16", "batch": 32, "tp": 4, "pp": 2}
    first, again, other = (volvelle.crosscheck("llama3-8b", **asked, seed=seed) for seed in (0, 0, 1))
    assert [answer.range for answer in first.answers] == [answer.range for answer in again.answers]
    assert [answer.range for answer in first.answers] != [answer.range for answer in other.answers]


def test_a_difference_is_told_as_a_share_of_half_the_range_of_the_answer_it_refines() -> None:
    found = volvelle.crosscheck("llama3-8b", on="dgx-h100/16", batch=32, tp=4, pp=2)
    (told,) = found.differences
    span = found.answers[0].range
    assert span is not None
    assert told.of_doubt == pytest.approx(2.0 * abs(told.seconds) / (span.high - span.low))
    assert told.of_doubt < 1.0, "the two agree to a percent, and ranges are wider than that"


def test_an_answer_of_flows_is_as_sure_as_the_closed_form_in_proportion() -> None:
    found = volvelle.crosscheck("llama3-8b", on="dgx-h100/16", batch=32, tp=8, estimators="closed,event,flows")
    closed, _, flows = found.answers
    assert closed.range is not None
    assert flows.range is not None
    assert flows.range.high / flows.range.low == pytest.approx(closed.range.high / closed.range.low, rel=1e-9)


def test_the_suite_samples_nothing() -> None:
    found = crosscheck_suite(rows=SUITE[:1]).results[0]
    assert [answer.range for answer in found.check.answers] == [None, None]
    assert found.check.basis is None
    assert found.difference.of_doubt is None
