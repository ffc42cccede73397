"""What software copies of weights and gradients."""

from dataclasses import replace
from typing import Any

import pytest

from tests.conftest import small_cluster, small_gpt
from volvelle import ClosedForm, ParallelMapping, TrainingStep, transformer
from volvelle.estimators.event_driven.estimator import EventDriven
from volvelle.estimators.rates import SustainedRates
from volvelle.estimators.training.lines import COPIES
from volvelle.system.cluster import Cluster

_STEP = TrainingStep(model=transformer(small_gpt()), batch=64)
_SHARED = ParallelMapping(tensor=8, data=4, zero=3)
_MICRO_BATCHES = 16


def copying(**moved: float) -> Cluster:
    """A machine whose software copies so much; unless it is said, what fully_shard does."""
    said: dict[str, Any] = dict(moved)
    return small_cluster(
        **(said or {"gather_copy_bytes": 2.0, "reduce_copy_bytes": 4.0, "wide_reduce_copy_bytes": 6.0})
    )


def copies(step: TrainingStep, cluster: Cluster, mapping: ParallelMapping, *, replayed: bool = False) -> float:
    """Seconds of a step."""
    answer = (EventDriven() if replayed else ClosedForm()).estimate(step, cluster, mapping)
    return sum(part.time for part in answer.contributions if part.name == COPIES.name)


def test_copies_take_the_bytes_of_every_gather_and_reduction_at_the_rate_of_the_memory() -> None:
    cluster = copying()
    parameters = ClosedForm().estimate(_STEP, cluster, _SHARED).facts["parameters_per_chip"]
    rate = SustainedRates.of(cluster, _STEP.element).memory_rate
    moved = parameters * (2.0 * 2.0 * 2.0 + 6.0)
    assert copies(_STEP, cluster, _SHARED) == pytest.approx(_MICRO_BATCHES * moved / rate)
    narrow = replace(_STEP, gradient_element="bf16")
    assert copies(narrow, cluster, _SHARED) == pytest.approx(_MICRO_BATCHES * (moved - 2.0 * parameters) / rate)


def test_gradients_alone_are_copied_where_weights_are_not_shared_out() -> None:
    weights, both = copying(gather_copy_bytes=2.0), copying()
    assert copies(_STEP, weights, replace(_SHARED, zero=2)) == 0.0
    assert 0.0 < copies(_STEP, both, replace(_SHARED, zero=2)) < copies(_STEP, both, _SHARED)


@pytest.mark.parametrize(
    "mapping", [replace(_SHARED, zero=1), replace(_SHARED, tensor=16, pipeline=2, data=1)], ids=str
)
def test_nothing_is_copied_where_nothing_is_shared_out(mapping: ParallelMapping) -> None:
    assert copies(_STEP, copying(), mapping) == 0.0


def test_copies_make_a_step_longer_by_what_they_take() -> None:
    plain, longer = (ClosedForm().estimate(_STEP, one, _SHARED).time for one in (small_cluster(), copying()))
    assert longer - plain == pytest.approx(copies(_STEP, copying(), _SHARED))


def test_a_replay_copies_what_the_closed_form_does() -> None:
    closed, replayed = (copies(_STEP, copying(), _SHARED, replayed=one) for one in (False, True))
    assert replayed == pytest.approx(closed, rel=1e-9)


def test_gradients_are_added_to_wider_ones_after_every_micro_batch_where_no_product_does() -> None:
    cluster, mapping = copying(gradient_add_bytes=18.0), replace(_SHARED, zero=0)
    estimate = ClosedForm().estimate(_STEP, cluster, mapping)
    moved = 18.0 * estimate.facts["parameters_per_chip"]
    taken = copies(_STEP, cluster, mapping)
    assert taken == pytest.approx(_MICRO_BATCHES * moved / SustainedRates.of(cluster, _STEP.element).memory_rate)
    assert copies(_STEP, cluster, mapping, replayed=True) == pytest.approx(taken, rel=1e-9)
    assert copies(replace(_STEP, gradient_element="bf16"), cluster, mapping) == 0.0
    assert copies(_STEP, cluster, _SHARED) == 0.0  # ZeRO-2 and 3 have optimisers of their own


def test_stages_wait_for_what_others_copy() -> None:
    cluster, mapping = copying(gradient_add_bytes=18.0), replace(_SHARED, tensor=4, pipeline=2, zero=0)
    alone = ClosedForm().estimate(_STEP, cluster, mapping)
    moved = 18.0 * alone.facts["parameters_per_chip"] / SustainedRates.of(cluster, _STEP.element).memory_rate
    assert 1.0 < copies(_STEP, cluster, mapping) / (_MICRO_BATCHES * moved) < 1.5
