"""What holds of any fleet."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import volvelle
from volvelle.applications.serving.fleet.scaling import Kind, Scaling, schedule
from volvelle.applications.serving.fleet.sized import SizedService
from volvelle.verbs.fleet.answer import Fleet
from volvelle.workload.serving.lengths import FixedLength, Independent
from volvelle.workload.serving.offered import OfferedLoad

SHAPE = Independent(input=FixedLength(tokens=512), output=FixedLength(tokens=64))
RATES = st.lists(st.floats(0.0, 200.0), min_size=1, max_size=6).filter(lambda rates: max(rates) > 1e-3)
KINDS = st.sampled_from(["fixed", "reactive", "ahead"])
POLICIES = st.builds(
    Scaling,
    kind=KINDS,
    target=st.floats(0.3, 1.0),
    look_back=st.floats(0.0, 1800.0),
    cool_down=st.floats(0.0, 3600.0),
    least=st.integers(0, 3),
)
STARTS = st.floats(0.0, 3000.0)


@cache
def asked(**changes: object) -> Fleet:
    question: dict[str, object] = {"on": "dgx-h100", "tp": 1, "load": "poisson 30/s", "slo": "p95 tpot 30 ms"}
    return volvelle.fleet("llama3-8b", **(question | {"check": "none"} | changes))  # type: ignore[arg-type]


def service(rates: list[float], policy: Scaling | None = None, *, spare: int = 0) -> SizedService:
    """A service with what one replica of another was found to take."""
    (known,) = asked().services
    load = OfferedLoad.of_hours(np.array(rates), SHAPE)
    return replace(known, load=load, scaling=policy or known.scaling, spare=spare)


@settings(deadline=None)
@given(rates=RATES, policy=POLICIES, start=STARTS, more=st.floats(1.0, 5.0), capacity=st.floats(0.5, 50.0))
def test_more_load_never_needs_fewer_replicas(
    rates: list[float], policy: Scaling, start: float, more: float, capacity: float
) -> None:
    less = schedule(OfferedLoad.of_hours(np.array(rates), SHAPE), capacity, policy, cold_start=start)
    busier = schedule(OfferedLoad.of_hours(np.array(rates), SHAPE, factor=more), capacity, policy, cold_start=start)
    assert np.all(busier.ordered >= less.ordered)


@settings(deadline=None)
@given(rates=RATES, policy=POLICIES, start=STARTS, faster=st.floats(1.0, 5.0), capacity=st.floats(0.5, 50.0))
def test_a_replica_that_takes_more_never_needs_more_of_them(
    rates: list[float], policy: Scaling, start: float, faster: float, capacity: float
) -> None:
    load = OfferedLoad.of_hours(np.array(rates), SHAPE)
    slow = schedule(load, capacity, policy, cold_start=start)
    fast = schedule(load, capacity * faster, policy, cold_start=start)
    assert np.all(fast.ordered <= slow.ordered)


@settings(deadline=None)
@given(rates=RATES, policy=POLICIES, start=STARTS, longer=st.floats(0.0, 3000.0))
def test_no_more_are_ready_than_are_ordered_nor_sooner_after_a_longer_start(
    rates: list[float], policy: Scaling, start: float, longer: float
) -> None:
    load = OfferedLoad.of_hours(np.array(rates), SHAPE)
    reactive = replace(policy, kind="reactive")
    plan = schedule(load, 3.0, policy, cold_start=start)
    assert np.all(plan.ready <= plan.ordered)
    later = schedule(load, 3.0, reactive, cold_start=start + longer)
    assert np.all(later.ready <= schedule(load, 3.0, reactive, cold_start=start).ready)


@settings(deadline=None, max_examples=30)
@given(rates=RATES, policy=POLICIES, spare=st.integers(1, 5))
def test_n_and_k_costs_k_more_at_all_times(rates: list[float], policy: Scaling, spare: int) -> None:
    without, with_spares = service(rates, policy), service(rates, policy, spare=spare)
    each = with_spares.instance.layout.chips
    assert np.array_equal(with_spares.chips, without.chips + spare * each)
    assert with_spares.total.rented == pytest.approx(
        (without.total.rented or 0.0) + (without.prices.rent or 0.0) * spare * each * len(rates)
    )


@settings(deadline=None, max_examples=30)
@given(rates=RATES, policy=POLICIES)
def test_hours_add_up_to_the_whole(rates: list[float], policy: Scaling) -> None:
    one = service(rates, policy)
    parts = [hour.spent for hour in one.hours]
    for name in ("requests", "input_tokens", "output_tokens", "chip_hours", "kwh", "rented", "owned"):
        assert sum(getattr(part, name) for part in parts) == pytest.approx(getattr(one.total, name))
    assert max(part.chips for part in parts) == one.total.chips
    assert one.total.input_tokens == pytest.approx(512 * one.total.requests)
    assert one.total.output_tokens == pytest.approx(64 * one.total.requests)


@pytest.mark.parametrize("kind", ["fixed", "reactive", "ahead"])
def test_a_flat_day_is_the_answer_of_its_rate(kind: Kind) -> None:
    flat = asked(scaling=kind, target=1.0)
    (one,) = flat.services
    replicas = int(np.ceil(30.0 / one.capacity.rate))
    assert flat.total is not None
    assert flat.total.chips == replicas * one.instance.layout.chips
    assert flat.total.chip_hours == pytest.approx(24 * flat.total.chips)
    assert {hour.spent.chips for hour in flat.hours} == {flat.total.chips}


def test_a_faster_chip_never_needs_more_and_tighter_limits_never_fewer() -> None:
    loose, tight = asked(), asked(slo="p95 tpot 15 ms")
    faster = asked(on="dgx-h200")
    assert loose.total is not None
    assert tight.total is not None
    assert faster.total is not None
    assert faster.total.chips <= loose.total.chips <= tight.total.chips


def test_the_range_of_chips_holds_the_figure() -> None:
    found = asked()
    assert found.total is not None
    assert found.ranges["chips"].low <= found.total.chips <= found.ranges["chips"].high
    assert found.ranges["dollars"].low <= (found.total.rented or 0.0) <= found.ranges["dollars"].high
