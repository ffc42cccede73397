"""What software copies of weights and gradients."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.conftest import small_cluster, small_gpt
from volvelle import ClosedForm, ParallelMapping, TrainingStep, transformer
from volvelle.estimators.event_driven.estimator import EventDriven
from volvelle.estimators.rates import SustainedRates
from volvelle.estimators.training.lines import ADDED, COPIES
from volvelle.mapping.parallelism import Schedule
from volvelle.system.cluster import Cluster
from volvelle.workload.training import Counting

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
    return sum(part.time for part in answer.contributions if part.name in (COPIES.name, ADDED.name))


def rate_of(cluster: Cluster) -> float:
    """Bytes a second of its memory."""
    return float(np.max(SustainedRates.of(cluster, _STEP.element).memory_rate))


def test_copies_take_the_bytes_of_every_gather_and_reduction_at_the_rate_of_the_memory() -> None:
    cluster = copying()
    parameters = ClosedForm().estimate(_STEP, cluster, _SHARED).facts["parameters_per_chip"]
    moved = parameters * (2.0 * 2.0 * 2.0 + 6.0)
    assert copies(_STEP, cluster, _SHARED) == pytest.approx(_MICRO_BATCHES * moved / rate_of(cluster))
    narrow = replace(_STEP, gradient_element="bf16")
    assert copies(narrow, cluster, _SHARED) == pytest.approx(
        _MICRO_BATCHES * (moved - 2.0 * parameters) / rate_of(cluster)
    )


def test_what_is_shared_out_at_the_end_of_a_step_is_copied_once() -> None:
    """With ZeRO-1 gradients in and weights out, with ZeRO-2 weights alone: gradients leave after every micro-batch."""
    cluster, first, second = copying(), replace(_SHARED, zero=1), replace(_SHARED, zero=2)
    parameters = ClosedForm().estimate(_STEP, cluster, first).facts["parameters_per_chip"]
    assert copies(_STEP, cluster, first) == pytest.approx(parameters * (2.0 * 2.0 + 6.0) / rate_of(cluster))
    assert copies(_STEP, cluster, second) == pytest.approx(
        parameters * (2.0 * 2.0 + _MICRO_BATCHES * 6.0) / rate_of(cluster)
    )


@pytest.mark.parametrize(
    "mapping", [replace(_SHARED, zero=0), replace(_SHARED, tensor=16, pipeline=2, data=1)], ids=str
)
def test_nothing_is_copied_where_nothing_is_shared_out(mapping: ParallelMapping) -> None:
    assert copies(_STEP, copying(), mapping) == 0.0


def test_wide_weights_and_gradients_take_twice_the_bytes_of_narrow_ones() -> None:
    wide = replace(_STEP, weight_element="fp32", gradient_element="fp32")
    narrow = replace(_STEP, gradient_element="bf16")
    assert copies(wide, copying(), _SHARED) == pytest.approx(2.0 * copies(narrow, copying(), _SHARED))


def test_copies_make_a_step_longer_by_what_they_take() -> None:
    plain, longer = (ClosedForm().estimate(_STEP, one, _SHARED).time for one in (small_cluster(), copying()))
    assert longer - plain == pytest.approx(copies(_STEP, copying(), _SHARED))


def test_comet_counts_no_copies() -> None:
    assert copies(replace(_STEP, counting=Counting.COMET), copying(), _SHARED) == 0.0


def test_gradients_are_added_to_wider_ones_after_every_micro_batch_where_no_product_does() -> None:
    cluster, mapping = copying(gradient_add_bytes=18.0), replace(_SHARED, zero=0)
    estimate = ClosedForm().estimate(_STEP, cluster, mapping)
    moved = 18.0 * estimate.facts["parameters_per_chip"]
    assert copies(_STEP, cluster, mapping) == pytest.approx(_MICRO_BATCHES * moved / rate_of(cluster))
    assert copies(_STEP, cluster, _SHARED) == 0.0  # ZeRO-2 and 3 have optimisers of their own
    for other in (replace(_STEP, gradient_element="bf16"), replace(_STEP, element="fp16")):
        assert copies(other, cluster, mapping) == 0.0


def test_what_adds_gradients_up_is_told_apart_with_its_own_law() -> None:
    estimate = ClosedForm().estimate(_STEP, copying(gradient_add_bytes=18.0), replace(_SHARED, zero=0))
    laws = {part.name: part.law for part in estimate.contributions if part.time > 0.0}
    assert laws[ADDED.name] == "added_gradients_time"
    assert COPIES.name not in laws


@pytest.mark.parametrize(
    "mapping",
    [
        _SHARED,
        replace(_SHARED, zero=1),
        replace(_SHARED, zero=2, pipeline=2, tensor=4),
        replace(_SHARED, zero=3, zero_group=2),
    ],
    ids=str,
)
def test_a_chip_copies_in_a_replay_what_the_closed_form_says_without_what_it_waits(mapping: ParallelMapping) -> None:
    """Slot by slot there; a stage waits for what others copy, which is idle time of the replay."""
    waits = mapping.pipeline > 1
    closed, replayed = (copies(_STEP, copying(), mapping, replayed=one) for one in (False, True))
    assert replayed == pytest.approx(closed, rel=0.15 if waits else 1e-9)
    assert replayed <= closed * (1 + 1e-9)


@pytest.mark.parametrize("schedule", [Schedule.ONE_FORWARD_ONE_BACKWARD, Schedule.ZERO_BUBBLE, Schedule.DUAL_PIPE])
def test_a_replayed_pipeline_gets_longer_by_copies_as_the_closed_form_does(schedule: Schedule) -> None:
    """Large ones, so that what stages wait for each other counts."""
    mapping = ParallelMapping(tensor=4, pipeline=4, data=2, zero=0, schedule=schedule)
    longer = []
    for estimator in (ClosedForm(), EventDriven()):
        plain, more = (
            estimator.estimate(_STEP, one, mapping).time
            for one in (small_cluster(), copying(gradient_add_bytes=1000.0))
        )
        longer.append(more - plain)
    assert longer[1] == pytest.approx(longer[0], rel=0.15)
