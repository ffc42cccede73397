"""What software copies of weights and gradients."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.conftest import small_cluster, small_gpt
from volvelle import Catalogue, ClosedForm, ParallelMapping, TrainingStep, transformer
from volvelle.estimators.event_driven.estimator import EventDriven
from volvelle.estimators.rates import SustainedRates
from volvelle.estimators.training.layer_phases import layer_phases
from volvelle.estimators.training.lines import ADDED, COPIES, GRADIENTS, LISTED
from volvelle.estimators.training.resource_use import resource_use
from volvelle.mapping.parallelism import Recompute, Schedule
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
    """Seconds of a step, of what is copied and what is listed."""
    answer = (EventDriven() if replayed else ClosedForm()).estimate(step, cluster, mapping)
    return sum(part.time for part in answer.contributions if part.name in (COPIES.name, LISTED.name, ADDED.name))


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


@pytest.mark.parametrize("recompute", list(Recompute), ids=str)
@pytest.mark.parametrize("replayed", [False, True])
def test_lists_of_parts_cost_the_host_every_layer_and_rank(recompute: Recompute, replayed: bool) -> None:
    """Weights before each pass, and where a backward pass computes a layer again, before that too."""
    cluster = copying(list_gather_time=22e-6, list_reduce_time=114e-6, list_restore_time=86e-6)
    gathers = 3 if recompute is Recompute.FULL else 2
    each = _MICRO_BATCHES * (gathers * 22e-6 + 114e-6) + 86e-6
    mapping = replace(_SHARED, recompute=recompute)
    found = copies(_STEP, cluster, mapping, replayed=replayed)
    assert found == pytest.approx(_STEP.model.layers * mapping.data * each)


def test_lists_take_the_host_and_not_the_memory() -> None:
    lists = copying(list_gather_time=22e-6, list_reduce_time=114e-6, list_restore_time=86e-6)
    told = ClosedForm().estimate(_STEP, lists, _SHARED)
    assert [(part.part, part.resource) for part in told.contributions if part.name == LISTED.name] == [("host", "host")]
    plain, listed = (
        resource_use(_STEP, cluster, _SHARED, layer_phases(_STEP, cluster, _SHARED), told.time)[0]
        for cluster in (small_cluster(), lists)
    )
    assert listed.bytes == pytest.approx(plain.bytes)


@pytest.mark.parametrize(
    "mapping", [_SHARED, replace(_SHARED, zero_group=2), replace(_SHARED, zero=2), replace(_SHARED, zero=1)], ids=str
)
def test_where_nothing_is_hidden_a_replay_waits_for_every_copy_and_list_as_the_closed_form_does(
    mapping: ParallelMapping,
) -> None:
    moved = {"gather_copy_bytes": 2.0, "reduce_copy_bytes": 4.0, "wide_reduce_copy_bytes": 6.0}
    cluster = copying(**moved, list_gather_time=22e-6, list_reduce_time=114e-6, list_restore_time=86e-6)
    mapping = replace(mapping, overlap=False, recompute=Recompute.FULL)
    closed, replayed = (one.estimate(_STEP, cluster, mapping).time for one in (ClosedForm(), EventDriven()))
    assert replayed == pytest.approx(closed, rel=1e-6)


@pytest.mark.parametrize("estimator", [ClosedForm(), EventDriven()])
def test_lists_of_parts_halt_the_device_so_that_nothing_hides(estimator: ClosedForm | EventDriven) -> None:
    lists = copying(list_gather_time=1e-12)
    asked, forbidden = (
        estimator.estimate(_STEP, lists, replace(_SHARED, overlap=overlap)).time for overlap in (True, False)
    )
    assert asked == forbidden
    second = replace(_SHARED, zero=2)
    assert (
        estimator.estimate(_STEP, lists, second).time
        < estimator.estimate(_STEP, lists, replace(second, overlap=False)).time
    )


def test_weights_are_gathered_a_third_time_where_a_layer_is_computed_again_and_nothing_is_kept() -> None:
    mapping = replace(_SHARED, overlap=False)

    def exchanged(cluster: Cluster, recompute: Recompute) -> float:
        answer = ClosedForm().estimate(_STEP, cluster, replace(mapping, recompute=recompute))
        return sum(part.time for part in answer.contributions if part.name == GRADIENTS.name)

    lists, plain = copying(list_gather_time=22e-6), small_cluster()
    assert exchanged(lists, Recompute.NONE) == exchanged(plain, Recompute.NONE) == exchanged(plain, Recompute.FULL)
    assert exchanged(lists, Recompute.FULL) > 1.2 * exchanged(lists, Recompute.NONE)


def test_only_layers_are_gathered_and_copied_a_third_time() -> None:
    """As large a vocabulary as one likes is gathered twice."""
    lists = copying(gather_copy_bytes=2.0, list_gather_time=1e-12)

    def longer(vocabulary: int) -> tuple[float, float]:
        step = TrainingStep(model=transformer(replace(small_gpt(), vocabulary=vocabulary)), batch=64)
        none, full = (
            ClosedForm().estimate(step, lists, replace(_SHARED, recompute=recompute, overlap=False))
            for recompute in (Recompute.NONE, Recompute.FULL)
        )
        return tuple(
            sum(
                part.time * sign
                for one, sign in ((full, 1), (none, -1))
                for part in one.contributions
                if part.name == name
            )
            for name in (GRADIENTS.name, COPIES.name)
        )

    few, many = longer(1024), longer(65536)
    assert few[0] > 0.0 < few[1]
    assert many[0] == pytest.approx(few[0], rel=0.1)  # the latency of a gather is shared out by bytes
    assert many[1] == pytest.approx(few[1])


def test_no_list_is_made_where_weights_are_not_shared_out() -> None:
    cluster = copying(list_gather_time=22e-6, list_reduce_time=114e-6, list_restore_time=86e-6)
    for mapping in (replace(_SHARED, zero=2), replace(_SHARED, data=1, tensor=32)):
        assert copies(_STEP, cluster, mapping) == 0.0


def test_deepspeed_of_2021_loses_as_much_more_as_there_are_more_ranks() -> None:
    """Beside a third gather of weights, what it loses there does not shrink with the batch of a chip."""
    catalogue = Catalogue()
    lost = []
    for chips in (384, 768):
        old, new = (
            ClosedForm().estimate(
                TrainingStep(model=transformer(catalogue.model("gpt3-175b")), batch=chips, gradient_element="fp16"),
                catalogue.cluster(f"dgx-a100/{chips}", stack=stack),
                ParallelMapping(data=chips, zero=3, sequence_parallel=False, recompute=Recompute.FULL, overlap=False),
            )
            for stack in ("deepspeed-2021", "deepspeed")
        )
        lost.append(old.time - new.time)
    assert lost[0] > 8.0
    assert 1.6 < lost[1] / lost[0] < 2.0


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
