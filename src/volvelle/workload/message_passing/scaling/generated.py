"""Events of a program on a count of ranks, all ranks of a call at once."""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from volvelle.errors import OutsideDomainError
from volvelle.workload.message_passing.calls import ROOTED, Call
from volvelle.workload.message_passing.scaling.fitted import FittedSlot
from volvelle.workload.message_passing.scaling.geometry import NOBODY, ROLES
from volvelle.workload.message_passing.scaling.irregular import DrawnExchange
from volvelle.workload.message_passing.scaling.keys import Key
from volvelle.workload.message_passing.trace import NONE, RANKS, WORLD, Mask, MessageTrace, RankGroup, Real, Whole

MOST_EVENTS = 30_000_000
"""Of a trace that is made."""


def generated(slots: Sequence[FittedSlot], ranks: int, *, recorded: int, name: str) -> MessageTrace:
    """The trace, with times as if nobody waited: computation alone; `recorded` are ranks of the largest trace."""
    RANKS.check(ranks, "the number of ranks to extrapolate to")
    if _at_most(slots, ranks) > 2.0 * MOST_EVENTS:  # ranks at the edge leave some out
        raise _too_many(ranks)
    made = _Making(slots, ranks, recorded)
    made.run(slots, [])
    return made.trace(name)


def _at_most(slots: Sequence[FittedSlot], ranks: int) -> float:
    """Events, if all ranks called everything."""
    found = 0.0
    for slot in slots:
        if slot.exchange is not None:
            found += 4.0 * slot.exchange.messages(ranks)
        elif slot.turns is not None:
            found += max(slot.turns(ranks), 0.0) * _at_most(slot.body, ranks)
        else:
            found += ranks
    return found


def _too_many(ranks: int) -> OutsideDomainError:
    return OutsideDomainError(
        f"{ranks:,} ranks make more than {MOST_EVENTS:,} events; ask for fewer, or record fewer turns"
    )


