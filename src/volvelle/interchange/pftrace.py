"""A replayed step as a Perfetto trace in protocol buffers (.pftrace): a third of the bytes of the JSON, uncompressed.

Packets of one sequence: tracks (a process a stage, a thread a stream), names once each, then slices by their begin and
end, counters of memory, and flows of what is handed over. Times are whole nanoseconds. Numbers of fields are those of
perfetto/trace/trace_packet.proto and track_event.proto.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from volvelle.interchange.traces import wire

_NANO = 1e9
_SEQUENCE = 1
_CLEARED, _NEEDED = 1, 2
"""Flags of a packet: what was named before is forgotten; names are needed."""
_BEGIN, _END, _COUNTER = 1, 2, 4
_BYTES_UNIT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Slices:
    """Slices of one track, in order, none over another."""

    process: int
    thread: int
    names: Sequence[str]
    parts: Sequence[str]
    starts: NDArray[np.float64]
    ends: NDArray[np.float64]
    flows: Sequence[tuple[int, bool]] = ()
    """Of every slice: the number of what it hands over or takes, and whether it takes it; -1: nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counter:
    """A value over time."""

    process: int
    name: str
    times: NDArray[np.float64]
    values: NDArray[np.float64]


class Packets:
    """Collects a trace."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._names: dict[str, int] = {}
        self._categories: dict[str, int] = {}
        self._first = True

    def whole(self) -> bytes:
        """The whole trace."""
        return b"".join(self._parts)

    def _packet(self, *fields: bytes, flags: int = _NEEDED) -> None:
        if self._first:
            flags |= _CLEARED
            self._first = False
        body = b"".join((*fields, wire.integer(10, _SEQUENCE), wire.integer(13, flags)))
        self._parts.append(wire.chunk(1, body))

    def process(self, number: int, name: str) -> None:
        """A stage."""
        told = wire.integer(1, number + 1) + wire.chunk(6, name)
        self._packet(wire.chunk(60, wire.integer(1, _of_process(number)) + wire.chunk(3, told)))

    def thread(self, process: int, number: int, name: str) -> None:
        """A stream of a stage."""
        told = wire.integer(1, process + 1) + wire.integer(2, _of_thread(process, number)) + wire.chunk(5, name)
        parent = wire.integer(5, _of_process(process))
        self._packet(wire.chunk(60, wire.integer(1, _of_thread(process, number)) + parent + wire.chunk(4, told)))

    def counter(self, counter: Counter) -> None:
        """All values of a counter."""
        track = _of_counter(counter.process)
        told = wire.integer(1, track) + wire.chunk(2, counter.name) + wire.integer(5, _of_process(counter.process))
        self._packet(wire.chunk(60, told + wire.chunk(8, wire.integer(3, _BYTES_UNIT))))
        head = wire.integer(9, _COUNTER) + wire.integer(11, track)
        for time, value in zip(_nanos(counter.times), np.rint(counter.values).astype(np.int64).tolist(), strict=True):
            self._packet(wire.integer(8, time), wire.chunk(11, head + wire.integer(30, value)))

    def slices(self, slices: Slices) -> None:
        """All slices of a track, each with its end."""
        self._packet(wire.chunk(12, b"".join(self._named(slices))))
        track = wire.integer(11, _of_thread(slices.process, slices.thread))
        end = wire.chunk(11, wire.integer(9, _END) + track)
        flows = slices.flows or [(-1, False)] * len(slices.names)
        made: dict[tuple[str, str], bytes] = {}
        for name, part, start, stop, (flow, taken) in zip(
            slices.names, slices.parts, _nanos(slices.starts), _nanos(slices.ends), flows, strict=True
        ):
            if (name, part) not in made:
                made[name, part] = (
                    wire.integer(3, self._categories[part])
                    + wire.integer(9, _BEGIN)
                    + wire.integer(10, self._names[name])
                    + track
                )
            begun = made[name, part] + (wire.fixed64(48 if taken else 47, flow + 1) if flow >= 0 else b"")
            self._packet(wire.integer(8, start), wire.chunk(11, begun))
            self._packet(wire.integer(8, stop), end)

    def _named(self, slices: Slices) -> Iterator[bytes]:
        """Names that are new."""
        for field, known, words in ((1, self._categories, slices.parts), (2, self._names, slices.names)):
            for word in dict.fromkeys(words):
                if word not in known:
                    known[word] = len(known) + 1
                    yield wire.chunk(field, wire.integer(1, known[word]) + wire.chunk(2, word))


def _nanos(seconds: NDArray[np.float64]) -> list[int]:
    found: list[int] = np.rint(seconds * _NANO).astype(np.int64).tolist()
    return found


def _of_process(number: int) -> int:
    return (number + 1) * 1000


def _of_thread(process: int, number: int) -> int:
    return _of_process(process) + number + 1


def _of_counter(process: int) -> int:
    return _of_process(process) + 999
