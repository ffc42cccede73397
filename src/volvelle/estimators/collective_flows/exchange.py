"""Messages of an exchange: from whom to whom, how much, and what each waits for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import OutsideDomainError
from volvelle.simulation.flow.flows import Flows, RouteTable
from volvelle.system.network import Network
from volvelle.system.routing import Numbers
from volvelle.system.wirings.wiring import NONE

Reals = NDArray[np.float64]
MOST = 4_500_000
"""Messages of an exchange that are still timed: a few seconds and a gigabyte."""


def check_count(messages: int, *, most: int = MOST) -> None:
    """Refuse an exchange that would take too long, before its messages are made."""
    if messages > most:
        raise OutsideDomainError(
            f"an exchange of {messages:,} messages is not timed as flows, {most:,} are the most; take fewer chips, "
            "fewer jobs, or another algorithm (nested and halving-doubling send fewest)"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """Messages, one an entry of each column."""

    source: Numbers
    target: Numbers
    size: Reals
    before: Numbers
    """Pairs, a row each: the first has to have arrived before the second is sent."""
    waits: Reals
    """Latencies before the first byte: 1, or more where a message follows others piece by piece."""

    def __len__(self) -> int:
        return len(self.source)


class Messages:
    """Collects the messages of an exchange."""

    def __init__(self) -> None:
        self._columns: list[tuple[Numbers, Numbers, Reals, Reals]] = []
        self._before: list[Numbers] = []
        self.count = 0

    def send(self, source: Numbers, target: Numbers, size: float, waits: Reals | float = 1.0) -> Numbers:
        """Add messages of one size; their numbers, in the shape of what was given."""
        check_count(self.count + source.size)
        numbers = self.count + np.arange(source.size).reshape(source.shape)
        self.count += source.size
        waited = np.broadcast_to(np.asarray(waits, dtype=np.float64), source.shape)
        self._columns.append((source.ravel(), target.ravel(), np.full(source.size, size), waited.ravel()))
        return numbers

    def order(self, ahead: Numbers, behind: Numbers) -> None:
        """The first are waited for by the second, pair by pair; negative numbers stand for none."""
        ahead, behind = np.broadcast_arrays(ahead, behind)
        pairs = np.stack([ahead.ravel(), behind.ravel()], axis=1)
        self._before.append(pairs[(pairs >= 0).all(axis=1)])

    def exchange(self) -> Exchange:
        """All that was added."""
        if not self._columns:
            none = np.zeros(0)
            return Exchange(
                source=none.astype(np.int64),
                target=none.astype(np.int64),
                size=none,
                waits=none,
                before=np.zeros((0, 2), dtype=np.int64),
            )
        source, target, size, waits = (np.concatenate(column) for column in zip(*self._columns, strict=True))
        before = np.concatenate(self._before) if self._before else np.zeros((0, 2), dtype=np.int64)
        return Exchange(source=source, target=target, size=size, before=before, waits=waits)


def at_once(exchanges: Sequence[Exchange]) -> Exchange:
    """Several exchanges that know nothing of each other."""
    starts = np.cumsum([0, *(len(each) for each in exchanges)])
    return Exchange(
        source=np.concatenate([each.source for each in exchanges]),
        target=np.concatenate([each.target for each in exchanges]),
        size=np.concatenate([each.size for each in exchanges]),
        waits=np.concatenate([each.waits for each in exchanges]),
        before=np.concatenate([each.before + start for each, start in zip(exchanges, starts, strict=False)]),
    )


def flows_of(exchange: Exchange, network: Network) -> Flows:
    """Messages on the links of a machine; each pair of chips is routed once."""
    chips = network.cluster.accelerators
    pairs, route = np.unique(exchange.source * chips + exchange.target, return_inverse=True)
    source, target = pairs // chips, pairs % chips
    routes = network.routes(source, target)
    latency = network.latencies(source, target)[route] * exchange.waits
    table = RouteTable.of(routes.links, routes.shares)
    return Flows(routes=table, route=route, size=exchange.size, latency=latency, before=exchange.before)


def flows_on_ports(exchange: Exchange, network: Network) -> Flows:
    """Messages to and from the switches of a machine of one dimension, which add up and copy what they forward.

    A message to a chip of number −1 goes to the top of the network: what many chips send there is one message on every
    link above their ports. One from −1 comes from there.
    """
    level = network.levels[0]
    wiring, units = level.wiring, level.wiring.units
    latency = float(level.dimension.link.latency)
    rows: list[tuple[int, ...]] = []
    for up in (True, False):
        chips = exchange.target if up else exchange.source
        ends = (exchange.source if up else exchange.target)[chips == NONE]
        shared: set[int] = set()
        for unit in ends:
            links = wiring.upward(int(unit)) if up else wiring.downward(int(unit))
            new = [link for link in links if link not in shared]
            shared.update(new)
            rows.append((int(unit) if up else units + int(unit), *(2 * units + link for link in new)))
    width = max(len(row) for row in rows)
    table = RouteTable.of(np.array([[*row, *[NONE] * (width - len(row))] for row in rows]))
    order = np.concatenate([np.flatnonzero(exchange.target == NONE), np.flatnonzero(exchange.source == NONE)])
    route = np.empty(len(exchange), dtype=np.int64)
    route[order] = np.arange(len(order))
    return Flows(
        routes=table, route=route, size=exchange.size, latency=latency * exchange.waits, before=exchange.before
    )


def shifted(exchange: Exchange, chips: Numbers) -> Exchange:
    """The same exchange among other chips: member r is chip `chips[r]`; the top of a network stays what it is."""
    source, target = (
        np.where(ends == NONE, NONE, chips[np.maximum(ends, 0)]) for ends in (exchange.source, exchange.target)
    )
    return replace(exchange, source=source, target=target)
