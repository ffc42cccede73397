"""Days, money, energy and carbon of plans."""

import math
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from tests.unit.applications.goodput.test_run_plan import HAZARD, PHASE, planned
from volvelle.applications.goodput.inputs import preempted, recovery_policy
from volvelle.applications.goodput.run_estimate import RunSamples, middle, run_estimate
from volvelle.applications.goodput.run_plan import (
    HourlyPrice,
    JobHazard,
    PartHazard,
    RecoveryPolicy,
    RunPhase,
    RunPlan,
    SitePower,
)
from volvelle.quantities import DAY
from volvelle.questions.job import Way
from volvelle.spread import LogNormal
from volvelle.verbs.job.simulated import simulated_runs

POWER = SitePower(training=969.0, idle=0.25, pue=1.2, doubt=1.1, grams_per_kwh=(400.0, 400.0, 400.0))
PRICE = HourlyPrice(way="rented", low=3.0, middle=3.0, high=3.0, what="as given")


def with_all(**others: object) -> RunPlan:
    return planned(power=POWER, prices=(PRICE,), repair=5.5 * DAY, dispersion=5.8, **others)


def test_parts_sum_to_the_wall_time_and_quantiles_are_in_order() -> None:
    run = run_estimate(with_all())
    assert run.wall == pytest.approx(sum(run.parts.values()))
    assert run.kwh is not None
    assert run.tco2e is not None
    for figure in (run.days, run.ettr, run.interruptions, run.spending[0].usd, run.kwh, run.tco2e):
        assert figure.p10 < figure.value < figure.p90
    assert run.ettr.p90 <= 1.0
    assert run.days.value == pytest.approx(run.wall / DAY)


def test_what_is_in_doubt_together_is_wider_than_each_alone() -> None:
    run = run_estimate(with_all())
    whole = run.days.p90 - run.days.p10
    assert set(run.doubts) == {"chance", "failures and recovery", "step time"}
    assert all(high - low < whole for low, high in run.doubts.values())


def test_nothing_that_fails_gives_the_days_without_failures() -> None:
    never = JobHazard(parts=(replace(HAZARD.parts[0], rate=0.0),))
    calm = replace(
        with_all(hazard=never), recovery=RecoveryPolicy(restart=LogNormal(1.0, 1.0), stall=LogNormal(0.0, 1.0))
    )
    run = run_estimate(calm)
    assert run.wall == PHASE.work
    assert run.interruptions.p90 == 0.0
    assert run.interruptions_per_day == 0.0


def test_dollars_and_energy_scale_with_accelerators_at_equal_days() -> None:
    one, two = (run_estimate(replace(with_all(), accelerators=count)) for count in (1024, 2048))
    assert one.kwh is not None
    assert two.kwh is not None
    assert two.days == one.days
    assert two.spending[0].usd.value == pytest.approx(2 * one.spending[0].usd.value)
    assert two.kwh.value == pytest.approx(2 * one.kwh.value)


def test_a_price_with_a_long_tail_has_its_middle_in_the_middle() -> None:
    skewed = HourlyPrice(way="rented", low=1.0, middle=3.0, high=20.0)
    run = run_estimate(replace(with_all(), prices=(skewed,)))
    assert run.spending[0].usd.value == pytest.approx(3.0 * 1024 * 24 * run.days.value)


def test_a_restart_longer_than_the_time_between_failures_is_an_answer_with_cures() -> None:
    often = JobHazard(parts=(replace(HAZARD.parts[0], rate=1.0 / (128 * 1000.0)),))
    slow = RecoveryPolicy(restart=LogNormal(4000.0, 1.2), stall=LogNormal(1.0, 1.2), detection=0.05)
    run = run_estimate(replace(with_all(hazard=often), recovery=slow))
    assert "a restart takes 66.7 min and failures are 16.7 min apart" in run.problem
    told = " ".join(run.cures)
    assert "a restart of at most" in told
    assert "replicas that each restart alone" in told
    assert "of the accelerators would fail seldom enough" in told
    assert np.isfinite(run.wall)


def test_the_cure_cures() -> None:
    often = JobHazard(parts=(replace(HAZARD.parts[0], rate=1.0 / (128 * 1000.0)),))
    slow = RecoveryPolicy(restart=LogNormal(4000.0, 1.2), stall=LogNormal(1.0, 1.2))
    hopeless = run_estimate(replace(with_all(hazard=often), recovery=slow))
    minutes = float(hopeless.cures[0].split("at most ")[1].split(" min")[0])
    cured = replace(slow, restart=LogNormal(60.0 * minutes, 1.2))
    assert run_estimate(replace(with_all(hazard=often), recovery=cured)).ettr.value == pytest.approx(0.5, abs=0.01)


def test_no_spares_and_long_repairs_make_a_job_wait() -> None:
    pool, none, some = (run_estimate(with_all(spares=spares)) for spares in (None, 0, 40))
    assert pool.parts["waiting for a spare"] == 0.0
    assert none.parts["waiting for a spare"] > 0.5 * none.wall
    assert some.parts["waiting for a spare"] < 0.01 * some.wall
    assert some.spending[0].usd.value > pool.spending[0].usd.value


