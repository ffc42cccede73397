"""A Kineto profile as a trace: self times on threads, kernels behind their launches, waiting as dependencies.

On a profile without a device, operations of the host are the work. With one, kernels are, and the host's time prepares
them. What a thread does while it waits (for another thread, or for a device) is not work: it becomes a dependency, so
that it shrinks and grows with what it waits for.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from volvelle.errors import DescriptionError
from volvelle.interchange.traces.host_tree import Node, tree
from volvelle.interchange.traces.kineto_events import DISPATCH, Events, Span, read_events
from volvelle.workload.trace.counting import rank
from volvelle.workload.trace.values import Operation, Place, Trace, Work

_MICRO: Final = 1e-6
_BETWEEN: Final = "between operations"
_QUEUED: Final = 10.0
"""Microseconds between launch and start of a kernel, above which it waited for another stream."""
_WAITING: Final = ("Synchronize", "cudaMemcpy", "hipMemcpy", "StreamWait")


@dataclass(frozen=True, slots=True)
class Recorded:
    """What an execution trace adds to the operation of the same record number: output sizes among its work."""

    name: str
    work: Work | None
    moved: float


def read_kineto(text: str, file: Path, recorded: Mapping[int, Recorded] | None = None) -> Trace:
    """A profile, alone or with what an execution trace of the same run recorded."""
    events = read_events(text, file)
    if not events.spans:
        raise DescriptionError(
            f"{str(file)!r} has no operations; record with torch.profiler.profile(record_shapes=True)"
        )
    joined = _join(events, recorded) if recorded else 0
    found = _Woven(events).trace()
    notes = list(found.notes)
    if recorded is not None and joined:
        notes.append(f"{joined:,} of {len(recorded):,} nodes of the execution trace are in the profile")
    elif recorded is not None:
        notes.append(
            "the execution trace has hardly a node of the profile and is not used: record both in one run (torch 2.1 "
            "or newer)"
        )
    if not any(span.moved for span in events.spans):
        notes.append("the profile has no sizes: record with torch.profiler.profile(record_shapes=True)")
    return Trace(
        format=found.format + (" with execution trace" if joined else ""),
        operations=found.operations,
        streams=found.streams,
        span=found.span,
        left_out=found.left_out,
        notes=tuple(notes),
        host_work=found.host_work,
    )


def _join(events: Events, recorded: Mapping[int, Recorded]) -> int:
    """How many operations both files have; fewer than half are chance, as of old profiles that number otherwise."""
    pairs = []
    for span in events.spans:
        more = recorded.get(span.record) if span.record >= 0 and not span.device else None
        if more is not None and more.name == span.name:
            pairs.append((span, more))
    if len(pairs) < len(recorded) / 2:
        return 0
    for span, more in pairs:
        span.work = more.work if more.work is not None else span.work
        span.moved = max(span.moved, more.moved)
    return len(pairs)


@dataclass(slots=True)
class _Task:
    """An operation to be, by when it began; names of others are their places among tasks."""

    start: float
    end: float
    stream: str
    name: str
    node: str
    seconds: float
    place: Place
    after: list[int] = field(default_factory=list)
    work: Work | None = None
    span: Span | None = None
    share: float = 1.0


class _Woven:
    """Threads and streams woven into one order."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self._host: dict[str, list[Node]] = {}
        self._device: dict[str, list[Span]] = {}
        by_thread: dict[str, list[Span]] = {}
        for span in events.spans:
            (self._device if span.device else by_thread).setdefault(span.thread, []).append(span)
        for thread, spans in by_thread.items():
            self._host[thread] = tree(spans)
        for spans in self._device.values():
            spans.sort(key=lambda span: (span.start, span.end))
        self._tasks: list[_Task] = []
        self._launches: dict[int, int] = {}
        self._owners: dict[int, Span] = {}
        self._around: dict[int, Span] = {}

    def trace(self) -> Trace:
        """The whole."""
        for thread, nodes in self._host.items():
            self._thread(thread, nodes)
        self._kernels()
        self._waits()
        first = min(task.start for task in self._tasks)
        last = max(task.end for task in self._tasks)
        order = self._order()
        number = {task: place for place, task in enumerate(order)}
        streams = tuple(dict.fromkeys(self._tasks[task].stream for task in order))
        stream_numbers = {name: place for place, name in enumerate(streams)}
        operations = []
        for task in order:
            told = self._tasks[task]
            span = told.span
            operations.append(
                Operation(
                    told.name,
                    told.node,
                    stream_numbers[told.stream],
                    told.seconds * _MICRO,
                    tuple(sorted(number[other] for other in set(told.after) if number[other] < number[task])),
                    told.work,
                    span.communication if span is not None and told.place is Place.DEVICE else None,
                    told.place,
                    told.share,
                    span.moved if span is not None and told.place is Place.DEVICE else 0.0,
                    (told.start - first) * _MICRO,
                )
            )
        return Trace(
            format=self._events.format,
            operations=tuple(operations),
            streams=streams,
            span=(last - first) * _MICRO,
            left_out=dict(self._events.left_out),
            notes=tuple(self._events.notes),
            host_work=not self._device,
        )

    def _order(self) -> list[int]:
        """By start; what waits comes behind what it waits for, which the clocks of devices may deny by a little."""
        for task in self._tasks:
            task.after = [other for other in task.after if self._tasks[other].start <= task.start]
        return sorted(
            range(len(self._tasks)), key=lambda number: (self._tasks[number].start, -self._tasks[number].end, number)
        )

    # -- the host ------------------------------------------------------------------------------------------------------

    def _thread(self, thread: str, nodes: list[Node]) -> None:
        """Every span with its own time, and what was between the outermost ones."""
        for node in nodes:
            span = node.span
            if node.parent < 0 and span.start > node.gap:
                self._tasks.append(
                    _Task(node.gap, span.start, thread, _BETWEEN, span.node, span.start - node.gap, Place.HOST)
                )
            if span.runtime and span.correlation >= 0:
                self._launches[span.correlation] = len(self._tasks)
                owner = self._owner(nodes, node)
                if owner is not None:
                    self._owners[span.correlation] = owner
                elif node.parent >= 0:
                    self._around[span.correlation] = nodes[node.parent].span
            works = node.works and not self._device
            speaks = span.communication is not None and node.below < 3 and not self._device
            place = Place.DEVICE if works or speaks else Place.HOST
            if not node.frame and not self._device:
                place = Place.DEVICE
            self._tasks.append(
                _Task(
                    span.start,
                    span.end,
                    thread,
                    span.name,
                    span.node,
                    node.self_time,
                    place,
                    work=span.work if works else None,
                    span=span,
                )
            )

    def _owner(self, nodes: list[Node], node: Node) -> Span | None:
        """The innermost operation around a launch that has work or communication of its own."""
        at = node.parent
        while at >= 0:
            span = nodes[at].span
            if span.communication is not None or (span.work is not None and rank(span.work) > 0):
                return span
            at = nodes[at].parent
        return None

    # -- devices -------------------------------------------------------------------------------------------------------

    def _kernels(self) -> None:
        taken: Counter[int] = Counter()
        for spans in self._device.values():
            for span in spans:
                owner = self._owners.get(span.correlation)
                if owner is not None:
                    taken[id(owner)] += max(span.end - span.start, 1e-3)  # type: ignore[assignment]
        starts: dict[str, list[float]] = {}
        numbers: dict[str, list[int]] = {}
        for stream, spans in self._device.items():
            for span in spans:
                owner = self._owners.get(span.correlation)
                task = _Task(
                    span.start,
                    span.end,
                    stream,
                    span.name,
                    span.node,
                    span.end - span.start,
                    Place.DEVICE,
                    work=span.work,
                    span=span,
                )
                if owner is not None and span.work is None:
                    if owner.communication is not None and span.communication is None and "nccl" in span.name.lower():
                        span.communication = owner.communication
                    elif owner.work is not None and not _is_host_copy(span):
                        task.work = owner.work
                        task.share = max(span.end - span.start, 1e-3) / taken[id(owner)]
                        span.moved = owner.moved * task.share
                around = self._around.get(span.correlation)
                if around is not None and not span.moved:
                    span.moved, around.moved = around.moved, 0.0  # bytes count once, and are not understood
                launch = self._launches.get(span.correlation)
                if launch is not None:
                    task.after.append(launch)
                else:
                    self._events.left_out["launches of kernels"] += 1
                starts.setdefault(stream, []).append(span.end)
                numbers.setdefault(stream, []).append(len(self._tasks))
                self._tasks.append(task)
        self._across(starts, numbers)

    def _across(self, ends: dict[str, list[float]], numbers: dict[str, list[int]]) -> None:
        """A kernel that began long after its launch and its stream's last waited for one of another stream."""
        for stream, own in numbers.items():
            free = 0.0
            for task in own:
                told = self._tasks[task]
                ready = max([free, *(self._tasks[other].end for other in told.after)])
                if told.after and told.start - ready > _QUEUED:
                    for other, others in numbers.items():
                        place = bisect_right(ends[other], told.start) - 1
                        if other != stream and place >= 0 and ends[other][place] > ready:
                            told.after.append(others[place])
                free = told.end

    # -- waiting -------------------------------------------------------------------------------------------------------

    def _waits(self) -> None:
        device: dict[str, tuple[list[float], list[int]]] = {}
        host: dict[str, tuple[list[float], list[int]]] = {}
        for number, task in enumerate(self._tasks):
            if task.name == _BETWEEN and task.place is Place.HOST:
                continue
            of = device if task.span is not None and task.span.device else host
            ends, numbers = of.setdefault(task.stream, ([], []))
            ends.append(task.end)
            numbers.append(number)
        for of in (device, host):
            for stream, (ends, numbers) in of.items():
                order = sorted(range(len(ends)), key=ends.__getitem__)
                of[stream] = ([ends[place] for place in order], [numbers[place] for place in order])
        self._handed_on(host)
        for task in self._tasks:
            if task.span is not None and task.span.runtime and any(word in task.name for word in _WAITING):
                self._shorten(task, device)
            elif task.name == _BETWEEN and task.span is None and len(host) > 1:
                self._shorten(task, {name: told for name, told in host.items() if name != task.stream})

    def _handed_on(self, host: Mapping[str, tuple[list[float], list[int]]]) -> None:
        """An exchange on a thread of a library comes behind the call that handed it there."""
        calls = sorted(
            (self._tasks[number].start, number)
            for _, numbers in host.values()
            for number in numbers
            if self._tasks[number].name.startswith(DISPATCH)
        )
        for task in self._tasks:
            if task.span is not None and not task.span.device and task.span.communication is not None:
                place = bisect_right(calls, (task.start, len(self._tasks))) - 1
                if place >= 0 and self._tasks[calls[place][1]].stream != task.stream:
                    task.after.append(calls[place][1])

    def _shorten(self, task: _Task, others: Mapping[str, tuple[list[float], list[int]]]) -> None:
        """What of a span is left behind the last that it waited for."""
        latest = task.start
        for ends, numbers in others.values():
            place = bisect_right(ends, task.end) - 1
            if place >= 0 and ends[place] > task.start:
                task.after.append(numbers[place])
                latest = max(latest, ends[place])
        if latest > task.start:
            task.seconds = min(task.seconds, task.end - latest)
            # It stands behind what it waited for, also in the order of the trace.
            task.start = latest


def _is_host_copy(span: Span) -> bool:
    return "Memcpy" in span.name
