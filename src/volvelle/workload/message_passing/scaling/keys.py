"""What an event of a trace is at any count of ranks: its call, and its partner by the rule that all follow."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from volvelle.workload.message_passing.calls import ROOTED, Call
from volvelle.workload.message_passing.scaling.geometry import GEOMETRIES, NOBODY, Geometry, role_of
from volvelle.workload.message_passing.trace import MessageTrace, Whole

_MOST_LABELS = 32
"""Partners of one rule; 26 touch a cell of a grid in space."""


@dataclass(frozen=True, slots=True)
class Channel:
    """Messages that follow one rule: sent or received, with one tag."""

    sends: bool
    tag: int
    geometry: int | None
    """Which of them; None: partners follow none of the rules."""
    labels: tuple[int, ...] = ()
    """That the largest trace has."""

    @property
    def rule(self) -> Geometry:
        """The rule by its number."""
        assert self.geometry is not None, "only regular channels have one"
        return GEOMETRIES[self.geometry]


@dataclass(frozen=True, slots=True)
class Key:
    """An event that all ranks understand alike."""

    call: Call
    channel: Channel | None = None
    label: int = 0
    """Of the partner by the channel's rule, or the root of a collective: 0 or, for the last rank, -1."""
    group: int = 0
    waits: bool = False
    """Whether it is the wait for such an event."""

    def said(self) -> str:
        """In words."""
        name = f"wait for {self.call.word}" if self.waits else self.call.word
        if self.channel is None or self.channel.geometry is None:
            return name
        whom = "" if self.channel.rule.sweeps else f" {self.channel.rule.said(self.label)}"
        return f"{name} {'to' if self.channel.sends else 'from'} {self.channel.rule.name}{whom}, tag {self.channel.tag}"


Channels = Mapping[tuple[bool, int], Channel]


def channels_of(traces: Mapping[int, MessageTrace]) -> Channels:
    """Of all messages of traces by their count of ranks, by whether they are sent and their tag."""
    found = {}
    for sends in (True, False):
        tags = {tag for trace in traces.values() for tag in np.unique(trace.tag[_side(trace, sends)]).tolist()}
        for tag in sorted(tags):
            found[sends, tag] = _channel(traces, sends, tag)
    both = {tag for _, tag in found}
    for tag in both:  # what is sent by no rule is received by none
        if any(found[side, tag].geometry is None for side in (True, False) if (side, tag) in found):
            for side in (True, False):
                found[side, tag] = Channel(side, tag, None)
    return found


def _side(trace: MessageTrace, sends: bool) -> np.ndarray:
    return trace.sends if sends else trace.receives


def _labels(geometry: Geometry, ranks: Whole, partners: Whole, count: int, known: Iterable[int]) -> Whole:
    """Labels of partners; where two mean one rank, as on a ring of two, that which is known from larger ones."""
    found = geometry.label(ranks, partners, count)
    known = list(known)
    strange = ~np.isin(found, known)
    if len(known) <= _MOST_LABELS and strange.any():
        for label in known:
            found[strange & (geometry.partner(ranks, label, count, 0) == partners)] = label
    return found


def _channel(traces: Mapping[int, MessageTrace], sends: bool, tag: int) -> Channel:
    """The rule with the fewest labels of those that say at every count who has which partner."""
    events = {
        count: np.flatnonzero(_side(trace, sends) & (trace.tag == tag) & (trace.group == 0))
        for count, trace in traces.items()
    }
    if any(not len(own) for own in events.values()):
        return Channel(sends, tag, None)
    best: tuple[int, int, tuple[int, ...]] | None = None
    last = max(traces)
    for number, geometry in enumerate(GEOMETRIES):
        largest = np.unique(geometry.label(traces[last].rank[events[last]], traces[last].partner[events[last]], last))
        known = () if geometry.sweeps else tuple(largest.tolist())
        labels = {
            count: _labels(geometry, traces[count].rank[own], traces[count].partner[own], count, known)
            for count, own in events.items()
        }
        if geometry.sweeps:
            fits = all(_sweeps(traces[count], own, labels[count]) for count, own in events.items())
            distinct = 2
        else:
            every = {count: set(np.unique(own).tolist()) for count, own in labels.items()}
            distinct = len(set().union(*every.values()))
            fits = distinct <= _MOST_LABELS and len({frozenset(own) for own in every.values()}) == 1
            fits = fits and _roles(traces, events, labels, geometry)
        if fits and (best is None or distinct < best[0]):
            best = distinct, number, known
    return Channel(sends, tag, None) if best is None else Channel(sends, tag, best[1], best[2])


def _roles(
    traces: Mapping[int, MessageTrace], events: Mapping[int, Whole], labels: Mapping[int, Whole], geometry: Geometry
) -> bool:
    """Whether those who have a partner by some label are all who could have, or a role among them."""
    for label in np.unique(np.concatenate(list(labels.values()))).tolist():
        own = {count: traces[count].rank[events[count][labels[count] == label]] for count in events}
        possible = {count: geometry.partner(np.arange(count), label, count, 0) != NOBODY for count in events}
        if role_of(own, possible) is None:
            return False
    return True


def _sweeps(trace: MessageTrace, events: Whole, turns: Whole) -> bool:
    """Whether the partners of every rank come one after the other, from the first."""
    if np.any(turns < 0):
        return False
    ranks = trace.rank[events]
    first = np.concatenate([[True], np.diff(ranks) != 0])
    expected_next = np.concatenate([[0], turns[:-1] + 1])
    return bool(np.all(turns[first] == 0) and np.all((turns == expected_next) | (turns == 0)) and turns.max() > 0)


def keys_of(trace: MessageTrace, channels: Channels) -> list[Key]:
    """Of every event."""
    label = np.zeros(len(trace), dtype=np.int64)
    for (sends, tag), channel in channels.items():
        own = np.flatnonzero(_side(trace, sends) & (trace.tag == tag))
        if channel.geometry is not None and not channel.rule.sweeps and len(own):
            label[own] = _labels(channel.rule, trace.rank[own], trace.partner[own], trace.ranks, channel.labels)
    known: dict[tuple[int, ...], Key] = {}
    found: list[Key] = []
    columns = (trace.call, trace.partner, trace.tag, trace.group, label, trace.waited)
    for call, partner, tag, group, own, waited in zip(*(column.tolist() for column in columns), strict=True):
        if call == Call.WAIT:
            asked = found[waited]
            key = Key(asked.call, asked.channel, asked.label, asked.group, waits=True)
        elif call < Call.WAIT:
            sends = call <= Call.ISEND
            named = (call, tag, own)
            if named not in known:
                known[named] = Key(Call(call), channels[sends, tag], own)
            key = known[named]
        else:
            root = 0 if call not in ROOTED else -1 if partner == trace.ranks - 1 and partner else partner
            key = Key(Call(call), None, root, group)
        found.append(key)
    return found
