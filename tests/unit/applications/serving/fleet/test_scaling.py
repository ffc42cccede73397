"""Replicas by the minute."""

import numpy as np
import pytest

from volvelle.applications.serving.fleet.scaling import Kind, Scaling, schedule
from volvelle.errors import DescriptionError
from volvelle.workload.serving.lengths import FixedLength, Independent
from volvelle.workload.serving.offered import OfferedLoad

SHAPE = Independent(input=FixedLength(tokens=100), output=FixedLength(tokens=10))
STEP = OfferedLoad.of_hours(np.array([1.0, 10.0, 1.0]), SHAPE)


def test_a_rise_is_answered_after_it_was_seen_and_a_start() -> None:
    plan = schedule(STEP, 1.0, Scaling(target=1.0, look_back=60.0, cool_down=0.0), cold_start=180.0)
    assert list(plan.ordered[58:63]) == [1, 1, 1, 10, 10]
    assert list(plan.ready[60:65]) == [1, 1, 1, 1, 10]


def test_who_knows_what_comes_is_ready_when_it_comes() -> None:
    ahead = Scaling(kind="ahead", target=1.0, look_back=60.0, cool_down=0.0)
    plan = schedule(STEP, 1.0, ahead, cold_start=180.0)
    assert np.all(plan.ready >= np.ceil(STEP.rates))
    assert list(plan.ordered[55:61]) == [1, 1, 10, 10, 10, 10]
    assert plan.ordered[-1] == 1


def test_replicas_are_let_go_after_the_cool_down() -> None:
    plan = schedule(STEP, 1.0, Scaling(target=1.0, look_back=60.0, cool_down=600.0), cold_start=0.0)
    assert list(plan.ordered[129:133]) == [10, 10, 1, 1]


def test_a_fixed_fleet_is_what_the_busiest_time_needs() -> None:
    plan = schedule(STEP, 3.0, Scaling(kind="fixed", target=1.0), cold_start=600.0)
    assert set(plan.ordered) == set(plan.ready) == {4}


def test_none_is_there_at_night_where_that_is_allowed() -> None:
    night = OfferedLoad.of_hours(np.array([5.0, 0.0]), SHAPE)
    empty = schedule(night, 1.0, Scaling(target=1.0, look_back=60.0, cool_down=0.0, least=0), cold_start=60.0)
    kept = schedule(night, 1.0, Scaling(target=1.0, look_back=60.0, cool_down=0.0), cold_start=60.0)
    assert (empty.ordered[-1], kept.ordered[-1]) == (0, 1)


@pytest.mark.parametrize("kind", ["fixed", "reactive", "ahead"])
def test_a_flat_day_needs_what_one_rate_needs(kind: Kind) -> None:
    flat = OfferedLoad.of_hours(np.full(24, 7.3), SHAPE)
    plan = schedule(flat, 2.0, Scaling(kind=kind, target=1.0), cold_start=300.0)
    assert set(plan.ordered) == set(plan.ready) == {4}


@pytest.mark.parametrize("changed", [{"target": 0.0}, {"look_back": -1.0}, {"cool_down": float("nan")}, {"least": -1}])
def test_a_policy_outside_its_domain_is_refused(changed: dict[str, float]) -> None:
    with pytest.raises(DescriptionError, match="scaling"):
        Scaling(**changed)  # type: ignore[arg-type]
