"""Plans that make no sense are refused."""

import numpy as np
import pytest

from volvelle.applications.goodput.inputs import recovery_policy
from volvelle.applications.goodput.run_plan import JobHazard, OtherLosses, PartHazard, RecoveryPolicy, RunPhase, RunPlan
from volvelle.errors import DescriptionError
from volvelle.quantities import DAY
from volvelle.spread import LogNormal

PHASE = RunPhase(tokens=1e12, tokens_per_step=4e6, step=5.0, doubt=1.1)
HAZARD = JobHazard(parts=(PartHazard(part="node", count=128.0, rate=5e-3 / DAY),), doubt=1.5)


def planned(hazard: JobHazard = HAZARD, phases: tuple[RunPhase, ...] = (PHASE,), **others: object) -> RunPlan:
    return RunPlan(
        model="m",
        system="s",
        accelerators=1024,
        nodes=128,
        phases=phases,
        hazard=hazard,
        recovery=recovery_policy(),
        **others,
    )


def test_planned_stops_are_not_counted_twice() -> None:
    maintained = JobHazard(parts=(*HAZARD.parts, PartHazard(part="planned", count=128.0, rate=1e-3 / DAY)))
    assert planned(maintained).hazard.planned == pytest.approx(0.128 / DAY)
    with pytest.raises(DescriptionError, match="counted twice"):
        planned(maintained, losses=OtherLosses(planned=0.02))


def test_a_write_longer_than_its_interval_is_refused() -> None:
    with pytest.raises(DescriptionError, match=r"60.0 s to write, longer than the interval of 30.0 s"):
        RecoveryPolicy(restart=LogNormal(600.0, 1.0), stall=LogNormal(1.0, 1.0), write=60.0, interval=30.0)


def test_a_run_without_phases_is_refused() -> None:
    with pytest.raises(DescriptionError, match="no phases"):
        planned(phases=())


def test_phases_add_up() -> None:
    long = RunPhase(tokens=1e11, tokens_per_step=4e6, step=20.0)
    both = planned(phases=(PHASE, long))
    assert both.tokens == 1.1e12
    assert both.work == pytest.approx(PHASE.work + long.work)


@pytest.mark.parametrize("step", [-1.0, float("nan"), 0.0])
def test_a_step_outside_its_domain_is_refused(step: float) -> None:
    with pytest.raises(DescriptionError, match="step"):
        RunPhase(tokens=1e12, tokens_per_step=4e6, step=step)


def test_a_write_that_nobody_states_has_the_spread_of_those_measured_and_ends_before_the_next() -> None:
    usual, stated = recovery_policy(), recovery_policy(write=30.0)
    quantiles = np.array([0.1, 0.5, 0.9])
    low, middle, high = np.asarray(usual.circumstances(1e6, 1e-5, writes=quantiles).write)
    assert low < middle < high
    assert middle == pytest.approx(usual.write)
    assert stated.circumstances(1e6, 1e-5, writes=quantiles).write == 30.0
    close = recovery_policy(interval=1.01 * usual.write).circumstances(1e6, 1e-5, writes=quantiles)
    assert np.max(close.write) <= 1.01 * usual.write
