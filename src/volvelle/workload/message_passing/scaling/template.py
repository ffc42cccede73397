"""One program out of what ranks of several traces did: calls and loops that each rank runs, or leaves out.

Ranks at the edge of a grid leave out what they have no partner for; others have the same calls in the same order. So
what all ranks of all traces called is laid over each other, loop by loop.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from volvelle.errors import OutsideDomainError
from volvelle.workload.message_passing.loops import Loop, Node, Once, folded
from volvelle.workload.message_passing.scaling.keys import Channels, Key, keys_of
from volvelle.workload.message_passing.trace import MessageTrace

Member: TypeAlias = tuple[int, int]
"""A count of ranks, and a rank."""
Turns: TypeAlias = Sequence[Sequence[Node]]
"""Calls and loops of a rank, at every turn of the loop around them."""
_LONGEST = 1500
"""Calls and loops of a program, one after the other, that are laid over each other."""


@dataclass(slots=True)
class Slot:
    """A place in the program."""

    key: Key | None
    """None: a loop, or messages that follow no rule."""
    exchange: bool = False
    """Messages that follow no rule."""
    nodes: dict[Member, list[Node]] = field(default_factory=dict)
    """What ranks have there, at all turns of all loops around it."""
    body: "list[Slot]" = field(default_factory=list)

    @property
    def loops(self) -> bool:
        """Whether it is a loop."""
        return self.key is None and not self.exchange


def template_of(traces: Mapping[int, MessageTrace], channels: Channels) -> list[Slot]:
    """The program that all ranks ran."""
    lists: dict[Member, Turns] = {}
    keyed: dict[Member, Sequence[Key]] = {}
    for count, trace in traces.items():
        keys = keys_of(trace, channels)
        for rank in range(count):
            first, last = int(trace.first[rank]), int(trace.first[rank + 1])
            own = keys[first:last]
            keyed[count, rank] = own
            lists[count, rank] = [_nodes(own, trace.size[first:last].tolist())]
    return _merged(lists, keyed)


def _nodes(keys: Sequence[Key], sizes: Sequence[int]) -> tuple[Node, ...]:
    """Calls and loops of one rank; messages that follow no rule are one call."""
    tokens: list[int] = []
    nodes: list[Node] = []
    known: dict[object, int] = {}
    for place, (key, size) in enumerate(zip(keys, sizes, strict=True)):
        if _irregular(key):
            if nodes and tokens[-1] == 0 and nodes[-1].first + nodes[-1].events == place:
                nodes[-1] = Once(nodes[-1].first, nodes[-1].events + 1)
                continue
            tokens.append(0)
        else:
            tokens.append(known.setdefault((key, size), len(known) + 1))
        nodes.append(Once(place))
    return folded(np.array(tokens, dtype=np.int64), nodes)


def _irregular(key: Key) -> bool:
    return key.channel is not None and key.channel.geometry is None


Sign: TypeAlias = Key | str | frozenset[object]


def _sign(node: Node, keys: Sequence[Key]) -> Sign:
    """What a node is matched by: a call's key, or all keys in a loop."""
    if isinstance(node, Loop):
        return frozenset(_inside(node.body, keys))
    return "exchange" if _irregular(keys[node.first]) else keys[node.first]


def _inside(nodes: Sequence[Node], keys: Sequence[Key]) -> Iterator[Sign]:
    for node in nodes:
        if isinstance(node, Loop):
            yield from _inside(node.body, keys)
        else:
            yield _sign(node, keys)


def _alike(left: Sign, right: Sign) -> bool:
    if isinstance(left, frozenset) and isinstance(right, frozenset):
        return not left.isdisjoint(right)
    return left == right


def _merged(lists: Mapping[Member, Turns], keyed: Mapping[Member, Sequence[Key]]) -> list[Slot]:
    alike: dict[tuple[Sign, ...], list[Member]] = {}
    for member, turns in lists.items():
        alike.setdefault(tuple(_sign(node, keyed[member]) for node in turns[0]), []).append(member)
    drafts: list[tuple[Sign, Slot]] = []
    for signs, members in sorted(alike.items(), key=lambda item: (-len(item[0]), -item[1][0][0], item[1][0][1])):
        if len(signs) > _LONGEST or len(drafts) > _LONGEST:
            raise OutsideDomainError(
                f"{max(len(signs), len(drafts)):,} calls follow each other without a loop; give traces of programs "
                f"that repeat themselves (at most {_LONGEST:,} without)"
            )
        drafts = _laid_over(drafts, signs, members, lists)
    for _, slot in drafts:
        if slot.loops:
            bodies: dict[Member, Turns] = {
                member: [turn for node in nodes if isinstance(node, Loop) for turn in node.turns]
                for member, nodes in slot.nodes.items()
            }
            slot.body = _merged(bodies, keyed)
    return [slot for _, slot in drafts]


def _laid_over(
    drafts: list[tuple[Sign, Slot]],
    signs: Sequence[Sign],
    members: Sequence[Member],
    lists: Mapping[Member, Turns],
) -> list[tuple[Sign, Slot]]:
    """Drafts with more ranks; the longest common part of both stays in order, what is new goes between."""
    rows, columns = len(drafts), len(signs)
    same = [[_alike(draft[0], sign) for sign in signs] for draft in drafts]
    best = np.zeros((rows + 1, columns + 1), dtype=np.int64)
    for row in range(rows - 1, -1, -1):
        for column in range(columns - 1, -1, -1):
            skip = max(best[row + 1, column], best[row, column + 1])
            best[row, column] = max(skip, best[row + 1, column + 1] + 1) if same[row][column] else skip
    found: list[tuple[Sign, Slot]] = []
    row = column = 0
    while row < rows or column < columns:
        if row < rows and column < columns and same[row][column] and best[row, column] == best[row + 1, column + 1] + 1:
            sign, slot = drafts[row]
            if isinstance(sign, frozenset):
                own = signs[column]
                assert isinstance(own, frozenset), "loops are like loops"
                sign = sign | own
            row += 1
        elif row < rows and (column == columns or best[row + 1, column] >= best[row, column + 1]):
            found.append(drafts[row])
            row += 1
            continue
        else:
            sign = signs[column]
            slot = Slot(sign if isinstance(sign, Key) else None, exchange=sign == "exchange")
        for member in members:
            slot.nodes[member] = [turn[column] for turn in lists[member]]
        found.append((sign, slot))
        column += 1
    return found
