"""What is true of flows on any network."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from volvelle.simulation.flow.flows import Flows, RouteTable, flow_times


@st.composite
def traffic(draw: st.DrawFn) -> tuple[np.ndarray, Flows]:
    links = draw(st.integers(1, 8))
    count = draw(st.integers(1, 24))
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows = np.full((count, links), -1)
    shares = np.ones((count, links))
    for row in rows:
        taken = chance.permutation(links)[: chance.integers(0, links + 1)]
        row[: len(taken)] = taken
    if draw(st.booleans()):
        shares = chance.choice([0.25, 0.5, 1.0], size=rows.shape)
    pairs = [(a, b) for a in range(count) for b in range(a + 1, count) if chance.random() < 1.0 / count]
    order = chance.permutation(count)  # a flow may wait for one of a higher number
    before = np.array([(order[a], order[b]) for a, b in pairs], dtype=np.int64).reshape(-1, 2)
    size = chance.choice([0.0, 1.0, 1.0, 3.0, chance.uniform(0.1, 9.0)], size=count)
    latency = chance.choice([0.0, 0.5, chance.uniform(0.0, 2.0)], size=count)
    flows = Flows(routes=RouteTable.of(rows, shares), route=np.arange(count), size=size, latency=latency, before=before)
    return chance.choice([1.0, 2.0, chance.uniform(0.5, 4.0)], size=links), flows


@given(traffic())
def test_python_and_machine_code_give_the_same_ends_to_the_last_bit(case: tuple[np.ndarray, Flows]) -> None:
    capacities, flows = case
    fast, slow = (flow_times(capacities, flows, compiled=compiled) for compiled in (True, False))
    for name in ("begin", "end", "limited", "carried"):
        assert np.array_equal(getattr(fast, name), getattr(slow, name))


@given(traffic())
def test_no_link_carries_more_than_its_capacity(case: tuple[np.ndarray, Flows]) -> None:
    """Between any two events the bytes of all flows that cross a link are what it can carry, at most."""
    capacities, flows = case
    found = flow_times(capacities, flows, together=0.0)
    table = flows.routes
    for link in range(len(capacities)):
        crossing = [
            (flow, table.shares[at])
            for flow in range(len(flows))
            for at in range(table.first[flow], table.first[flow + 1])
            if table.links[at] == link
        ]
        assert sum(flows.size[flow] * share for flow, share in crossing) == pytest.approx(found.carried[link])
        for edge in sorted(set(found.end)):
            # What has ended by now was sent since the first of them began.
            done = [(flow, share) for flow, share in crossing if found.end[flow] <= edge]
            if done:
                since = min(found.begin[flow] for flow, _ in done)
                sent = sum(flows.size[flow] * share for flow, share in done)
                assert sent <= capacities[link] * (edge - since) * (1 + 1e-9) + 1e-9


@given(traffic(), st.floats(0.01, 100.0))
def test_time_scales_with_size_and_with_the_inverse_of_rates(case: tuple[np.ndarray, Flows], factor: float) -> None:
    capacities, flows = case
    found = flow_times(capacities, flows)
    larger = Flows(
        routes=flows.routes,
        route=flows.route,
        size=flows.size * factor,
        latency=flows.latency * factor,
        before=flows.before,
    )
    assert flow_times(capacities, larger).end == pytest.approx(found.end * factor, rel=1e-6, abs=1e-9)
    faster = Flows(
        routes=flows.routes,
        route=flows.route,
        size=flows.size,
        latency=flows.latency / factor,
        before=flows.before,
    )
    assert flow_times(capacities * factor, faster).end == pytest.approx(found.end / factor, rel=1e-6, abs=1e-9)


@given(traffic(), st.integers(0, 2**32))
def test_numbering_flows_and_links_otherwise_changes_no_end(case: tuple[np.ndarray, Flows], seed: int) -> None:
    capacities, flows = case
    chance = np.random.default_rng(seed)
    new, link = chance.permutation(len(flows)), chance.permutation(len(capacities))
    old = np.argsort(new)
    table = flows.routes
    moved = RouteTable(first=table.first, links=link[table.links], shares=table.shares)
    again = Flows(
        routes=moved, route=flows.route[old], size=flows.size[old], latency=flows.latency[old], before=new[flows.before]
    )
    found = flow_times(capacities[np.argsort(link)], again)
    assert found.end[new] == pytest.approx(flow_times(capacities, flows).end, rel=1e-8, abs=1e-9)


@given(traffic())
def test_a_flow_takes_at_least_its_latency_and_its_bytes_at_the_rate_of_its_narrowest_link(
    case: tuple[np.ndarray, Flows],
) -> None:
    capacities, flows = case
    found = flow_times(capacities, flows)
    table = flows.routes
    for flow in range(len(flows)):
        crossed = range(table.first[flow], table.first[flow + 1])
        rates = [capacities[table.links[at]] / table.shares[at] for at in crossed]
        least = flows.size[flow] / min(rates) if rates else 0.0
        assert found.end[flow] - found.begin[flow] >= least * (1 - 1e-8) - 1e-9
    for ahead, behind in flows.before:
        assert found.begin[behind] >= (found.end[ahead] + flows.latency[behind]) * (1 - 1e-8) - 1e-9


@given(st.integers(0, 2**32))
def test_more_bandwidth_slows_no_flow_down_that_crosses_one_link_alone(seed: int) -> None:
    """Of flows that cross several it is not true: a rate that grows on one link may take from others elsewhere."""
    chance = np.random.default_rng(seed)
    rows = chance.integers(0, 6, size=(20, 1))
    flows = Flows(
        routes=RouteTable.of(rows),
        route=np.arange(20),
        size=chance.uniform(1.0, 2.0, 20),
        latency=np.zeros(20),
        before=np.zeros((0, 2), dtype=np.int64),
    )
    one = flow_times(np.ones(6), flows)
    wider = np.ones(6)
    wider[3] = 2.0
    two = flow_times(wider, flows)
    # Flows of one link each share nothing else, so that here more bandwidth slows nobody down.
    assert (two.end <= one.end * (1 + 1e-9)).all()
    assert flow_times(2.0 * np.ones(6), flows).end == pytest.approx(one.end / 2.0)


@given(st.integers(0, 2**32))
def test_taking_ends_together_within_a_thousandth_is_off_by_about_as_much(seed: int) -> None:
    chance = np.random.default_rng(seed)
    rows = np.stack([chance.integers(0, 16, 200), chance.integers(16, 32, 200), chance.integers(32, 36, 200)], axis=1)
    flows = Flows(
        routes=RouteTable.of(rows),
        route=np.arange(200),
        size=chance.uniform(1.0, 100.0, 200),
        latency=np.zeros(200),
        before=np.zeros((0, 2), dtype=np.int64),
    )
    capacities = np.concatenate([np.ones(32), np.full(4, 3.0)])
    exact, rough = flow_times(capacities, flows), flow_times(capacities, flows, together=1e-3)
    assert rough.solved <= exact.solved
    assert rough.end == pytest.approx(exact.end, rel=5e-3)
