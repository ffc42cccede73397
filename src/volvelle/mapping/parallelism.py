"""Parallel layouts of a training step, one at a time or as a table of columns.

A field is declared once, in `Structural` or `Choices` (and the degrees of axes in `axes`). What else knows the fields
is made from these: `ParallelMapping`, `MappingTable` and `Structure` here, options of commands, JSON keys, fields of
studies and the space of searches elsewhere.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from itertools import product
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from volvelle.domains import LAYERS, NO_DEGREE, SEQUENCES, ZERO_STAGE
from volvelle.errors import MappingError, brief
from volvelle.mapping.axes import AXES, TAKING, Axis, Degrees, Whole, combined
from volvelle.mapping.choices import Choice, choice, choices_of
from volvelle.mapping.sharding import TensorSharding
from volvelle.presentable import only_what_is_set
from volvelle.quantities import numbered as counted


class Schedule(IntEnum):
    """In which order a stage works on forward and backward micro-batches."""

    ONE_FORWARD_ONE_BACKWARD = 0
    """1F1B, or interleaved where a stage is cut into pieces (Narayanan et al. 2021)."""
    GPIPE = 1
    """All forward, then all backward (Huang et al. 2019)."""
    ZERO_BUBBLE = 2
    """Weight gradients fill the gaps (Qi et al. 2024, ZB-H1: every stage holds what the first of 1F1B does)."""
    DUAL_PIPE = 3
    """Micro-batches enter from both ends, communication behind computation (DeepSeek-V3, 2024)."""

    @property
    def word(self) -> str:
        """As written on the command line."""
        return {0: "1f1b", 1: "gpipe", 2: "zero-bubble", 3: "dualpipe"}[int(self)]


class Recompute(IntEnum):
    """Which activations the backward pass computes again instead of keeping."""

    NONE = 0
    SELECTIVE = 1
    """Those of the attention core."""
    FULL = 2
    """Everything but each layer's input."""
    LIGHT = 3
    """What is cheap for the memory it frees: norms, activation functions, and what is made from low ranks."""
    ALTERNATE = 4
    """All but what attention and every second product beside it make: torchtitan's selective recomputation of
    operations (torchtitan/distributed/activation_checkpoint.py@b5bcd76, SelectiveAC)."""

    @property
    def word(self) -> str:
        """As written on the command line."""
        return self.name.lower()


class Graphs(IntEnum):
    """Which kernels the host has recorded and starts together, instead of one by one."""

    NONE = 0
    ROUTER = 1
    """Those that choose experts."""
    ATTENTION = 2
    """All but the experts, whose sizes change from step to step."""
    WHOLE = 3
    """A whole step."""

    @property
    def word(self) -> str:
        """As written on the command line."""
        return self.name.lower()


