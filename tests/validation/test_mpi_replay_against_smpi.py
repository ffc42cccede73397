"""A replay of recorded MPI programs ends when SimGrid's SMPI says that it does."""

import os
from pathlib import Path

import pytest

from tests.mpi_traces import PROGRAMS, recorded, without_computation
from volvelle.catalogue import Catalogue
from volvelle.estimators.message_passing.retimed import retimed
from volvelle.interchange.mpi_traces.smpi import smpi_time, smpirun
from volvelle.system.cluster import Cluster, Dimension
from volvelle.system.link import Link
from volvelle.system.topologies import Switch
from volvelle.workload.message_passing.expansion import expanded

RATE, LATENCY = 1e9, 1e-5


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if smpirun() is None:
        if os.environ.get("VOLVELLE_SIMGRID") == "required":
            pytest.fail("there is no smpirun; run scripts/simgrid")
        pytest.skip("there is no smpirun; scripts/simgrid brings it")
    return tmp_path_factory.mktemp("recorded")


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(
    "eager", [0.0, 65536.0], ids=["every message meets its receiver", "short messages leave early"]
)
def test_a_replay_ends_within_a_percent_of_smpi(folder: Path, program: str, eager: float) -> None:
    trace = without_computation(recorded(program, 8, folder))
    link = Link(name="wire", rate=RATE, latency=LATENCY)
    part = Dimension(name="network", size=trace.ranks, topology=Switch(), link=link)
    cluster = Cluster(name="switch", chip=Catalogue().chip("h100-sxm"), dimensions=(part,))
    ours = retimed(expanded(trace), cluster, eager=eager, contended=True).time
    assert ours == pytest.approx(smpi_time(trace, rate=RATE, latency=LATENCY, eager=eager), rel=0.01)
