"""Parallel layouts of a training step, one at a time or as a table of columns."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from volvelle.errors import MappingError
from volvelle.mapping.sharding import TensorSharding

__all__ = ["MappingTable", "ParallelMapping", "Recompute", "Schedule", "Structure"]


class Schedule(IntEnum):
    """In which order a stage works on forward and backward micro-batches."""

    ONE_FORWARD_ONE_BACKWARD = 0
    """1F1B, or interleaved where a stage is cut into pieces (Narayanan et al. 2021)."""
    GPIPE = 1
    """All forward, then all backward (Huang et al. 2019)."""
    ZERO_BUBBLE = 2
    """Weight gradients fill the gaps (Qi et al. 2024, ZB-H1: memory as 1F1B)."""
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

    @property
    def word(self) -> str:
        """As written on the command line."""
        return self.name.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """The choices that change which operations run, not only how large they are."""

    sequence_parallel: bool
    recompute: Recompute
    fused_attention: bool
    expert_tensor_parallel: bool = True
    ulysses: bool = False
    sharding: TensorSharding | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelMapping:
    """How one training step is laid out. Ranks are numbered tensor, then context, then data, then pipeline."""

    tensor: int = 1
    """Chips that share every layer."""
    pipeline: int = 1
    """Stages, one behind the other."""
    data: int = 1
    """Replicas, each with its share of the batch."""
    context: int = 1
    """Chips that share every sequence."""
    expert: int = 1
    """Chips among which experts are dealt out: a part of `data` × `context`, times `tensor` if they stay whole."""
    expert_tensor_parallel: bool = True
    """Each expert is split over the tensor-parallel chips; if not, experts are dealt out over them too, each whole
    (Megatron's --expert-tensor-parallel-size 1)."""
    hierarchical_dispatch: bool = False
    """A token goes to a unit of the network once and is handed on inside it, however many of its experts are there."""
    ulysses: bool = False
    """Chips that share a sequence swap positions for heads around attention (Ulysses), not keys and values."""
    micro_batch: int = 1
    """Sequences a replica works on at a time."""
    interleave: int = 1
    """Pieces each stage is cut into (virtual stages)."""
    schedule: Schedule = Schedule.ONE_FORWARD_ONE_BACKWARD
    zero: int = 1
    """What replicas share out: 0 nothing, 1 optimiser state, 2 and gradients, 3 and weights."""
    zero_group: int = 0
    """Replicas over which ZeRO shares out (hybrid sharding); 0: all of them."""
    overlap: bool = True
    """Gradients are exchanged while the backward pass still runs."""
    sequence_parallel: bool = True
    """Between the tensor-parallel parts, positions are split over the same chips."""
    recompute: Recompute = Recompute.SELECTIVE
    fused_attention: bool = True
    """The attention core runs as one kernel and keeps its scores on chip."""
    recompute_every: int = 1
    """With full recomputation: layers between two kept inputs."""
    offload_weights: bool = False
    """Weights and gradients live in host memory and stream in a layer at a time."""
    offload_optimiser: bool = False
    """Optimiser state lives in host memory, and the step runs on the host."""
    offload_activations: bool = False
    """Saved activations are written to host memory and read back."""
    sharding: TensorSharding | None = None
    """How operations are split over the tensor-parallel chips; None: as Megatron does."""

    def __post_init__(self) -> None:
        for name in ("tensor", "pipeline", "data", "context", "expert", "micro_batch", "interleave", "recompute_every"):
            value = getattr(self, name)
            if value != int(value) or value < 1:
                raise MappingError(f"{name} is {value!r}; it must be a whole number of at least 1")
        if self.zero not in (0, 1, 2, 3):
            raise MappingError(f"zero is {self.zero!r}; it must be 0, 1, 2 or 3")

    @property
    def chips(self) -> int:
        """How many chips it takes."""
        return self.tensor * self.pipeline * self.data * self.context

    @property
    def offloaded(self) -> tuple[str, ...]:
        """What lives in host memory."""
        return tuple(name for name in ("weights", "optimiser", "activations") if getattr(self, f"offload_{name}"))

    def described(self) -> dict[str, object]:
        """Every choice as plain values, by the words of the command line."""
        return {
            "tensor": self.tensor,
            "pipeline": self.pipeline,
            "data": self.data,
            "context": self.context,
            "expert": self.expert,
            "expert_tensor_parallel": self.expert_tensor_parallel,
            "hierarchical_dispatch": self.hierarchical_dispatch,
            "ulysses": self.ulysses,
            "micro_batch": self.micro_batch,
            "interleave": self.interleave,
            "schedule": self.schedule.word,
            "zero": self.zero,
            "zero_group": self.zero_group,
            "overlap": self.overlap,
            "sequence_parallel": self.sequence_parallel,
            "recompute": self.recompute.word,
            "recompute_every": self.recompute_every,
            "fused_attention": self.fused_attention,
            "offload": list(self.offloaded),
        }

    @property
    def structure(self) -> Structure:
        """The choices that change which operations run."""
        return Structure(
            sequence_parallel=self.sequence_parallel,
            recompute=self.recompute,
            fused_attention=self.fused_attention,
            expert_tensor_parallel=self.expert_tensor_parallel,
            ulysses=self.ulysses,
            sharding=self.sharding,
        )


_NUMBERS = (
    "tensor",
    "pipeline",
    "data",
    "context",
    "expert",
    "micro_batch",
    "interleave",
    "schedule",
    "zero",
    "zero_group",
    "overlap",
    "recompute_every",
    "offload_weights",
    "offload_optimiser",
    "offload_activations",
    "hierarchical_dispatch",
)
_TRUTHS = ("overlap", "hierarchical_dispatch", "offload_weights", "offload_optimiser", "offload_activations")
_PYTHON: dict[str, type] = {
    **dict.fromkeys((*_TRUTHS, "sequence_parallel", "fused_attention", "expert_tensor_parallel", "ulysses"), bool),
    "schedule": Schedule,
    "recompute": Recompute,
}
_STRUCTURE = ("sequence_parallel", "recompute", "fused_attention", "expert_tensor_parallel", "ulysses")
_KINDS: dict[str, type] = {**dict.fromkeys(_STRUCTURE, np.bool_), "recompute": np.int8}


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingTable:
    """Many mappings as columns of equal length."""

    tensor: NDArray[np.float64]
    pipeline: NDArray[np.float64]
    data: NDArray[np.float64]
    context: NDArray[np.float64]
    expert: NDArray[np.float64]
    micro_batch: NDArray[np.float64]
    interleave: NDArray[np.float64]
    schedule: NDArray[np.float64]
    zero: NDArray[np.float64]
    zero_group: NDArray[np.float64]
    overlap: NDArray[np.float64]
    recompute_every: NDArray[np.float64]
    offload_weights: NDArray[np.float64]
    offload_optimiser: NDArray[np.float64]
    offload_activations: NDArray[np.float64]
    hierarchical_dispatch: NDArray[np.float64]
    sequence_parallel: NDArray[np.bool_]
    recompute: NDArray[np.int8]
    fused_attention: NDArray[np.bool_]
    expert_tensor_parallel: NDArray[np.bool_]
    ulysses: NDArray[np.bool_]
    sharding: TensorSharding | None = None
    """Of all rows."""

    def __len__(self) -> int:
        return len(self.tensor)

    @classmethod
    def columns(cls, **given: ArrayLike) -> "MappingTable":
        """From columns; what is not given takes the default of `ParallelMapping`, what is single is repeated."""
        unknown = set(given) - {*_NUMBERS, *_STRUCTURE}
        if unknown:
            raise MappingError(
                f"a mapping has no column {', '.join(sorted(unknown))}; it has {', '.join((*_NUMBERS, *_STRUCTURE))}"
            )
        default = ParallelMapping()
        filled = {name: np.asarray(given.get(name, getattr(default, name))) for name in (*_NUMBERS, *_STRUCTURE)}
        rows = np.broadcast_shapes((1,), *(column.shape for column in filled.values()))
        columns: dict[str, Any] = {
            name: np.broadcast_to(np.ascontiguousarray(column, dtype=_KINDS.get(name, np.float64)), rows)
            for name, column in filled.items()
        }
        return cls(**columns)

    @classmethod
    def of(cls, mappings: Iterable[ParallelMapping]) -> "MappingTable":
        """From single mappings."""
        rows = list(mappings)
        shardings = {mapping.sharding for mapping in rows}
        if len(shardings) > 1:
            raise MappingError("the mappings split operations in several ways; make a table for each")
        table = cls.columns(**{name: [getattr(mapping, name) for mapping in rows] for name in (*_NUMBERS, *_STRUCTURE)})
        return replace(table, sharding=shardings.pop()) if rows else table

    @classmethod
    def every(cls, **options: Sequence[int | bool]) -> "MappingTable":
        """Every combination of the given options."""
        combinations = np.array(list(product(*options.values())), dtype=float).reshape(-1, len(options))
        return cls.columns(**{name: combinations[:, index] for index, name in enumerate(options)})

    @classmethod
    def joined(cls, tables: Sequence["MappingTable"]) -> "MappingTable":
        """Tables one below the other."""
        names = (*_NUMBERS, *_STRUCTURE)
        joined: dict[str, Any] = {name: np.concatenate([getattr(table, name) for table in tables]) for name in names}
        return cls(**joined, sharding=tables[0].sharding)

    def row(self, index: int) -> ParallelMapping:
        """One row as a mapping."""
        return ParallelMapping(
            **{name: _PYTHON.get(name, int)(getattr(self, name)[index]) for name in (*_NUMBERS, *_STRUCTURE)},
            sharding=self.sharding,
        )

    def take(self, rows: NDArray[np.intp] | slice) -> "MappingTable":
        """Some of the rows; a column that is one value repeated stays so, and costs nothing."""
        count = len(range(len(self))[rows]) if isinstance(rows, slice) else len(rows)

        def cut(column: NDArray[Any]) -> NDArray[Any]:
            return np.broadcast_to(column[:1], (count,)) if column.strides == (0,) else column[rows]

        columns: dict[str, Any] = {name: cut(getattr(self, name)) for name in (*_NUMBERS, *_STRUCTURE)}
        return replace(self, **columns)

    def repeated(self, rows: int) -> "MappingTable":
        """A table of one row, repeated."""
        names = (*_NUMBERS, *_STRUCTURE)
        columns: dict[str, Any] = {name: np.broadcast_to(getattr(self, name), (rows,)) for name in names}
        return replace(self, **columns)

    def structures(self) -> list[tuple[Structure, NDArray[np.intp] | slice]]:
        """The structures there are, each with its rows."""
        code = self.recompute.astype(np.int16) * 4 + self.sequence_parallel * 2 + self.fused_attention
        whole = ~self.expert_tensor_parallel
        if whole.any() or self.ulysses.any():
            code = code + whole * np.int16(16) + self.ulysses * np.int16(32)
        found = np.flatnonzero(np.bincount(code, minlength=12))
        return [
            (
                Structure(
                    sequence_parallel=bool(value & 2),
                    recompute=Recompute(int(value) % 16 // 4),
                    fused_attention=bool(value & 1),
                    expert_tensor_parallel=not value & 16,
                    ulysses=bool(value & 32),
                    sharding=self.sharding,
                ),
                slice(None) if len(found) == 1 else np.flatnonzero(code == value),
            )
            for value in found
        ]
