"""Traces of a few ranks say what more ranks do: held against what those really did, and when SMPI says they end."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.mpi_traces import PROGRAMS, REGULAR, one_switch, recorded, simulated
from tests.smpi.expansion import expanded
from volvelle.estimators.message_passing.retimed import retimed
from volvelle.workload.message_passing.loops import Loop, Node, rank_loops
from volvelle.workload.message_passing.scaling.extrapolation import extrapolation_of
from volvelle.workload.message_passing.summary import pairs_of
from volvelle.workload.message_passing.trace import MessageTrace, matched

RATE, LATENCY = 1e9, 1e-5
FEW, MANY = (4, 8, 16), 32


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recorded")


def made_and_recorded(program: str, few: tuple[int, ...], many: int, folder: Path) -> tuple[MessageTrace, MessageTrace]:
    found = extrapolation_of([recorded(program, count, folder) for count in few])
    made = found.trace(many)
    matched(made)
    return made, recorded(program, many, folder)


def same_calls(made: MessageTrace, real: MessageTrace) -> bool:
    columns = ("rank", "call", "partner", "size", "tag", "waited")
    return all(np.array_equal(getattr(made, name), getattr(real, name)) for name in columns)


def turns(nodes: tuple[Node, ...]) -> list[object]:
    """Counts of loops inside loops; without those of calls that are one and the same."""
    return [[node.count, turns(node.body)] for node in nodes if isinstance(node, Loop) and node.period > 1]


def outer(trace: MessageTrace, rank: int) -> list[tuple[int, int]]:
    """Loops by their turns, and how many collectives a turn has: what does not depend on who the partners are."""
    first = int(trace.first[rank])
    return [
        (node.count, int(trace.collective[first + node.first : first + node.first + node.events].sum()) // node.count)
        for node in rank_loops(trace, rank)
        if isinstance(node, Loop)
    ]


@pytest.mark.parametrize("program", ["ring", pytest.param("conjugate_gradient", marks=pytest.mark.long)])
def test_a_regular_program_on_16_ranks_is_made_from_4_and_8(folder: Path, program: str) -> None:
    assert same_calls(*made_and_recorded(program, (4, 8), 16, folder))


@pytest.mark.long
@pytest.mark.parametrize("program", REGULAR)
def test_messages_bytes_partners_and_loops_of_regular_programs_are_exact(folder: Path, program: str) -> None:
    made, real = made_and_recorded(program, FEW, MANY, folder)
    assert same_calls(made, real)
    for rank in range(MANY):
        assert turns(rank_loops(made, rank)) == turns(rank_loops(real, rank))


@pytest.mark.long
def test_messages_bytes_and_partners_of_the_irregular_program_are_within_five_percent(folder: Path) -> None:
    made, real = made_and_recorded("irregular", FEW, MANY, folder)
    ours, theirs = pairs_of(made), pairs_of(real)
    apart = {
        "partners": len(ours.source) / len(theirs.source) - 1.0,
        "messages": ours.messages.sum() / theirs.messages.sum() - 1.0,
        "bytes": ours.size.sum() / theirs.size.sum() - 1.0,
    }
    print("irregular on 32 ranks:", {name: f"{each:+.1%}" for name, each in apart.items()})
    assert max(map(abs, apart.values())) <= 0.05
    assert {tuple(outer(made, rank)) for rank in range(MANY)} == {tuple(outer(real, rank)) for rank in range(MANY)}


@pytest.mark.long
@pytest.mark.parametrize("program", PROGRAMS)
def test_the_time_of_more_ranks_is_within_ten_percent_of_smpi(folder: Path, program: str) -> None:
    if not (shutil.which("smpicc") and shutil.which("smpirun")):
        if os.environ.get("VOLVELLE_MPI") == "required":
            pytest.fail("there is no smpicc; run scripts/mpi")
        pytest.skip("there is no smpicc; scripts/mpi brings it")
    traces = {count: simulated(program, count, folder, rate=RATE, latency=LATENCY) for count in (*FEW, MANY)}
    made = extrapolation_of([traces[count] for count in FEW]).trace(MANY)
    ours = retimed(expanded(made), one_switch(MANY, rate=RATE, latency=LATENCY), contended=True).time
    print(
        f"{program} on {MANY} ranks: {ours:.5f} s, SMPI {traces[MANY].time:.5f} s, {ours / traces[MANY].time - 1:+.1%}"
    )
    assert ours == pytest.approx(traces[MANY].time, rel=0.1)
