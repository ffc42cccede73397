"""A replay of recorded MPI programs ends when SimGrid's SMPI says that it does."""

import os
from pathlib import Path

import pytest

from tests.mpi_traces import PROGRAMS, one_switch, recorded, without_computation
from tests.smpi.expansion import expanded
from tests.smpi.recorded_programs import smpi_time, smpirun
from volvelle.estimators.message_passing.retimed import retimed

RATE, LATENCY = 1e9, 1e-5


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if smpirun() is None:
        if os.environ.get("VOLVELLE_MPI") == "required":
            pytest.fail("there is no smpirun; run scripts/mpi")
        pytest.skip("there is no smpirun; scripts/mpi brings it")
    return tmp_path_factory.mktemp("recorded")


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(
    "eager", [0.0, 65536.0], ids=["every message meets its receiver", "short messages leave early"]
)
def test_a_replay_ends_within_a_percent_of_smpi(folder: Path, program: str, eager: float) -> None:
    trace = without_computation(recorded(program, 8, folder))
    cluster = one_switch(trace.ranks, rate=RATE, latency=LATENCY)
    ours = retimed(expanded(trace), cluster, eager=eager, contended=True).time
    theirs = smpi_time(trace, rate=RATE, latency=LATENCY, eager=eager)
    print(f"{program} on 8 ranks, eager {eager:.0f}: {ours:.6f} s, SMPI {theirs:.6f} s, {ours / theirs - 1:+.2%}")
    assert ours == pytest.approx(theirs, rel=0.01)
