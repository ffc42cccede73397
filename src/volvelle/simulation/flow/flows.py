"""Flows on routed links: how long each takes when all share links max-min fairly.

A flow starts its latency after the last of those it waits for has ended, and sends its bytes over all links of its
route at one rate. At every moment rates are max-min fair: none can grow without one that is not larger having to
shrink. Between two events rates are constant.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from volvelle.errors import DescriptionError
from volvelle.simulation.compiler import INSTALLED, plain
from volvelle.simulation.flow.clock import run, schedule_all
from volvelle.simulation.flow.state import DONE, SOLVED, FlowState

Reals: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.int64]
TOGETHER = 1e-9
"""Part of the clock within which flows end at one instant: symmetric flows differ by rounding alone."""
_STARTS = 1e-12
"""The same of flows that start, whatever is asked of ends: what starts early makes all that follows early."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteTable:
    """Routes one after another: which links, and which part of a flow crosses each."""

    first: Numbers
    """Place of a route's first link; one more entry than there are routes."""
    links: Numbers
    shares: Reals

    @classmethod
    def of(cls, rows: NDArray[np.int64], shares: Reals | None = None) -> "RouteTable":
        """From rows that are filled up with negative numbers."""
        there = rows >= 0
        first = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
        links = rows[there]
        return cls(first=first, links=links, shares=np.ones(len(links)) if shares is None else shares[there])

    def __len__(self) -> int:
        return len(self.first) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Flows:
    """Messages over routes: sizes, latencies, and who waits for whom."""

    routes: RouteTable
    route: Numbers
    """Of every flow, its number in the table."""
    size: Reals
    latency: Reals
    before: Numbers
    """Pairs, a row each: the first has to end before the second may start."""
    release: Reals | None = None
    """Seconds before which a flow does not start, whatever it waits for; None: 0."""

    def __len__(self) -> int:
        return len(self.route)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowTimes:
    """When flows began to send and ended, and which links held them up."""

    begin: Reals
    end: Reals
    limited: Reals
    """Of every link: seconds of flows whose rate it has set."""
    carried: Reals
    """Of every link: bytes."""
    solved: int
    """Times that rates were found."""

    @property
    def time(self) -> float:
        """Until the last has ended."""
        return float(self.end.max(initial=0.0))


def flow_times(
    capacities: ArrayLike, flows: Flows, *, together: float = TOGETHER, compiled: bool | None = None
) -> FlowTimes:
    """When every flow ends on links of some capacities.

    Flows that end within `together` of the clock share one instant, so that rates are found once for all of them: each
    ends when it would have, but what they leave is given to others at the first end. At 1e-3 random traffic is four
    times as fast. `compiled` is for tests: the same answers come from Python itself.
    """
    capacity = np.ascontiguousarray(capacities, dtype=np.float64)
    _check(capacity, flows, together)
    count, links, crossings = len(flows), len(capacity), _most_crossings(flows)
    order = np.argsort(flows.before[:, 0], kind="stable") if len(flows.before) else np.zeros(0, dtype=np.int64)
    ahead, behind = (flows.before[order, side] for side in (0, 1)) if len(order) else (order, order)

    def column(values: ArrayLike, kind: type = np.float64) -> object:
        made: NDArray[Any] = np.array(values, dtype=kind)
        return made if by_machine else made.tolist()

    def empty(length: int, kind: type = np.int64) -> object:
        return column(np.zeros(length, dtype=kind), kind)

    by_machine = INSTALLED if compiled is None else compiled
    state = FlowState(
        capacity=column(capacity),
        first=column(flows.routes.first, np.int64),
        links=column(flows.routes.links, np.int64),
        shares=column(flows.routes.shares),
        route=column(flows.route, np.int64),
        latency=column(flows.latency),
        next_first=column(np.concatenate([[0], np.cumsum(np.bincount(ahead, minlength=count))]), np.int64),
        next_flows=column(behind, np.int64),
        waits=column(np.bincount(behind, minlength=count), np.int64),
        ready=column(np.zeros(count) if flows.release is None else flows.release),
        left=column(flows.size),
        rate=empty(count, np.float64),
        limit=column(np.full(count, -1), np.int64),
        begin=column(np.full(count, np.nan)),
        end=column(np.full(count, np.nan)),
        live=empty(count),
        due=empty(count),
        queue=empty(count),
        limited=empty(links, np.float64),
        free=empty(links, np.float64),
        open=empty(links, np.float64),
        busy=empty(links),
        place=empty(links),
        used=empty(links),
        crossing=empty(crossings),
        key=empty(links + 1, np.float64),
        heap=empty(links),
        tally=empty(7),
    )
    if by_machine:
        schedule_all(state, count)
        run(state, together, _STARTS)
    else:
        plain(schedule_all)(state, count)
        plain(run)(state, together, _STARTS)
    if state.tally[DONE] < count:
        raise _deadlock(flows, np.asarray(state.end))
    return FlowTimes(
        begin=np.asarray(state.begin),
        end=np.asarray(state.end),
        limited=np.asarray(state.limited),
        carried=carried(flows, links),
        solved=int(state.tally[SOLVED]),
    )


def carried(flows: Flows, links: int) -> Reals:
    """Bytes that cross every link."""
    by_route = np.bincount(flows.route, weights=flows.size, minlength=len(flows.routes))
    lengths = np.diff(flows.routes.first)
    crossing = np.repeat(by_route, lengths) * flows.routes.shares
    return np.asarray(np.bincount(flows.routes.links, weights=crossing, minlength=links), dtype=np.float64)


def _most_crossings(flows: Flows) -> int:
    """Links of all routes of all flows together: as many crossings as there can be at once."""
    return int(np.diff(flows.routes.first)[flows.route].sum())


def _check(capacity: Reals, flows: Flows, together: float) -> None:
    if not 0.0 <= together < 1.0:
        raise DescriptionError(f"flows end together within {together} of the clock; it must be from 0 to less than 1")
    table, count = flows.routes, len(flows)
    for name, values, least in (
        ("capacity of link", capacity, np.nextafter(0.0, 1.0)),
        ("size of flow", flows.size, 0.0),
        ("latency of flow", flows.latency, 0.0),
        ("share of crossing", table.shares, np.nextafter(0.0, 1.0)),
        ("release of flow", np.zeros(0) if flows.release is None else flows.release, 0.0),
    ):
        bad = np.flatnonzero(~((values >= least) & (values < np.inf)))
        if len(bad):
            kind = "a positive number" if least > 0 else "0 or more"
            raise DescriptionError(f"{name} {bad[0]} is {values[bad[0]]}; it must be {kind}, and finite")
    for name, numbers, most in (
        ("link of crossing", table.links, len(capacity)),
        ("route of flow", flows.route, len(table)),
        ("flow of pair", flows.before.ravel(), count),
    ):
        bad = np.flatnonzero((numbers < 0) | (numbers >= most))
        if len(bad):
            raise DescriptionError(f"{name} {bad[0]} is {numbers[bad[0]]}; there are {most}, from 0")


def _deadlock(flows: Flows, end: Reals) -> DescriptionError:
    undone = np.isnan(end)
    held = flows.before[undone[flows.before[:, 0]]]
    waiting = int(held[:, 1].min())
    awaited = int(held[held[:, 1] == waiting, 0].min())
    return DescriptionError(
        f"{int(undone.sum())} of {len(end)} flows never start: flow {waiting} waits for flow {awaited}, which waits "
        "for it in turn; take one of the pairs away"
    )
