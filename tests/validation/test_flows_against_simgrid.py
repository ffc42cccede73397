"""Ends of flows by an engine that we did not write; scripts/simgrid all looks at six times as many cases."""

import os

import pytest

from against_simgrid import NETWORKS, TRAFFIC, case, difference
from volvelle.interchange.simgrid.engine import simgrid_python


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("seed", [1, 6])
def test_every_flow_ends_when_simgrid_says(name: str, seed: int) -> None:
    if simgrid_python() is None:
        assert os.environ.get("VOLVELLE_SIMGRID") != "required", "scripts/simgrid installs it"
        pytest.skip("SimGrid 3.32 is not installed; scripts/simgrid brings it")
    shape, hosts = NETWORKS[name]
    traffic = TRAFFIC[(list(NETWORKS).index(name) + seed) % len(TRAFFIC)]
    assert difference(case(name, shape, hosts, traffic, seed=seed)) <= 1e-9
