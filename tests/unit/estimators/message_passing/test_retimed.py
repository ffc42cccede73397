"""A trace on another machine: what waits for what, and which rank a deadlock stops first."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.mpi_traces import one_switch, trace_of
from volvelle.errors import DescriptionError, GraphError
from volvelle.estimators.message_passing.retimed import retimed
from volvelle.system.cluster import Cluster

RATE, LATENCY = 1e9, 1e-5
LONG = 1_000_000
TRANSFER = LATENCY + LONG / RATE


def machine(ranks: int, *, rate: float = RATE) -> Cluster:
    return one_switch(ranks, rate=rate, latency=LATENCY)


@pytest.mark.parametrize("contended", [False, True])
def test_a_receive_ends_when_its_message_has_come(tmp_path: Path, contended: bool) -> None:
    trace = trace_of(tmp_path, f"0 send 1 {LONG} 1 - 0.5", f"1 recv 0 {LONG} 1 - 0.1")
    found = retimed(trace, machine(2), contended=contended)
    assert found.trace.start == pytest.approx([0.5, 0.1])
    assert found.trace.end == pytest.approx([0.5 + TRANSFER, 0.5 + TRANSFER])


@pytest.mark.parametrize("contended", [False, True])
def test_a_short_message_leaves_before_its_receiver_is_there_and_a_long_one_does_not(
    tmp_path: Path, contended: bool
) -> None:
    trace = trace_of(tmp_path, f"0 send 1 {LONG} 1", f"1 recv 0 {LONG} 1 - 0.5")
    assert retimed(trace, machine(2), contended=contended).time == pytest.approx(0.5 + TRANSFER)
    early = retimed(trace, machine(2), contended=contended, eager=LONG)
    assert early.time == pytest.approx(0.5)
    assert early.trace.end[0] == 0.0


def test_messages_that_leave_one_port_at_once_share_it_unless_each_has_the_network_to_itself(tmp_path: Path) -> None:
    rows = [f"0 isend {other} {LONG} 1 {other}" for other in (1, 2, 3)] + [
        f"0 wait - - - {other}" for other in (1, 2, 3)
    ]
    rows += [f"{other} recv 0 {LONG} 1" for other in (1, 2, 3)]
    trace = trace_of(tmp_path, *rows)
    assert retimed(trace, machine(4), contended=True).time == pytest.approx(LATENCY + 3 * LONG / RATE)
    assert retimed(trace, machine(4), contended=False).time == pytest.approx(TRANSFER)


def test_a_collective_waits_for_its_last_member(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, "0 allreduce - 8 - - 0.25", "1 allreduce - 8 - - 0.75", "2 allreduce - 8 - - 0.5")
    found = retimed(trace, machine(3)).trace
    assert found.end[0] == found.end[1] == found.end[2] > 0.75


def test_a_faster_network_or_processor_is_never_slower(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, f"0 send 1 {LONG} 1 - 0.5", f"1 recv 0 {LONG} 1 - 0.1", "0 barrier", "1 barrier")
    usual = retimed(trace, machine(2)).time
    assert retimed(trace, machine(2, rate=2 * RATE)).time < usual
    assert retimed(trace, machine(2), ratio=0.5).time < usual


@pytest.mark.parametrize("contended", [False, True])
def test_a_deadlock_names_the_first_blocked_rank_and_what_it_waits_for(tmp_path: Path, contended: bool) -> None:
    rows = ("0 barrier", "1 barrier", "0 recv 1 8 1", "0 send 1 8 1", "1 recv 0 8 1", "1 send 0 8 1")
    said = (
        r"line 4: recv of rank 0 from 1, tag 1 is a deadlock: rank 0 is the first of 2 blocked, "
        r"it waits for send of rank 1 \(line 7\)"
    )
    with pytest.raises(GraphError, match=said):
        retimed(trace_of(tmp_path, *rows), machine(2), contended=contended)


def test_long_sends_to_each_other_are_a_deadlock_that_a_higher_eager_limit_cures(tmp_path: Path) -> None:
    rows = (f"0 send 1 {LONG} 1", f"0 recv 1 {LONG} 1", f"1 send 0 {LONG} 1", f"1 recv 0 {LONG} 1")
    trace = trace_of(tmp_path, *rows)
    with pytest.raises(GraphError, match="or raise the eager limit of 65,536 bytes"):
        retimed(trace, machine(2))
    assert retimed(trace, machine(2), eager=LONG).time == pytest.approx(TRANSFER)


def test_a_machine_with_too_few_chips_is_refused(tmp_path: Path) -> None:
    trace = replace(trace_of(tmp_path, "0 barrier", "1 barrier", "2 barrier"))
    with pytest.raises(
        DescriptionError, match="has 3 ranks, and switch/2 has 2 chips; take one with as many, like switch/3"
    ):
        retimed(trace, machine(2))
