"""Replicas that restart alone, simulated."""

import numpy as np
import pytest

from volvelle.errors import OutsideDomainError
from volvelle.laws.reliability.elastic import elastic_ettr
from volvelle.simulation.failures.elastic import ElasticRecovery, simulate_elastic
from volvelle.simulation.failures.gaps import ExponentialGaps

TOTAL = 30 * 86400.0


def simulated(recovery: ElasticRecovery, between: float, runs: int = 300) -> float:
    found = simulate_elastic(TOTAL, recovery, ExponentialGaps(mean=between), runs=runs, seed=3)
    return TOTAL / found.mean


@pytest.mark.parametrize("replicas", [4, 24])
@pytest.mark.parametrize("common", [0.0, 0.05])
@pytest.mark.parametrize("between", [2000.0, 10000.0])
def test_the_closed_form_is_that_of_simulation(replicas: int, common: float, between: float) -> None:
    policy = {"stall": 90.0, "catch_up": 300.0, "replicas": replicas, "restart": 600.0, "common": common}
    law = elastic_ettr(300.0, between=between, checkpoint=2.0, **policy)
    found = simulated(ElasticRecovery(work=300.0, checkpoint=2.0, **policy), between)
    assert found == pytest.approx(float(law), rel=0.01)


def test_standing_still_alone_is_exact() -> None:
    recovery = ElasticRecovery(work=60.0, checkpoint=0.0, stall=180.0, catch_up=0.0, replicas=3, restart=0.0)
    assert simulated(recovery, 1080.0) == pytest.approx(float(np.exp(-180 / 1080)), rel=0.005)


def test_without_failures_it_takes_the_work_and_its_checkpoints() -> None:
    recovery = ElasticRecovery(work=300.0, checkpoint=3.0, stall=60.0, catch_up=300.0, replicas=8, restart=600.0)
    found = simulate_elastic(3000.0, recovery, ExponentialGaps(mean=1e30), runs=3, seed=0)
    assert found.time == pytest.approx([3030.0] * 3)
    assert not found.failures.any()


def test_one_that_gets_nowhere_is_given_up() -> None:
    recovery = ElasticRecovery(work=60.0, checkpoint=0.0, stall=1e5, catch_up=0.0, replicas=2, restart=0.0)
    with pytest.raises(OutsideDomainError, match="not done after"):
        simulate_elastic(1e4, recovery, ExponentialGaps(mean=100.0), runs=2, seed=0, most=500)
