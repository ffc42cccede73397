"""Two tiers, simulated."""

import pytest

from volvelle.laws.reliability.two_tier import two_tier_time
from volvelle.simulation.failures.tiers import TwoTiers, simulate_tiered_runs

POLICY = {"memory_stall": 1.0, "storage_stall": 20.0, "memory_restart": 120.0, "storage_restart": 600.0}


@pytest.mark.parametrize("survived", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("between", [2000.0, 10000.0])
def test_the_closed_form_is_that_of_simulation(survived: float, between: float) -> None:
    tiers = TwoTiers(work=300.0, segments=6, **POLICY)
    work = 20_000 * 6 * 300.0
    found = simulate_tiered_runs(work, tiers, between=between, survived=survived, runs=1, seed=2)
    law = float(two_tier_time(300.0, 6, between=between, survived=survived, **POLICY))
    assert float(found.time[0]) / work == pytest.approx(law, rel=0.01)