class _Making:
    """Columns of events as they are made, a block for each call."""

    def __init__(self, slots: Sequence[FittedSlot], ranks: int, recorded: int) -> None:
        self.ranks = ranks
        self.everybody: Whole = np.arange(ranks, dtype=np.int64)
        self.blocks: list[tuple[Any, ...]] = []
        self.order = 0
        self.events = 0
        self.open: dict[Key, deque[int]] = {}
        """Calls that nobody waited for, by their place in the order."""
        self.drawn: dict[int, DrawnExchange] = {}
        self.partners: dict[tuple[int, int], Whole] = {}
        self.like: Whole = _alike(slots, ranks, recorded)
        """Of every rank, one of the largest trace that calls the same."""

    def run(self, slots: Sequence[FittedSlot], turns: list[int]) -> None:
        for slot in slots:
            if slot.exchange is not None:
                self._exchange(slot, turns)
            elif slot.key is not None:
                self._call(slot, slot.key, turns)
            else:
                assert slot.turns is not None, "a loop has turns"
                for turn in range(max(round(slot.turns(self.ranks)), 0)):
                    self.run(slot.body, [*turns, turn])

    def _call(self, slot: FittedSlot, key: Key, turns: list[int]) -> None:
        assert slot.size is not None, "a call has one"
        turn = turns[-1] if turns else 0
        partner = self._partner(slot, key, turn)
        there = _there(slot, self.everybody, partner, self.ranks)
        own = self.everybody[there]
        waited = NONE
        if key.waits:
            asked = Key(key.call, key.channel, key.label, key.group)
            waited = self.open[asked].popleft() if self.open.get(asked) else NONE
        elif key.call in (Call.ISEND, Call.IRECV):
            self.open.setdefault(key, deque()).append(self.order)
        compute = self._computed(slot, 0, turns)[there]
        messages = key.call < Call.WAIT and not key.waits
        rooted = not messages and not key.waits and key.call in ROOTED
        self._add(
            own,
            Call.WAIT if key.waits else key.call,
            partner[there] if messages or rooted else np.full(len(own), NONE, dtype=np.int64),
            np.full(len(own), max(round(slot.size(self.ranks)), 0), dtype=np.int64),
            key.channel.tag if key.channel is not None and messages else 0,
            waited,
            compute,
        )

    def _computed(self, slot: FittedSlot, kind: int, turns: list[int]) -> Real:
        """Seconds of every rank before a call: those of a rank like it, in the same turn; a first turn comes once."""
        column = 0
        for turn, count in zip(turns, slot.levels, strict=True):
            column = column * count + (turn if turn < count else 1 + (turn - 1) % max(count - 1, 1)) % count
        table = slot.samples[kind]
        return np.asarray(slot.compute(self.ranks) * table[self.like % len(table), column % table.shape[1]])

    def _partner(self, slot: FittedSlot, key: Key, turn: int) -> Whole:
        if key.channel is None:
            return np.full(self.ranks, key.label % self.ranks, dtype=np.int64)
        rule = key.channel.rule
        known = id(slot), turn if rule.sweeps else 0
        if known not in self.partners:
            self.partners[known] = rule.partner(self.everybody, key.label, self.ranks, turn)
        return self.partners[known]

    def _exchange(self, slot: FittedSlot, turns: list[int]) -> None:
        """Receives, sends and waits of every rank; a place in the order is had by each message of a rank."""
        assert slot.exchange is not None, "messages that follow no rule"
        if id(slot) not in self.drawn:
            self.drawn[id(slot)] = slot.exchange.drawn(self.ranks)
        drawn = self.drawn[id(slot)]
        gaps = [self._computed(slot, kind, turns) for kind in range(3)]
        posted = []
        for call, own, other, gap in (
            (Call.IRECV, drawn.target, drawn.source, gaps[0]),
            (Call.ISEND, drawn.source, drawn.target, gaps[1]),
        ):
            order = np.lexsort((other, own))
            ranks, partners, sizes = own[order], other[order], drawn.size[order]
            place = np.arange(len(ranks)) - np.searchsorted(ranks, ranks)
            self._add_many(
                ranks, call, partners, sizes, drawn.tag, place, np.full(len(ranks), NONE), gap[ranks] * (place == 0)
            )
            posted.append((ranks, place + self.order))
            self.order += int(place.max(initial=-1)) + 1
        for ranks, waited in posted:
            place = np.arange(len(ranks)) - np.searchsorted(ranks, ranks)
            none = np.full(len(ranks), NONE, dtype=np.int64)
            zero = np.zeros(len(ranks), dtype=np.int64)
            gap = gaps[2][ranks] if ranks is posted[0][0] else np.zeros(len(ranks))
            self._add_many(ranks, Call.WAIT, none, zero, 0, place, waited, gap * (place == 0))
            self.order += int(place.max(initial=-1)) + 1

    def _add(self, ranks: Whole, call: int, partner: Whole, size: Whole, tag: int, waited: int, compute: Real) -> None:
        place = np.zeros(len(ranks), dtype=np.int64)
        self._add_many(ranks, call, partner, size, tag, place, np.full(len(ranks), waited), compute)
        self.order += 1

    def _add_many(
        self, ranks: Whole, call: int, partner: Whole, size: Whole, tag: int, place: Whole, waited: Whole, compute: Real
    ) -> None:
        self.events += len(ranks)
        if self.events > MOST_EVENTS:
            raise _too_many(self.ranks)
        whole = len(ranks)
        self.blocks.append(
            (ranks, np.full(whole, call), partner, size, np.full(whole, tag), self.order + place, waited, compute)
        )

    def trace(self, name: str) -> MessageTrace:
        columns = [np.concatenate([block[at] for block in self.blocks]) for at in range(8)]
        rank, call, partner, size, tag, order, waited, compute = columns
        sort = np.lexsort((order, rank))
        rank, call, partner, size, tag, order, waited = (
            np.asarray(column[sort], dtype=np.int64) for column in columns[:7]
        )
        compute = np.asarray(columns[7][sort], dtype=np.float64)
        key = rank * (self.order + 1) + order
        asks = waited >= 0
        place = np.searchsorted(key, rank[asks] * (self.order + 1) + waited[asks])
        waited[asks] = place
        first = np.searchsorted(rank, np.arange(self.ranks))
        elapsed = np.cumsum(compute)
        first = np.minimum(first, len(rank) - 1)
        before = elapsed[first] - compute[first]
        start = np.maximum(elapsed - before[rank], 0.0)
        return MessageTrace(
            name=name,
            ranks=self.ranks,
            groups=(RankGroup(WORLD, tuple(range(self.ranks))),),
            rank=rank,
            call=call,
            partner=partner,
            size=size,
            tag=tag,
            group=np.zeros(len(rank), dtype=np.int64),
            waited=waited,
            start=start,
            end=start.copy(),
            compute=compute,
            line=np.zeros(len(rank), dtype=np.int64),
        )


def _there(slot: FittedSlot, ranks: Whole, partner: Whole, count: int) -> Mask:
    """Who calls it."""
    return np.asarray(ROLES[slot.role](ranks, count) & (partner != NOBODY))


def _calls(slots: Sequence[FittedSlot]) -> Iterator[FittedSlot]:
    for slot in slots:
        if slot.key is not None and (slot.key.channel is None or not slot.key.channel.rule.sweeps):
            yield slot
        yield from _calls(slot.body)


def _alike(slots: Sequence[FittedSlot], ranks: int, recorded: int) -> Whole:
    """Ranks of the largest trace that leave out what a rank leaves out, in turn; any, where there is none."""
    signs = []
    for count in (recorded, ranks):
        every = np.arange(count, dtype=np.int64)
        called = [np.ones(count, dtype=bool)]
        for slot in _calls(slots):
            if slot.key is not None and slot.key.channel is not None:
                partner = slot.key.channel.rule.partner(every, slot.key.label, count, 0)
                called.append(_there(slot, every, partner, count))
            else:
                called.append(_there(slot, every, every, count))
        signs.append([row.tobytes() for row in np.stack(called, axis=1)])
    having: dict[bytes, list[int]] = {}
    for rank, sign in enumerate(signs[0]):
        having.setdefault(sign, []).append(rank)
    seen: dict[bytes, int] = {}
    found = np.arange(ranks, dtype=np.int64) % recorded
    for rank, sign in enumerate(signs[1]):
        if sign in having:
            found[rank] = having[sign][seen.get(sign, 0) % len(having[sign])]
            seen[sign] = seen.get(sign, 0) + 1
    return found
