"""A trace on another machine: by the same laws as everything else, and no faster than they allow."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.trace_files import MADE, chakra, chakra_attribute, chakra_node, kineto, operator, sized, written
from volvelle import Catalogue
from volvelle.errors import DescriptionError
from volvelle.estimators.rates import SustainedRates
from volvelle.estimators.trace_replay.breakdown import bound_times, critical_parts, operation_sums
from volvelle.estimators.trace_replay.operation_times import Bound, OperationTimes
from volvelle.estimators.trace_replay.replayed import replayed
from volvelle.interchange.traces.reading import read_trace
from volvelle.laws.nested_collectives import nested_all_reduce_time
from volvelle.laws.roofline import kernel_time
from volvelle.system.cluster import Cluster
from volvelle.workload.trace.counting import product_work
from volvelle.workload.trace.values import Work

CATALOGUE = Catalogue()


def machine(name: str) -> Cluster:
    return CATALOGUE.cluster(name)


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("on", [None, "dgx-a100/8", "dgx-h100/8", "tpu-v5p-pod/64", "frontier/64"])
def test_parts_of_the_longest_chain_add_up_to_the_time(name: str, on: str | None, tmp_path: Path) -> None:
    trace = read_trace(written(tmp_path, name), clock=1e9)
    found = replayed(trace, None if on is None else machine(on))
    assert sum(part.time for part in critical_parts(found)) == pytest.approx(found.time, rel=1e-12, abs=1e-18)
    assert sum(row.count for row in operation_sums(found)) == len(trace.operations)


def test_a_profile_without_a_machine_takes_as_long_as_was_measured(tmp_path: Path) -> None:
    trace = read_trace(written(tmp_path, "profile.json"))
    assert replayed(trace).time == pytest.approx(trace.span, rel=1e-12)


@pytest.mark.parametrize("name", ["profile.json", "profile.json.gz"])
def test_the_same_machine_changes_no_operation(name: str, tmp_path: Path) -> None:
    trace = read_trace(written(tmp_path, name))
    for same in (machine("dgx-a100/8"), machine("tpu-v5p-pod/64")):
        for operation, timed in zip(trace.operations, replayed(trace, same, source=same).timed, strict=True):
            if operation.communication is None:
                assert timed.seconds == pytest.approx(operation.seconds, rel=1e-12)


def test_an_operation_takes_the_time_that_the_law_gives_its_kernel() -> None:
    cluster = machine("dgx-h100/8")
    rates = SustainedRates.of(cluster, "bf16")
    timed = OperationTimes(cluster)(Work("given", matrix_flop=1e12, traffic=1e6, element="bf16"))
    assert timed is not None
    law = kernel_time(1e12, 1e6, compute_rate=rates.matrix_rate, memory_rate=rates.memory_rate)
    assert timed.seconds == pytest.approx(float(law + rates.kernel_launch_time), rel=1e-12)
    assert timed.bound is Bound.COMPUTE


def test_large_products_are_bound_by_compute_thin_ones_by_memory_and_small_sums_by_their_launch() -> None:
    times = OperationTimes(machine("dgx-h100/8"))
    works = (
        product_work(8192, 8192, 8192, 1, "bf16", 2.0),
        product_work(1, 16384, 16384, 1, "bf16", 2.0),
        Work("elementwise", vector_flop=10.0, traffic=80.0),
    )
    found = [timed.bound for timed in map(times, works) if timed is not None]
    assert found == [Bound.COMPUTE, Bound.MEMORY, Bound.LAUNCH]


def test_an_all_reduce_takes_what_the_law_of_the_network_says(tmp_path: Path) -> None:
    cluster = machine("dgx-h100/8")
    trace = read_trace(written(tmp_path, "rank.et"))
    found = replayed(trace, cluster)
    law = nested_all_reduce_time(1e8, SustainedRates.of(cluster, "bf16").tiers(8.0, 1.0))
    assert found.timed[1].seconds == pytest.approx(float(law), rel=1e-12)
    assert found.timed[1].bound is Bound.NETWORK


def test_a_group_that_the_machine_has_no_room_for_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match="spans 8 ranks"):
        replayed(read_trace(written(tmp_path, "profile.json.gz")), machine("dgx-h100/4"))


def test_a_copy_from_the_host_goes_over_its_link_and_stays_as_measured_where_there_is_none(tmp_path: Path) -> None:
    copy = {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": 7, "ts": 0.0}
    copy |= {"dur": 500.0, "args": {"device": 0, "stream": 7, "correlation": 1, "bytes": 10_000_000}}
    trace = read_trace(written(tmp_path, "profile.json", kineto([copy])))
    linked, bare = machine("dgx-h100/8"), replace(machine("dgx-h100/8"), host_rate=None)
    rate = SustainedRates.of(linked, "bf16").host_rate
    assert rate is not None
    assert replayed(trace, linked).timed[0].seconds == pytest.approx(1e7 / float(rate), rel=1e-9)
    assert replayed(trace, linked).timed[0].bound is Bound.HOST_LINK
    assert replayed(trace, bare).timed[0].bound is Bound.MEASURED


def test_a_faster_chip_is_never_slower(tmp_path: Path) -> None:
    for name in MADE:
        trace = read_trace(written(tmp_path, name), clock=1e9)
        if trace.host_work:
            continue  # its time is that of the host, whose dispatch is fitted for each machine
        assert replayed(trace, machine("dgx-h100/8")).time <= replayed(trace, machine("dgx-a100/8")).time * (1 + 1e-12)


def test_what_is_not_understood_keeps_its_time_and_says_so(tmp_path: Path) -> None:
    events = [operator("mylib::strange", 0.0, 40.0), operator("aten::mm", 40.0, 9.0, **sized([8, 8], [8, 8]))]
    found = replayed(read_trace(written(tmp_path, "profile.json", kineto(events))), machine("dgx-h100/8"))
    assert found.timed[0].seconds == pytest.approx(40e-6)
    assert found.timed[0].bound is Bound.MEASURED
    assert bound_times(found)[Bound.MEASURED.value] == pytest.approx(40e-6)


def test_a_round_trip_through_chakra_keeps_seconds_to_the_last_bit(tmp_path: Path) -> None:
    data = chakra()
    exact = [1.23456789e-5, 9.87654321e-6]
    for number, seconds in enumerate(exact, 10):
        streams = chakra_attribute("volvelle_seconds", 3, seconds) + chakra_attribute("volvelle_stream", 7, 0)
        data += chakra_node(number, 4, (number - 1,) if number > 10 else (3,), attributes=streams)
    found = replayed(read_trace(written(tmp_path, "rank.et", data)))
    assert found.time == pytest.approx(100e-6 + 50e-6 + 1.00000001e-4 + sum(exact), rel=1e-12)


def test_a_profile_of_the_machine_scales_what_nobody_measured(tmp_path: Path) -> None:
    cluster = machine("dgx-a100/8")
    profile = read_trace(written(tmp_path, "profile.json"))
    graph = read_trace(written(tmp_path, "recorded.json"))
    found = replayed(graph, cluster, source=cluster, profile=profile, group=4)
    host = sum(
        one.seconds or 0.0
        for one, timed in zip(profile.operations, replayed(profile).timed, strict=True)
        if timed.bound is Bound.HOST
    )
    assert found.timed[0].seconds == pytest.approx(80e-6 + host / 3, rel=1e-9)
