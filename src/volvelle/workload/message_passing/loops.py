"""Loops of a program, found in what one rank called: patterns of calls that follow each other several times.

Short patterns are found first and stand for one call from then on, so that loops inside loops are found too. Where a
loop begins inside its period cannot be seen from calls; the first place from which it repeats is taken.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from volvelle.workload.message_passing.calls import FIRST_COLLECTIVE, Call
from volvelle.workload.message_passing.trace import MessageTrace, Whole

LONGEST = 4096
"""Calls of a loop's body at the most, loops inside counted as one."""
_EXCHANGE = -7
"""Stands for all messages between two collectives."""


@dataclass(frozen=True, slots=True)
class Once:
    """A call, by its place among those of its rank."""

    first: int
    events: int = 1


@dataclass(frozen=True, slots=True)
class Loop:
    """A body that is run several times."""

    first: int
    """Place of its first call."""
    events: int
    """Calls of all its turns."""
    turns: "tuple[tuple[Node, ...], ...]"
    """What each turn calls: as many calls and loops, with the same symbols."""

    @property
    def count(self) -> int:
        """How often it is run."""
        return len(self.turns)

    @property
    def body(self) -> "tuple[Node, ...]":
        """Of the first turn."""
        return self.turns[0]

    @property
    def period(self) -> int:
        """Calls of one turn, the mean where messages change."""
        return self.events // self.count


Node: TypeAlias = Once | Loop


def loops_of(symbols: Sequence[int] | Whole) -> tuple[Node, ...]:
    """A sequence of symbols as calls and loops."""
    return folded(np.asarray(symbols, dtype=np.int64), [Once(place) for place in range(len(symbols))])


def rank_loops(trace: MessageTrace, rank: int) -> tuple[Node, ...]:
    """What a rank called, as loops.

    Calls are alike that have the same partner, bytes, tag and group. Where that shows few loops (messages that change
    from turn to turn), all messages between two collectives are one call.
    """
    events = slice(int(trace.first[rank]), int(trace.first[rank + 1]))
    columns = [trace.call, trace.partner, trace.size, trace.tag, trace.group]
    table = np.stack([column[events] for column in columns], axis=1)
    if not len(table):
        return ()
    symbols = np.unique(table, axis=0, return_inverse=True)[1].ravel()
    fine = loops_of(symbols)
    if sum(node.events for node in fine if isinstance(node, Loop)) >= len(table) / 2:
        return fine
    coarse = _coarse(table)
    found = folded(*coarse)
    return found if _looped(found) > _looped(fine) else fine


def _looped(nodes: Sequence[Node]) -> int:
    return sum(node.events for node in nodes if isinstance(node, Loop))


def _coarse(table: Whole) -> tuple[Whole, list[Node]]:
    """Messages between collectives as one call, and collectives without their bytes."""
    tokens: list[int] = []
    nodes: list[Node] = []
    message = table[:, 0] < FIRST_COLLECTIVE
    place = 0
    while place < len(table):
        if message[place]:
            after = place
            while after < len(table) and message[after]:
                after += 1
            tokens.append(_EXCHANGE)
            nodes.append(Once(place, after - place))
            place = after
        else:
            tokens.append(int(table[place, 0]) + len(Call) * int(table[place, 4]))
            nodes.append(Once(place))
            place += 1
    return np.array(tokens, dtype=np.int64), nodes


def folded(tokens: Whole, nodes: list[Node]) -> tuple[Node, ...]:
    """Repeats of tokens folded until none are left, a node standing for each; equal loops are one token."""
    known: dict[tuple[int, ...], int] = {}
    next_token = int(tokens.max(initial=0)) + 1
    period = 1
    while period <= min(len(tokens) // 2, LONGEST):
        runs = _runs(tokens[period:] == tokens[:-period], period)
        if not runs:
            period += 1
            continue
        new_tokens: list[int] = []
        new_nodes: list[Node] = []
        done = 0
        for start, length in runs:
            if start < done:
                over = done - start
                if length - over < period:
                    continue
                start, length = done, length - over  # noqa: PLW2901 - what is left of it
            count = length // period + 1
            after = start + count * period
            new_tokens.extend(tokens[done:start].tolist())
            new_nodes.extend(nodes[done:start])
            key = (count, *tokens[start : start + period].tolist())
            if key not in known:
                known[key] = next_token
                next_token += 1
            inside = nodes[start:after]
            new_tokens.append(known[key])
            turns = tuple(tuple(inside[at : at + period]) for at in range(0, len(inside), period))
            new_nodes.append(Loop(inside[0].first, sum(node.events for node in inside), turns))
            done = after
        new_tokens.extend(tokens[done:].tolist())
        new_nodes.extend(nodes[done:])
        tokens, nodes = np.array(new_tokens, dtype=np.int64), new_nodes
        period = 1
    return tuple(nodes)


def _runs(same: np.ndarray, least: int) -> list[tuple[int, int]]:
    """Where and how long something holds without a gap, at least so long."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], same.view(np.int8), [0]])))
    starts, ends = edges[::2], edges[1::2]
    long = ends - starts >= least
    return list(zip(starts[long].tolist(), (ends - starts)[long].tolist(), strict=True))
