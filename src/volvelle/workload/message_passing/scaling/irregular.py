"""Messages whose partners follow no rule: how many there are and how long, and the like drawn for more ranks.

Pairs are told by how far apart their ranks are. Messages, pairs and bytes of all ranks together are fitted over counts
of ranks; pairs of the largest trace are then spread evenly over more ranks, as often as the fit says. Who talks to whom
is drawn, not known.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from volvelle.workload.message_passing.calls import Call
from volvelle.workload.message_passing.loops import Node
from volvelle.workload.message_passing.scaling.forms import TotalForm, total_form
from volvelle.workload.message_passing.trace import MessageTrace, Real, Whole


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Exchange:
    """Messages of all ranks at one place of a program, over all turns."""

    source: Whole
    target: Whole
    messages: Whole
    """Of a pair, in all turns."""
    size: Whole
    """Bytes of all of them."""
    turns: int
    before: Real
    """Seconds of computation before it receives, before it sends and before it waits: a row a rank, a column a turn."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawnExchange:
    """Messages from rank to rank in one turn, on any count of ranks."""

    source: Whole
    target: Whole
    size: Whole
    tag: int


def exchange_of(trace: MessageTrace, nodes: Mapping[int, Sequence[Node]]) -> Exchange:
    """What ranks sent there; `nodes` of each rank, a turn each."""
    events = np.array(
        sorted(
            int(trace.first[rank]) + node.first + at
            for rank, own in nodes.items()
            for node in own
            for at in range(node.events)
        ),
        dtype=np.int64,
    )
    turns = max(len(own) for own in nodes.values())
    sends = events[trace.sends[events]]
    key = trace.rank[sends] * trace.ranks + trace.partner[sends]
    pairs, inverse, counts = np.unique(key, return_inverse=True, return_counts=True)
    size = np.zeros(len(pairs), dtype=np.int64)
    np.add.at(size, inverse.ravel(), trace.size[sends])
    before = np.zeros((3, trace.ranks, turns))
    for rank, own in nodes.items():
        for turn, node in enumerate(own):
            first = int(trace.first[rank]) + node.first
            inside = slice(first, first + node.events)
            for kind, which in enumerate(
                (trace.receives[inside], trace.sends[inside], trace.call[inside] == Call.WAIT)
            ):
                before[kind, rank, turn] = float(trace.compute[inside][which].sum())
    return Exchange(
        source=pairs // trace.ranks,
        target=pairs % trace.ranks,
        messages=counts.astype(np.int64),
        size=size,
        turns=turns,
        before=before,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExchangeForms:
    """How much is exchanged in a turn, over counts of ranks."""

    pairs: TotalForm
    messages: TotalForm
    size: TotalForm
    largest: Exchange
    ranks: int
    """Of the largest trace."""
    tag: int

    @classmethod
    def of(cls, exchanges: Mapping[int, Exchange], tag: int) -> "ExchangeForms":
        """Fitted to traces by their count of ranks."""
        last = max(exchanges)
        return cls(
            pairs=total_form({count: float(len(own.source)) for count, own in exchanges.items()}),
            messages=total_form({count: float(own.messages.sum()) / own.turns for count, own in exchanges.items()}),
            size=total_form({count: float(own.size.sum()) / own.turns for count, own in exchanges.items()}),
            largest=exchanges[last],
            ranks=last,
            tag=tag,
        )

    def drawn(self, ranks: int) -> DrawnExchange:
        """Messages of a turn on so many ranks: both ways between pairs that are as far apart as recorded ones."""
        own = self.largest
        away = np.abs(own.target - own.source)
        wanted = max(round(self.pairs(ranks) / 2), 1)
        far, inverse, counts = np.unique(away, return_inverse=True, return_counts=True)
        room = np.maximum(ranks - far, 0)
        share = counts / np.maximum(self.ranks - far, 1) * room
        number = _rounded(np.minimum(share / share.sum() * wanted, room), wanted, room)
        source, target, size = [], [], []
        mean = own.size / own.messages
        for place, (distance, many) in enumerate(zip(far.tolist(), number.tolist(), strict=True)):
            if not many:
                continue
            low = np.floor((np.arange(many) + 0.5) * (ranks - distance) / many).astype(np.int64)
            sizes = np.sort(mean[inverse.ravel() == place])
            took = sizes[np.floor((np.arange(many) * 0.6180339887 % 1.0) * len(sizes)).astype(np.int64)]
            source += [low, low + distance]
            target += [low + distance, low]
            size += [took, took]
        pairs = np.concatenate(source), np.concatenate(target)
        weights = np.concatenate(size)
        repeats = max(round(self.messages(ranks) / len(weights)), 1)
        weights = weights * (self.size(ranks) / (weights.sum() * repeats))
        whole = np.maximum(np.round(np.tile(weights, repeats)), 0).astype(np.int64)
        return DrawnExchange(
            source=np.tile(pairs[0], repeats), target=np.tile(pairs[1], repeats), size=whole, tag=self.tag
        )


def _rounded(parts: Real, total: int, most: Whole) -> Whole:
    """Whole numbers next to some parts that add up to a total, none above its most."""
    found = np.floor(parts).astype(np.int64)
    order = np.argsort(-(parts - found), kind="stable")
    left = min(total, int(most.sum())) - int(found.sum())
    while left > 0:
        for place in order.tolist():
            if left and found[place] < most[place]:
                found[place] += 1
                left -= 1
    return found
