"""A trace of more ranks from traces of fewer: calls, partners, sizes, turns and times by the rank count."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from volvelle.domains import NumberDomain
from volvelle.errors import DescriptionError
from volvelle.workload.message_passing.scaling.fitted import FittedSlot, fitted
from volvelle.workload.message_passing.scaling.generated import generated
from volvelle.workload.message_passing.scaling.keys import Channels, channels_of
from volvelle.workload.message_passing.scaling.template import template_of
from volvelle.workload.message_passing.trace import MessageTrace, matched

TRACES = NumberDomain(2, 8, whole=True)
"""Counts of ranks that are needed; three tell more."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Extrapolation:
    """What a program does on any count of ranks."""

    counts: tuple[int, ...]
    """Of the traces."""
    channels: Channels
    slots: Sequence[FittedSlot]
    not_generalised: tuple[str, ...]
    """What is not known for more ranks, or only roughly."""
    exact: Mapping[int, bool] = field(default_factory=dict)
    """Of every trace, whether the program made for its count has the same messages, rank by rank."""

    def trace(self, ranks: int) -> MessageTrace:
        """Made for so many ranks."""
        return generated(self.slots, ranks, recorded=max(self.counts), name=f"extrapolated to {ranks:,} ranks")

    def stretched(self, ranks: int) -> tuple[str, ...]:
        """Bodies whose computation was seen to grow, and grows far beyond what was seen."""
        forms = {str(slot.compute): slot.compute for slot in _computing(self.slots)}
        last = max(self.counts)
        return tuple(
            f"computation of a body is {form(ranks):.3g} times that of {last} ranks, by {text}: look whether it does"
            for text, form in forms.items()
            if form(ranks) > _STRETCHED
        )


_STRETCHED = 2.0


def _computing(slots: Sequence[FittedSlot]) -> Iterator[FittedSlot]:
    for slot in slots:
        if slot.turns is None and slot.samples.any():
            yield slot
        yield from _computing(slot.body)


def extrapolation_of(traces: Sequence[MessageTrace]) -> Extrapolation:
    """From traces of the same program on several counts of ranks."""
    by_count = {trace.ranks: trace for trace in sorted(traces, key=lambda trace: trace.ranks)}
    if len(by_count) < len(traces):
        raise DescriptionError(
            f"traces have {', '.join(str(trace.ranks) for trace in traces)} ranks; give one of each count"
        )
    TRACES.check(len(by_count), "the number of traces of different counts of ranks")
    for trace in by_count.values():
        matched(trace)
    channels = channels_of(by_count)
    slots, notes = fitted(template_of(by_count, channels), by_count)
    notes = [*_left_out(by_count), *notes]
    made = Extrapolation(counts=tuple(by_count), channels=channels, slots=slots, not_generalised=())
    exact = {count: _same(made.trace(count), trace) for count, trace in by_count.items()}
    irregular = sorted({tag for (_, tag), channel in channels.items() if channel.geometry is None})
    if irregular:
        notes.append(
            f"partners of messages with tag {', '.join(map(str, irregular))} follow no rule: they are drawn, by how "
            "far apart ranks were, and every rank posts its receives, sends, and waits"
        )
    else:
        notes += [
            f"the trace of {count} ranks is not made again call by call: what it does is not all understood"
            for count, same in exact.items()
            if not same
        ]
    return Extrapolation(
        counts=made.counts,
        channels=channels,
        slots=slots,
        not_generalised=tuple(dict.fromkeys(notes)),
        exact=exact,
    )


def _left_out(traces: Mapping[int, MessageTrace]) -> list[str]:
    found = [
        f"{name} was not recorded ({count:,} calls on {ranks} ranks) and is not made"
        for ranks, trace in traces.items()
        for name, count in trace.left_out.items()
    ]
    groups = {group.name for trace in traces.values() for group in trace.groups[1:]}
    if groups:
        found.append(f"calls of {len(groups)} groups of fewer than all ranks are left out; who is in them is not known")
    return found


def _same(made: MessageTrace, recorded: MessageTrace) -> bool:
    """Whether all ranks call the same on the same partners with the same bytes, in the same order."""
    return len(made) == len(recorded) and all(
        np.array_equal(getattr(made, name), getattr(recorded, name)) for name in ("rank", "call", "partner", "size")
    )
