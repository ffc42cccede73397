"""A trace as a value: operations on streams in order, what each did, how long it took, and what was left out.

Every reader of a format makes this value, and whoever times it again needs no format.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from volvelle.workload.elements import ELEMENT_BYTES
from volvelle.workload.tensor_layout import Collective


class Tensor(NamedTuple):
    """Sizes of a tensor, and its element type as the package names it; empty: nobody said."""

    dims: tuple[int, ...]
    element: str

    @property
    def elements(self) -> float:
        """How many it has."""
        found = 1.0
        for size in self.dims:
            found *= size
        return found

    @property
    def bytes(self) -> float:
        """What it takes in memory; elements of unknown type are taken as of four bytes."""
        return self.elements * ELEMENT_BYTES.get(self.element, 4.0)


HOST_COPY = "host copy"
"""The kind of a copy between the memory of a chip and that of its host."""


class Work(NamedTuple):
    """What an operation asks of a chip; equal works take equal times."""

    kind: str
    """Product, attention, normalisation, elementwise, reduction, copy …; for people."""
    matrix_flop: float = 0.0
    vector_flop: float = 0.0
    traffic: float = 0.0
    """Bytes read and written; of a product without tiles, once each."""
    element: str = "fp32"
    product: tuple[float, float, float, float] | None = None
    """Rows, columns, depth and instances of a matrix product."""
    keys: float = 0.0
    """Of attention that is one kernel: how many every query looks at."""


class Communication(NamedTuple):
    """What ranks exchange."""

    collective: Collective
    size: float
    """Bytes of the whole tensor, as the law of the collective counts them."""
    group: int = 0
    """Ranks that take part; 0: the trace does not say."""
    stride: int = 1
    """How far apart in number they are."""


class Place(Enum):
    """Where an operation runs."""

    DEVICE = "device"
    """It is work of the chip that is modelled."""
    HOST = "host"
    """It prepares work for a chip: dispatch, launches, views, an interpreter between operations."""
    WAIT = "wait"
    """It only waits for others; its length follows from theirs."""


class Operation(NamedTuple):
    """One operation of a trace."""

    name: str
    node: str
    """By what its file calls it, for messages."""
    stream: int
    seconds: float | None = None
    """Measured, without operations inside it; None: nobody measured."""
    after: tuple[int, ...] = ()
    """Numbers of the operations that it waits for, all smaller than its own."""
    work: Work | None = None
    communication: Communication | None = None
    place: Place = Place.DEVICE
    share: float = 1.0
    """Of its work's time: several kernels may do one operation's work."""
    moved: float = 0.0
    """Bytes of its tensors, as far as they are known."""
    start: float | None = None
    """Measured, from the trace's first."""

    @property
    def understood(self) -> bool:
        """Whether its time on another machine can be told from what it does."""
        return self.work is not None or self.communication is not None or self.place is not Place.DEVICE


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Operations in an order in which they can run, each after those that it waits for."""

    format: str
    """Of its file, with the version that the file states."""
    operations: tuple[Operation, ...]
    streams: tuple[str, ...]
    span: float | None = None
    """Seconds from the first start to the last end, as measured."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """What of the file is not among the operations: a reason, and how many."""
    notes: tuple[str, ...] = ()
    host_work: bool = False
    """Whether threads of the host did the work, with no device beside them."""

    @property
    def measured(self) -> bool:
        """Whether any operation says how long it took."""
        return any(operation.seconds is not None for operation in self.operations)


class Coverage(NamedTuple):
    """How much of a trace is understood, each as a share of what the trace has; None: it has none."""

    time: float | None
    """Of measured time."""
    operations: float | None
    bytes: float | None


def coverage(trace: Trace) -> Coverage:
    """Shares of time, operations and bytes that are understood, of all that is a chip's work."""
    known, every = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
    for operation in trace.operations:
        if operation.place is not Place.DEVICE:
            continue
        parts = (operation.seconds or 0.0, 1.0, operation.moved)
        for place, part in enumerate(parts):
            every[place] += part
            if operation.understood:
                known[place] += part
    return Coverage(*(part / whole if whole > 0.0 else None for part, whole in zip(known, every, strict=True)))


def not_understood(trace: Trace) -> dict[str, tuple[int, float]]:
    """Name → how many operations of it are not understood, and their seconds; the longest first, then the most."""
    found: dict[str, tuple[int, float]] = {}
    for operation in trace.operations:
        if not operation.understood:
            count, seconds = found.get(operation.name, (0, 0.0))
            found[operation.name] = (count + 1, seconds + (operation.seconds or 0.0))
    return dict(sorted(found.items(), key=lambda entry: (-entry[1][1], -entry[1][0], entry[0])))
