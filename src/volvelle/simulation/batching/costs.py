"""How long a step takes, as tables: the one value in which the time of a step meets the rules of engines."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from volvelle.domains import DELAY, check_fields, number
from volvelle.errors import DescriptionError

Column = NDArray[np.float64]
_MIXED = "costs of a step"


class CostTables(NamedTuple):
    """The same as compiled code reads it."""

    tokens: Column
    captured: Column
    launches: Column
    head: Column
    chunk_nodes: Column
    past_nodes: Column
    chunk: Column
    context_nodes: Column
    decode: Column
    numbers: Column
    """Chunk start, host, a sequence, an admission, whether prompts are captured, whether the host overlaps, and
    what the host takes for a sequence; by the names below."""


CHUNK_START, HOST, PER_SEQUENCE, PER_ADMISSION, CAPTURES_PROMPTS, OVERLAPPED, HOST_SEQUENCE = range(7)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StepCosts:
    """Seconds of one step of an engine, by what is in it.

    Of M tokens, `rows` sequences that yield a token, chunks of c prompt tokens after p others, and B sequences that
    decode::

        device = (captured[M] if allowed and finite else tokens[M]) + head[rows]
               + Σ chunk(c, p) + (chunk_start if any chunk) + decode(B, mean context)
        host   = host + host_sequence · sequences
        step   = (max(device, host) if host_overlapped else device + host)
               + per_sequence · sequences + per_admission · admitted

    An uncaptured device time is at least `launches[M]`. A context is what the cache of a sequence holds before the
    step. Between nodes tables are linear; before the first node they are what they are there, after the last they go
    on as they did.
    """

    tokens: Column
    """Of a step of so many tokens beside attention, kernels launched one by one."""
    captured: Column
    """The same replayed from a captured graph, padded to the captured size; infinite where there is none."""
    captures_prompts: bool = False
    """Whether a step with prompt tokens may be replayed too, where `captured` is finite."""
    launches: Column = field(default_factory=lambda: np.zeros(1))
    """That the host needs to launch an uncaptured step of so many tokens; one number is that of all."""
    head: Column
    """For the logits of so many sequences that yield a token."""
    chunk_nodes: Column
    past_nodes: Column
    chunk: Column
    """Attention of one chunk of a prompt of so many tokens after so many others."""
    chunk_start: float = number(DELAY, 0.0)
    """More in a step that has any chunk."""
    context_nodes: Column
    decode: Column
    """Attention of so many decoding sequences by their mean context."""
    host: float = number(DELAY, 0.0)
    """Of the scheduler, a step."""
    host_sequence: float = number(DELAY, 0.0)
    """More of it for every sequence of the step."""
    host_overlapped: bool = False
    """Whether the host works on the next step while the device runs this one."""
    per_sequence: float = number(DELAY, 0.0)
    per_admission: float = number(DELAY, 0.0)

    def __post_init__(self) -> None:
        check_fields(self, _MIXED)
        if np.size(self.launches) == 1:
            object.__setattr__(self, "launches", np.full(np.shape(self.tokens), float(np.max(self.launches))))
        for name in ("tokens", "captured", "launches", "head", "chunk_nodes", "past_nodes", "context_nodes"):
            self._check(name, dimensions=1)
        for name in ("chunk", "decode"):
            self._check(name, dimensions=2)
        for name in ("chunk_nodes", "past_nodes", "context_nodes"):
            if np.any(np.diff(getattr(self, name)) <= 0):
                raise DescriptionError(f"{_MIXED}: {name} must rise from each node to the next")
        wanted = {
            "captured": (self.captured.shape, self.tokens.shape),
            "launches": (self.launches.shape, self.tokens.shape),
            "chunk": (self.chunk.shape, (self.chunk_nodes.size, self.past_nodes.size)),
            "decode": (self.decode.shape[1:], (self.context_nodes.size,)),
        }
        for name, (found, needed) in wanted.items():
            if found != needed:
                raise DescriptionError(f"{_MIXED}: {name} has the shape {found}; by its neighbours it must be {needed}")
        if self.head.size < self.decode.shape[0]:
            raise DescriptionError(
                f"{_MIXED}: head ends at {self.head.size - 1} rows, and decode at {self.most_sequences} sequences, "
                "each of which yields one; make it as long"
            )
        if np.any(self.tokens[1:] <= 0) or np.any(self.captured[1:] <= 0):
            raise DescriptionError(f"{_MIXED}: a step of one token or more must take some time")

    def _check(self, name: str, *, dimensions: int) -> None:
        """Refuse a table that is no table of seconds; keep it as compiled code reads it."""
        table = np.ascontiguousarray(getattr(self, name), dtype=np.float64)
        if table.ndim != dimensions or table.size == 0:
            raise DescriptionError(f"{_MIXED}: {name} must have {dimensions} dimension(s) and some entries")
        if not np.all(table >= 0) or (name != "captured" and not np.all(np.isfinite(table))):
            raise DescriptionError(f"{_MIXED}: {name} has an entry that is negative or no number")
        object.__setattr__(self, name, table)

    @property
    def most_tokens(self) -> int:
        """Of a step, that these costs know."""
        return self.tokens.size - 1

    @property
    def most_sequences(self) -> int:
        """Of a step, that these costs know."""
        return int(self.decode.shape[0]) - 1

    @property
    def most_rows(self) -> int:
        """Of logits of a step, that these costs know."""
        return self.head.size - 1

    @property
    def least_step(self) -> float:
        """Seconds that no step is shorter than."""
        device = min(float(self.tokens[1:].min()), float(self.captured[1:].min()))
        return max(device, self.host) if self.host_overlapped else device + self.host

    @property
    def tables(self) -> CostTables:
        """As compiled code reads it."""
        numbers = (self.chunk_start, self.host, self.per_sequence, self.per_admission)
        flags = (float(self.captures_prompts), float(self.host_overlapped))
        return CostTables(
            self.tokens,
            self.captured,
            self.launches,
            self.head,
            self.chunk_nodes,
            self.past_nodes,
            self.chunk,
            self.context_nodes,
            self.decode,
            np.array((*numbers, *flags, self.host_sequence)),
        )
