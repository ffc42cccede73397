"""Replays of some sampled machines, carried on to all by the closed form."""

import numpy as np
import pytest

from volvelle import ClosedForm
from volvelle.estimators.event_driven.estimator import EventDriven
from volvelle.estimators.event_driven.under_uncertainty import replayed_under_uncertainty
from volvelle.estimators.sampler import Stratified
from volvelle.estimators.uncertainty import sampled
from volvelle.laws.sensitivity import by_control_variate
from volvelle.mapping.parallelism import MappingTable
from volvelle.verbs.question import ResolvedStep, question_of


@pytest.fixture(scope="module")
def asked() -> ResolvedStep:
    return question_of("gpt2", on="dgx-a100/8", batch=16, tensor=2, pipeline=2, zero=1)


def test_replays_of_few_machines_tell_the_mean_of_all_with_less_scatter(asked: ResolvedStep) -> None:
    machines, _ = sampled(asked.cluster, sampler=Stratified(48, seed=1))
    cheap = np.log(ClosedForm().table(asked.step, machines, MappingTable.of([asked.mapping])).time)
    dear = np.log([EventDriven().estimate(asked.step, machines.row(at), asked.mapping).time for at in range(48)])
    generator = np.random.default_rng(0)
    plain, carried = [], []
    for _ in range(200):
        some = generator.choice(48, size=8, replace=False)
        found, _ = by_control_variate(dear[some], cheap[some], cheap)
        plain.append(float(dear[some].mean()))
        carried.append(float(found.mean()))
    assert float(np.mean(carried)) == pytest.approx(float(dear.mean()), abs=0.1 * float(np.std(dear)))
    assert np.var(carried) < 0.2 * np.var(plain)


def test_replayed_samples_lie_around_the_replay_and_say_how_well_they_go_with_the_closed_form(
    asked: ResolvedStep,
) -> None:
    question = (asked.step, asked.cluster, asked.mapping)
    plain, _ = replayed_under_uncertainty(*question, seed=0)
    some, samples = replayed_under_uncertainty(*question, seed=0, replays=8)
    assert some.time == plain.time
    assert some.facts["replay_correlation"] > 0.9
    assert "replay_correlation" not in plain.facts
    assert some.time_range is not None
    assert plain.time_range is not None
    assert some.time_range.low < some.time < some.time_range.high
    assert float(np.median(samples.time)) == pytest.approx(some.time, rel=0.05)
    for mine, theirs in ((some.time_range.low, plain.time_range.low), (some.time_range.high, plain.time_range.high)):
        assert mine == pytest.approx(theirs, rel=0.05)
