"""A program whose turns, sizes, roles and times are functions of the rank count.

Computation is fitted a body at a time: what a rank computes in a turn may stand before any of its calls, and before
another on ranks that leave some out. How it varies over ranks and turns is kept as the largest trace has it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from volvelle.workload.message_passing.loops import Loop
from volvelle.workload.message_passing.scaling.forms import Form, exact_form, time_form
from volvelle.workload.message_passing.scaling.geometry import NOBODY, role_of
from volvelle.workload.message_passing.scaling.irregular import ExchangeForms, exchange_of
from volvelle.workload.message_passing.scaling.keys import Key
from volvelle.workload.message_passing.scaling.template import Member, Slot
from volvelle.workload.message_passing.trace import MessageTrace, Real

Traces = Mapping[int, MessageTrace]
_AS_IT_IS = Form("1", 1.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedSlot:
    """A call, a loop, or messages that follow no rule, on any count of ranks."""

    key: Key | None = None
    role: str = "all ranks"
    size: Form | None = None
    compute: Form = _AS_IT_IS
    """Seconds of a turn of the body that it is in, over those of the largest trace."""
    samples: Real = field(default_factory=lambda: np.zeros((1, 1, 1)))
    """Seconds before it in the largest trace: a row a rank, a column a turn; three such tables for an exchange."""
    levels: tuple[int, ...] = ()
    """Turns of the loops around it in the largest trace, the outermost first."""
    turns: Form | None = None
    body: "tuple[FittedSlot, ...]" = ()
    exchange: ExchangeForms | None = None


def fitted(
    slots: Sequence[Slot], traces: Traces, levels: tuple[int, ...] = ()
) -> tuple[tuple[FittedSlot, ...], list[str]]:
    """The program, and what of it is known only roughly."""
    notes: list[str] = []
    found: list[FittedSlot] = []
    totals = dict.fromkeys(traces, 0.0)
    for slot in slots:
        if slot.loops:
            turns = _turns(slot, notes)
            inside, told = fitted(slot.body, traces, (*levels, max(round(turns(max(traces))), 1)))
            notes += told
            found.append(FittedSlot(turns=turns, body=inside))
        elif slot.exchange:
            found.append(_exchange(slot, traces, levels, totals))
        elif slot.key is not None and not slot.key.group:
            found.append(_call(slot, slot.key, traces, levels, totals, notes))
    last = totals[max(traces)]
    form = time_form(totals)
    own = Form(form.feature, form.factor / last, form.constant / last) if last > 0.0 else _AS_IT_IS
    return tuple(slot if slot.turns is not None else replace(slot, compute=own) for slot in found), notes


def _call(
    slot: Slot, key: Key, traces: Traces, levels: tuple[int, ...], totals: dict[int, float], notes: list[str]
) -> FittedSlot:
    events = {
        member: int(traces[member[0]].first[member[1]]) + np.array([node.first for node in nodes])
        for member, nodes in slot.nodes.items()
    }
    last = max(traces)
    usual = _usual([traces[last].compute[own] for (count, _), own in events.items() if count == last])
    for (count, _), own in events.items():
        totals[count] += float(usual(traces[count].compute[own])) / count
    there = {rank: own for (count, rank), own in events.items() if count == last}
    samples = np.zeros((1, last, max((len(own) for own in there.values()), default=1)))
    for rank, own in there.items():
        samples[0, rank, : len(own)] = traces[last].compute[own]
    return FittedSlot(
        key=key,
        role=_role(slot, key, notes),
        size=_size(key, events, traces, notes),
        samples=samples,
        levels=levels,
    )


def _usual(computed: Sequence[Real]) -> Callable[[Real], Real]:
    """What stands for all turns: their median, which the first turn does not move, or the mean where few compute."""
    every = np.concatenate([own.ravel() for own in computed]) if computed else np.zeros(1)
    return np.median if float(np.median(every)) > float(every.mean()) / 2 else np.mean


def _exchange(slot: Slot, traces: Traces, levels: tuple[int, ...], totals: dict[int, float]) -> FittedSlot:
    exchanges = {}
    for count in traces:
        own = {rank: nodes for (at, rank), nodes in slot.nodes.items() if at == count}
        if own:
            exchanges[count] = exchange_of(traces[count], own)
            totals[count] += float(np.median(exchanges[count].before, axis=2).sum()) / count
    last = max(exchanges)
    member = next(member for member in slot.nodes if member[0] == last)
    first = int(traces[last].first[member[1]]) + slot.nodes[member][0].first
    forms = ExchangeForms.of(exchanges, int(traces[last].tag[first]))
    return FittedSlot(exchange=forms, samples=exchanges[last].before, levels=levels)


def _turns(slot: Slot, notes: list[str]) -> Form:
    told: dict[int, set[int]] = {}
    for (count, _), nodes in slot.nodes.items():
        told.setdefault(count, set()).update(node.count for node in nodes if isinstance(node, Loop))
    counts = {count: max(own) for count, own in told.items()}
    form = exact_form(counts)
    if form is None or any(len(own) > 1 for own in told.values()):
        seen = ", ".join(f"{own} on {count}" for count, own in sorted(counts.items()))
        notes.append(f"turns of a loop ({seen} ranks) follow no form; taken as of the largest trace")
        return Form("1", float(counts[max(counts)]))
    return form


def _role(slot: Slot, key: Key, notes: list[str]) -> str:
    ranks: dict[int, list[int]] = {}
    for count, rank in slot.nodes:
        ranks.setdefault(count, []).append(rank)
    possible = {count: np.ones(count, dtype=bool) for count in ranks}
    if key.channel is not None and not key.channel.rule.sweeps:
        for count in ranks:
            possible[count] = key.channel.rule.partner(np.arange(count), key.label, count, 0) != NOBODY
    role = role_of({count: np.array(own) for count, own in ranks.items()}, possible)
    if role is None:
        notes.append(f"who calls {key.said()} follows no rule; taken as all ranks that can")
        return "all ranks"
    return role


def _size(key: Key, events: Mapping[Member, np.ndarray], traces: Traces, notes: list[str]) -> Form:
    if key.waits:
        return Form("1", 0.0)
    sizes: dict[int, list[int]] = {}
    for (count, _), own in events.items():
        sizes.setdefault(count, []).extend(np.unique(traces[count].size[own]).tolist())
    if all(len(set(own)) == 1 for own in sizes.values()):
        form = exact_form({count: own[0] for count, own in sizes.items()})
        if form is not None:
            return form
    mean = {count: float(np.mean(own)) for count, own in sizes.items()}
    seen = ", ".join(f"{value:,.0f} on {count}" for count, value in sorted(mean.items()))
    notes.append(f"bytes of {key.said()} ({seen} ranks) follow no form; the nearest is taken")
    return time_form(mean)