Truth = TypeVar("Truth")
Mask = TypeVar("Mask")
Order = TypeVar("Order")
Again = TypeVar("Again")
Recorded = TypeVar("Recorded")
"""Kinds of fields beside whole numbers: truths, those that shape the structure, schedules, recomputation and graphs.
Each is one value in a mapping, a column in a table, and several values in a space."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Structural(Generic[Mask, Again]):
    """Fields that change which operations run, not only how large they are."""

    __slots__ = ()

    ulysses: Mask = choice(
        False, says="Context parallelism by all-to-alls over heads (Ulysses).", structural=True, searched=(False, True)
    )
    """Chips that share a sequence swap positions for heads around attention (Ulysses), not keys and values."""
    expert_tensor_parallel: Mask = choice(
        True,
        says="Split each expert over the tensor-parallel chips; or deal whole experts out over them (ETP 1).",
        structural=True,
        searched=(True, False),
    )
    """Each expert is split over the tensor-parallel chips; if not, experts are dealt out over them too, each whole
    (Megatron's --expert-tensor-parallel-size 1)."""
    recompute: Again = choice(
        Recompute.SELECTIVE,
        says="Activation recomputation (checkpointing) in the backward pass.",
        structural=True,
        searched=(Recompute.NONE, Recompute.SELECTIVE, Recompute.FULL),
        recorded=True,
    )
    sequence_parallel: Mask = choice(
        True, says="Split positions between tensor-parallel parts.", structural=True, searched=(True, False)
    )
    """Between the tensor-parallel parts, positions are split over the same chips."""
    fused_attention: Mask = choice(True, says="FlashAttention: scores stay on chip.", structural=True, searched=(True,))
    """The attention core runs as one kernel and keeps its scores on chip."""
    sharding: TensorSharding | None = None
    """How operations are split over the tensor-parallel chips; None: as Megatron does. Of all rows of a table."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Choices(Structural[Mask, Again], Degrees[Whole], Generic[Whole, Truth, Mask, Order, Again, Recorded]):
    """All fields of a mapping."""

    __slots__ = ()

    hierarchical_dispatch: Truth = choice(
        False, says="All-to-all by node: a token crosses to a node once.", searched=(False,), rare=True
    )
    """A token goes to a unit of the network once and is handed on inside it, however many of its experts are there."""
    expert_overlap: Truth = choice(
        False, says="Overlap the all-to-all with another micro-batch's compute.", searched=(False,), rare=True
    )
    """While tokens travel to experts and back, the chip works on another micro-batch."""
    graphs: Recorded = choice(
        Graphs.NONE, says="CUDA graphs: kernels that the host launches together.", searched=(Graphs.NONE,), rare=True
    )
    narrow_attention: Truth = choice(
        False, says="Attention in the narrow type (fp8) of the other products.", searched=(False,), rare=True
    )
    """Attention cores multiply in the element type of the other products, not in 16 bits."""
    micro_batch: Whole = choice(1, says="Sequences in a micro-batch.", domain=SEQUENCES, recorded=True)
    """Sequences a replica works on at a time."""
    interleave: Whole = choice(1, says="Virtual stages: pieces a stage is cut into.", domain=LAYERS, recorded=True)
    """Pieces each stage is cut into (virtual stages)."""
    schedule: Order = choice(
        Schedule.ONE_FORWARD_ONE_BACKWARD,
        says="Pipeline schedule: order of forward and backward.",
        searched=(Schedule.ONE_FORWARD_ONE_BACKWARD, Schedule.ZERO_BUBBLE),
        rare=True,
        recorded=True,
    )
    zero: Whole = choice(
        1, says="ZeRO stage; 3 is full sharding (FSDP).", domain=ZERO_STAGE, searched=(0, 1, 2, 3), recorded=True
    )
    """What replicas share out: 0 nothing, 1 optimiser state, 2 and gradients, 3 and weights."""
    zero_group: Whole = choice(
        0, says="Replicas that ZeRO shards over (HSDP); 0: all.", domain=NO_DEGREE, searched=(0,), rare=True
    )
    """Replicas over which ZeRO shares out (hybrid sharding); 0: all of them."""
    zero_secondary: Whole = choice(
        0,
        says="With ZeRO-3: replicas that share out a second copy of the weights (hpZ); 0: none.",
        domain=NO_DEGREE,
        searched=(0,),
        rare=True,
    )
    """Replicas, near each other, that keep the weights a second time, so that backward passes gather among them."""
    overlap: Truth = choice(True, says="Overlap the gradient reduction with the backward pass.", searched=(True,))
    """Gradients are exchanged while the backward pass still runs."""
    recompute_every: Whole = choice(
        1,
        says="With full recomputation: layers between inputs kept.",
        domain=LAYERS,
        searched=(1,),
        usually="1, 2, 4",
        rare=True,
    )
    """With full recomputation: layers between two kept inputs."""
    offload_weights: Truth = choice(False, says="", listed="offload", searched=(False,), rare=True)
    """Weights and gradients live in host memory and stream in a layer at a time."""
    offload_optimiser: Truth = choice(False, says="", listed="offload", searched=(False,), rare=True)
    """Optimiser state lives in host memory, and the step runs on the host."""
    offload_activations: Truth = choice(False, says="", listed="offload", searched=(False,), rare=True)
    """Saved activations are written to host memory and read back."""


CHOICES: tuple[Choice, ...] = choices_of(Choices)
_STRUCTURAL: tuple[Choice, ...] = choices_of(Structural)
_KINDS = tuple((one, one.name, one.kind) for one in CHOICES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure(Structural[bool, Recompute]):
    """The choices that change which operations run, of one mapping."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ParallelMapping(Choices[int, bool, bool, Schedule, Recompute, Graphs]):
    """How one training step is laid out. Ranks are numbered tensor, then context, then data, then pipeline."""

    def __post_init__(self) -> None:
        for declared, name, kind in _KINDS:
            held = getattr(self, name)
            if kind is int or held.__class__ is not kind:
                object.__setattr__(self, name, declared.read(held))
        if not isinstance(self.sharding, TensorSharding | None):
            raise MappingError(f"sharding is {brief(self.sharding)}; it must be a TensorSharding or None")

    def __repr__(self) -> str:
        return only_what_is_set(self)

    @property
    def chips(self) -> int:
        """How many chips it takes."""
        return int(combined(self, TAKING))

    @property
    def shown(self) -> tuple[tuple[Axis, int], ...]:
        """Axes with their degrees as people read them: most that are 1 say nothing."""
        degrees = ((axis, getattr(self, axis.name)) for axis in AXES)
        return tuple((axis, degree) for axis, degree in degrees if axis.plain or degree > 1)

    @property
    def offloaded(self) -> tuple[str, ...]:
        """What lives in host memory."""
        return self.listed["offload"]

    @property
    def listed(self) -> dict[str, tuple[str, ...]]:
        """List → what is on of the choices that it names."""
        lists: dict[str, tuple[str, ...]] = {one.listed: () for one in CHOICES if one.listed}
        for one in CHOICES:
            if one.listed and getattr(self, one.name):
                lists[one.listed] += (one.listed_word,)
        return lists

    def described(self) -> dict[str, object]:
        """Every choice as plain values, by the words of the command line."""
        values = {one.name: getattr(self, one.name) for one in CHOICES if not one.listed}
        plain = {name: value.word if hasattr(value, "word") else value for name, value in values.items()}
        return plain | {key: list(words) for key, words in self.listed.items()}

    @property
    def structure(self) -> Structure:
        """The choices that change which operations run."""
        return Structure(**{field.name: getattr(self, field.name) for field in fields(Structure)})


Column = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MappingTable(Choices[Column, Column, NDArray[np.bool_], Column, NDArray[np.int8], Column]):
    """Many mappings as columns of equal length."""

    def __len__(self) -> int:
        return len(self.tensor)

    def __repr__(self) -> str:
        columns = {one.name: getattr(self, one.name) for one in CHOICES}
        varied = [name for name, column in columns.items() if len(column) and not (column == column[0]).all()]
        return f"MappingTable of {counted(len(self), 'mapping')}, varied in {', '.join(varied) or 'nothing'}"

    @classmethod
    def columns(cls, **given: ArrayLike) -> "MappingTable":
        """From columns; what is not given takes the default of `ParallelMapping`, what is single is repeated."""
        known = [one.name for one in CHOICES]
        unknown = set(given) - set(known)
        if unknown:
            raise MappingError(f"a mapping has no column {', '.join(sorted(unknown))}; it has {', '.join(known)}")
        filled = {one.name: one.read_column(given[one.name]) for one in CHOICES if one.name in given}
        filled |= {one.name: np.asarray(one.default) for one in CHOICES if one.name not in given}
        return cls._repeated(filled)

    @classmethod
    def _repeated(cls, filled: Mapping[str, NDArray[Any]]) -> "MappingTable":
        """From all columns; what is single is repeated."""
        rows = np.broadcast_shapes((1,), *(column.shape for column in filled.values()))
        columns: dict[str, Any] = {
            one.name: np.broadcast_to(np.ascontiguousarray(filled[one.name], dtype=one.column), rows) for one in CHOICES
        }
        return cls(**columns)

    @classmethod
    def of(cls, mappings: Iterable[ParallelMapping]) -> "MappingTable":
        """From single mappings."""
        rows = list(mappings)
        shardings = {mapping.sharding for mapping in rows}
        if len(shardings) > 1:
            raise MappingError("the mappings split operations in several ways; make a table for each")
        table = cls._repeated({one.name: np.array([getattr(row, one.name) for row in rows]) for one in CHOICES})
        return replace(table, sharding=shardings.pop()) if rows else table

    @classmethod
    def every(cls, **options: Sequence[int | bool]) -> "MappingTable":
        """Every combination of the given options."""
        known = {one.name: one for one in CHOICES}
        read = [[known[name].read(value) for value in values] for name, values in options.items() if name in known]
        values = read if len(read) == len(options) else options.values()  # an unknown name is refused as a column
        combinations = np.array(list(product(*values)), dtype=float).reshape(-1, len(options))
        return cls.columns(**{name: combinations[:, index] for index, name in enumerate(options)})

    @classmethod
    def joined(cls, tables: Sequence["MappingTable"]) -> "MappingTable":
        """Tables one below the other."""
        joined: dict[str, Any] = {
            one.name: np.concatenate([getattr(table, one.name) for table in tables]) for one in CHOICES
        }
        return cls(**joined, sharding=tables[0].sharding)

    def row(self, index: int) -> ParallelMapping:
        """One row as a mapping."""
        values: dict[str, Any] = {one.name: one.kind(getattr(self, one.name)[index]) for one in CHOICES}
        return ParallelMapping(**values, sharding=self.sharding)

    def single(self, rows: NDArray[np.intp]) -> list[ParallelMapping]:
        """Return some of the rows as mappings."""
        columns: list[list[Any]] = []
        for one in CHOICES:
            column = getattr(self, one.name)
            constant = column.strides == (0,) and len(rows) > 0
            columns.append(
                [one.kind(column[0])] * len(rows) if constant else [one.kind(value) for value in column[rows].tolist()]
            )
        names = [one.name for one in CHOICES]
        return [
            ParallelMapping(**dict(zip(names, row, strict=True)), sharding=self.sharding)
            for row in zip(*columns, strict=True)
        ]

    def take(self, rows: NDArray[np.intp] | slice) -> "MappingTable":
        """Some of the rows; a column that is one value repeated stays so, and costs nothing."""
        if isinstance(rows, slice) and rows == slice(None):
            return self
        count = len(range(len(self))[rows]) if isinstance(rows, slice) else len(rows)

        def cut(column: NDArray[Any]) -> NDArray[Any]:
            return np.broadcast_to(column[:1], (count,)) if column.strides == (0,) else column[rows]

        columns: dict[str, Any] = {one.name: cut(getattr(self, one.name)) for one in CHOICES}
        return replace(self, **columns)

    def repeated(self, rows: int) -> "MappingTable":
        """A table of one row, repeated."""
        columns: dict[str, Any] = {one.name: np.broadcast_to(getattr(self, one.name), (rows,)) for one in CHOICES}
        return replace(self, **columns)

    def alike(self, names: Sequence[str]) -> tuple["MappingTable", NDArray[np.intp]]:
        """The rows that differ in the named columns or their structure, and for every row which of them it is.

        The other columns of the result are no numbers (NaN), so that nothing can be computed from them by mistake.
        """
        code, count = np.zeros(len(self), dtype=np.intp), 1
        for name in (*names, *(one.name for one in _STRUCTURAL)):
            column = getattr(self, name)
            if column.strides != (0,):
                numbers, options = numbered(column.astype(np.intp))
                code, count = numbered(code * options + numbers)
        first = np.empty(count, dtype=np.intp)
        first[code] = np.arange(len(self))
        unread: dict[str, Any] = {
            one.name: np.broadcast_to(np.nan, (count,))
            for one in CHOICES
            if one.name not in names and not one.structural
        }
        return replace(self.take(first), **unread), code

    def structures(self) -> list[tuple[Structure, NDArray[np.intp] | slice]]:
        """The structures there are, each with its rows."""
        if not len(self):
            return []
        code: Any = 0
        varied: list[tuple[Choice, int]] = []
        values: dict[str, Any] = {}
        for one in _STRUCTURAL:
            column = getattr(self, one.name)
            if column.strides == (0,) or bool((column == column[0]).all()):
                values[one.name] = one.kind(column[0])
            else:
                options = len(one.words) or 2
                code = code * np.int16(options) + column
                varied.append((one, options))
        if not varied:
            return [(Structure(**values, sharding=self.sharding), slice(None))]
        structures: list[tuple[Structure, NDArray[np.intp] | slice]] = []
        for number in np.flatnonzero(np.bincount(code)):
            rest = int(number)
            for one, options in reversed(varied):
                rest, value = divmod(rest, options)
                values[one.name] = one.kind(value)
            structures.append((Structure(**values, sharding=self.sharding), np.flatnonzero(code == number)))
        return structures


def numbered(values: NDArray[np.intp]) -> tuple[NDArray[np.intp], int]:
    """Values, none below zero, as numbers from 0 in their order, and how many there are; small ones are not sorted."""
    if not len(values) or values.max() > 2 * len(values) + 4096:
        different, numbers = np.unique(values, return_inverse=True)
        return numbers, len(different)
    seen = np.bincount(values) > 0
    numbers = np.cumsum(seen) - 1
    return numbers[values], int(numbers[-1]) + 1