def test_halving_things_helps_and_the_largest_help_is_first() -> None:
    run = run_estimate(with_all())
    gains = [remedy.days for remedy in run.remedies]
    assert gains == sorted(gains, reverse=True)
    assert min(gains) > 0.0


def test_the_same_seed_gives_the_same_answer() -> None:
    assert run_estimate(with_all()).days == run_estimate(with_all()).days


def test_a_step_known_from_own_runs_narrows_days() -> None:
    sure = replace(with_all(), phases=(replace(PHASE, doubt=1.0),))
    wide, narrow = run_estimate(with_all()).days, run_estimate(sure).days
    assert narrow.p90 - narrow.p10 < 0.7 * (wide.p90 - wide.p10)


def test_replicas_that_restart_alone_lose_less() -> None:
    often = JobHazard(parts=(replace(HAZARD.parts[0], rate=1.0 / (128 * 2000.0)),))
    alone = replace(with_all(hazard=often), recovery=recovery_policy("elastic", replicas=16))
    together = replace(with_all(hazard=often), recovery=recovery_policy())
    assert run_estimate(alone).ettr.value > run_estimate(together).ettr.value


def example(accelerators: int) -> RunPlan:
    """A trillion tokens at 410 tokens a second and accelerator among 512, falling with their number."""
    pace = accelerators * 410.0 * (accelerators / 512) ** -0.06
    phase = RunPhase(tokens=1e12, tokens_per_step=4e6, step=4e6 / pace, doubt=math.exp(0.12))
    rate = PartHazard(part="node", count=accelerators / 8, rate=4.1e-3 / DAY)
    return RunPlan(
        model="m",
        system="s",
        accelerators=accelerators,
        nodes=accelerators // 8,
        phases=(phase,),
        hazard=JobHazard(parts=(rate,), doubt=1.73),
        recovery=RecoveryPolicy(restart=LogNormal(720.0, 1.65), stall=LogNormal(5.0, 1.0)),
        prices=(HourlyPrice(way="rented", low=3.29, middle=3.29, high=3.29),),
    )


def chance_within(plan: RunPlan, days: float) -> float:
    return float(np.mean(RunSamples.of(plan, middle(plan), samples=4096, seed=0).days() <= days))


def test_being_sure_takes_a_quarter_more_machines() -> None:
    chances = {count: chance_within(example(count), 30.0) for count in (896, 1024, 1152, 1280)}
    assert min(count for count, chance in chances.items() if chance >= 0.5) == 1024
    assert min(count for count, chance in chances.items() if chance >= 0.9) == 1280
    assert chances[1152] == pytest.approx(0.876, abs=0.01)
    even, sure = run_estimate(example(1024)), run_estimate(example(1280))
    assert even.days.value == pytest.approx(29.1, abs=0.1)
    assert [run.spending[0].usd.value / 1e6 for run in (even, sure)] == pytest.approx([2.35, 2.39], abs=0.01)


def simulated_chance(plan: RunPlan, days: float, *, drawn: int, runs: int) -> float:
    """How often runs are done in time that are run failure by failure, on so many draws of what is not known."""
    grown = RunSamples.of(plan, middle(plan), samples=drawn, seed=0).grown
    numbers = {part.name: getattr(grown, part.name) for part in fields(grown)}
    done = []
    for place in range(drawn):
        one = {name: np.broadcast_to(value, (drawn,))[place] for name, value in numbers.items() if value is not None}
        done.append(np.mean(simulated_runs(replace(grown, **one), place, runs=runs).time <= days * DAY))
    return float(np.mean(done))


@pytest.mark.parametrize("count", [1152, 1280])
def test_simulated_runs_are_done_in_time_as_often_as_was_promised(count: int) -> None:
    promised = chance_within(example(count), 30.0)
    assert simulated_chance(example(count), 30.0, drawn=200, runs=200) == pytest.approx(promised, abs=0.02)


@pytest.mark.parametrize(
    ("way", "told", "days"), [("elastic", {"replicas": 16}, 26.0), ("two-tier", {"survived": 0.8}, 29.0)]
)
def test_so_are_those_that_recover_otherwise(way: Way, told: dict[str, Any], days: float) -> None:
    plan = replace(example(1152), recovery=recovery_policy(way, **told))
    promised = chance_within(plan, days)
    assert 0.2 < promised < 0.9
    assert simulated_chance(plan, days, drawn=60, runs=20) == pytest.approx(promised, abs=0.04)


def test_capacity_that_is_taken_away_takes_what_peers_hold() -> None:
    taken = preempted(HAZARD, every=1.0 / HAZARD.rate)
    plan = replace(planned(hazard=taken), recovery=recovery_policy("two-tier", survived=0.8))
    assert middle(plan).survived == pytest.approx(0.4)
    assert middle(replace(plan, hazard=HAZARD)).survived == 0.8
