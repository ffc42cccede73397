"""The host that prepares kernels, and the switches that spare it or hide exchanges."""

from dataclasses import replace

import pytest

from tests.conftest import small_llama
from volvelle import Catalogue, ParallelMapping, TrainingStep
from volvelle.estimators.calibration import with_constants
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.mapping.parallelism import Graphs
from volvelle.workload.families.shape import Experts
from volvelle.workload.families.transformer import transformer

EXPERTS = transformer(replace(small_llama(), name="experts", experts=Experts(count=16, chosen=2, ffn=512)))
LAYOUT = ParallelMapping(tensor=1, data=64, expert=16, zero=0)
SLOW_HOST = {"host_dispatch_time": 1e-3, "routing_dispatch": 50.0}


def seconds(mapping: ParallelMapping, *, element: str = "bf16", **constants: float) -> float:
    cluster = with_constants(Catalogue().cluster("dgx-h100/64"), constants)
    return ClosedForm().estimate(TrainingStep(model=EXPERTS, batch=64, element=element), cluster, mapping).time


def test_the_more_kernels_are_started_together_the_less_a_slow_host_costs() -> None:
    times = [seconds(replace(LAYOUT, graphs=graphs), **SLOW_HOST) for graphs in Graphs]
    assert times == sorted(times, reverse=True)
    assert len(set(times)) == len(times)
    assert times[-1] == pytest.approx(seconds(LAYOUT, host_dispatch_time=0.0))


def test_graphs_change_nothing_where_the_host_keeps_up() -> None:
    assert seconds(replace(LAYOUT, graphs=Graphs.WHOLE), host_dispatch_time=0.0) == seconds(
        LAYOUT, host_dispatch_time=0.0
    )


def test_a_dispatcher_on_the_chip_spares_the_host_unless_two_micro_batches_are_dealt_out() -> None:
    relayed = replace(LAYOUT, hierarchical_dispatch=True)
    assert seconds(relayed, **SLOW_HOST) < seconds(LAYOUT, **SLOW_HOST)
    assert seconds(replace(relayed, expert_overlap=True), **SLOW_HOST) > seconds(relayed, **SLOW_HOST)


def test_exchanges_with_experts_hide_behind_another_micro_batch() -> None:
    fast = {"host_dispatch_time": 0.0, "communication_sm_share": 0.0}
    assert seconds(replace(LAYOUT, expert_overlap=True), **fast) < seconds(LAYOUT, **fast)


def test_plain_all_to_alls_cost_as_much_more_as_the_constant_says() -> None:
    fast = {"host_dispatch_time": 0.0}
    one, two, three = (seconds(LAYOUT, plain_dispatch=factor, **fast) for factor in (1.0, 2.0, 3.0))
    assert one < two < three
    assert three - two == pytest.approx(two - one)
    relayed = replace(LAYOUT, hierarchical_dispatch=True)
    assert seconds(relayed, plain_dispatch=3.0, **fast) == seconds(relayed, plain_dispatch=1.0, **fast)


def test_narrow_attention_is_faster_only_where_other_products_are_narrow() -> None:
    fast = {"host_dispatch_time": 0.0}
    narrow = replace(LAYOUT, narrow_attention=True)
    assert seconds(narrow, **fast) == seconds(LAYOUT, **fast)
    assert seconds(narrow, element="fp8", **fast) <= seconds(LAYOUT, element="fp8", **fast)


def test_what_stages_hand_over_counts_as_far_as_it_is_waited_for() -> None:
    piped = ParallelMapping(tensor=1, pipeline=4, data=16, zero=0)
    whole, half, none = (seconds(piped, hand_over_exposure=share) for share in (1.0, 0.5, 0.0))
    assert whole > half > none
    assert whole - half == pytest.approx(half - none)
