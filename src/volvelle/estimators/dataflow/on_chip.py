"""A dataflow graph on one chip, as numbers: kernels, tensors, the chip, and what the mapping may choose."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from graphlib import CycleError, TopologicalSorter
from math import isfinite

from volvelle.errors import GraphError, MappingError
from volvelle.workload.operations.base import Phase, Unit


class Overlap(Enum):
    """Which of a partition's compute, memory and network time run at once."""

    ALL = "all"
    """The longest of the three counts."""
    MEMORY = "memory"
    """Memory runs behind compute; the network comes on top."""
    NONE = "none"
    """The three come one after another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChipKernel:
    """A kernel of the graph, on one chip: its shape after sharding, for one tile."""

    name: str
    unit: Unit
    rows: int
    """Rows of the result."""
    depth: int = 1
    """The dimension a matrix product sums over; of no matter to a vector kernel."""
    columns: int
    """Columns of the result: for most kernels the tiled dimension."""
    flops: float = 0.0
    """Arithmetic of one tile; 0: derived from the shape."""
    weight_bytes: float = 0.0
    network_time: float = 0.0
    """Seconds of its collectives, for all tiles together."""
    extra_bytes: float = 0.0
    """DRAM traffic beside tensors and weights, for all tiles together."""
    pinned: int | None = None
    """The slot it must run in, counted from 0; slots may stay empty."""
    side: Phase = Phase.FORWARD
    """Forward, or anything else: backward."""

    def __post_init__(self) -> None:
        for name in ("rows", "depth", "columns"):
            if getattr(self, name) < 1:
                raise GraphError(f"kernel {self.name!r} has {name} {getattr(self, name)!r}; it must be at least 1")
        for name in ("flops", "weight_bytes", "network_time", "extra_bytes"):
            value = getattr(self, name)
            if not isfinite(value) or value < 0:
                raise GraphError(f"kernel {self.name!r} has {name} {value!r}; it must be a number of at least 0")
        if self.pinned is not None and self.pinned < 0:
            raise MappingError(f"kernel {self.name!r} is pinned to slot {self.pinned}; slots count from 0")

    @property
    def work(self) -> float:
        """FLOP of one tile: as given, or two for each product and one for each element."""
        if self.flops:
            return self.flops
        elements = float(self.rows) * self.columns
        return 2.0 * elements * self.depth if self.unit is Unit.MATRIX else elements

    @property
    def forward(self) -> bool:
        """Whether it belongs to the forward pass."""
        return self.side is Phase.FORWARD


@dataclass(frozen=True, slots=True, kw_only=True)
class ChipTensor:
    """What one kernel hands to another: bytes of one tile. A tensor with several readers is several of these."""

    producer: str
    consumer: str
    bytes: float

    def __post_init__(self) -> None:
        if not isfinite(self.bytes) or self.bytes < 0:
            raise GraphError(f"tensor {self.producer!r} → {self.consumer!r} has {self.bytes!r} bytes; at least 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class OnChip:
    """A chip as an array of cores with SRAM, and the DRAM beside it."""

    cores: int
    width: int
    """Lanes of a core: rows of a result it works on at once."""
    height: int
    """Stages of a core: columns of a product it works on at once."""
    clock: float
    sram: float
    dram_rate: float
    dram_capacity: float = float("inf")
    utilisation: float | None = None
    """Share of the peak every kernel reaches, with cores divided freely; None: whole cores, by their cycles."""

    def __post_init__(self) -> None:
        for name in ("cores", "width", "height", "clock", "sram", "dram_rate", "dram_capacity"):
            if not getattr(self, name) > 0:
                raise MappingError(f"the chip has {name} {getattr(self, name)!r}; it must be more than 0")
        if self.utilisation is not None and not 0 < self.utilisation <= 1:
            raise MappingError(f"the chip has utilisation {self.utilisation!r}; it lies between 0 and 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionChoices:
    """What the mapping may choose, and what is charged."""

    overlap: Overlap = Overlap.ALL
    stream_weights: bool = False
    """Weights are read from DRAM for every micro-batch; else they are amortised and cost nothing."""
    tile_weights: bool = False
    """A kernel alone on the chip may take its weights in pieces, at the cost of passing over its tiles as often."""
    fuse: bool = True
    """Kernels may share a partition; else each runs by itself."""
    partitions: int | None = None
    """Most partitions there may be."""
    forward_first: bool = False
    """No partition mixes forward and backward, and all forward ones come first; else kernels mix freely."""

    def __post_init__(self) -> None:
        if self.partitions is not None and self.partitions < 1:
            raise MappingError(f"at most {self.partitions} partitions were asked for; at least one is needed")


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionProblem:
    """A graph, a chip and what may be chosen. Nothing else enters the time of a fusion."""

    kernels: tuple[ChipKernel, ...]
    tensors: tuple[ChipTensor, ...]
    tiles: int
    chip: OnChip
    choices: FusionChoices = field(default_factory=FusionChoices)
    resident: float = 0.0
    """Bytes of DRAM that are taken anyhow, such as the weights of other layers."""

    def __post_init__(self) -> None:
        if self.tiles < 1:
            raise MappingError(f"the graph runs on {self.tiles!r} tiles; there must be at least one")
        names = [kernel.name for kernel in self.kernels]
        if not names:
            raise GraphError("the graph has no kernels")
        if len(set(names)) < len(names):
            twice = sorted({name for name in names if names.count(name) > 1})
            raise GraphError(f"two kernels are named {twice[0]!r}; names tell kernels apart")
        known = set(names)
        for tensor in self.tensors:
            for end in (tensor.producer, tensor.consumer):
                if end not in known:
                    raise GraphError(f"tensor {tensor.producer!r} → {tensor.consumer!r}: there is no kernel {end!r}")
        self._check_pins(topological_order(names, ((one.producer, one.consumer) for one in self.tensors)))

    def in_tiles(self, tiles: int) -> "FusionProblem":
        """The same work and traffic in so many tiles, nothing rounded up, each with the buffers of one of them."""
        return replace(
            self,
            tiles=tiles,
            kernels=tuple(replace(one, flops=one.work / tiles) for one in self.kernels),
            tensors=tuple(replace(one, bytes=one.bytes / tiles) for one in self.tensors),
        )

    def _check_pins(self, order: tuple[str, ...]) -> None:
        """Refuse pins that no fusion can keep, naming the kernels that contradict each other."""
        most, by_name = self.choices.partitions, {kernel.name: kernel for kernel in self.kernels}
        taken: dict[int, str] = {}
        for kernel in self.kernels:
            if kernel.pinned is None:
                continue
            if most is not None and kernel.pinned >= most:
                raise MappingError(
                    f"kernel {kernel.name!r} is pinned to slot {kernel.pinned}, but there are only {most} "
                    f"(0 … {most - 1})"
                )
            if not self.choices.fuse and kernel.pinned in taken:
                raise MappingError(
                    f"kernels {taken[kernel.pinned]!r} and {kernel.name!r} are both pinned to slot {kernel.pinned}, "
                    "but kernels run one by one"
                )
            taken[kernel.pinned] = kernel.name
        readers: dict[str, list[str]] = {name: [] for name in by_name}
        for tensor in self.tensors:
            readers[tensor.producer].append(tensor.consumer)
        latest: dict[str, tuple[int, str]] = {}
        for name in order:
            kernel = by_name[name]
            pin, holder = latest.get(name, (-1, ""))
            if kernel.pinned is not None:
                if kernel.pinned < pin:
                    raise MappingError(
                        f"kernel {name!r} is pinned to slot {kernel.pinned}, but it needs what {holder!r} makes in "
                        f"slot {pin}; pin {name!r} to {pin} or later"
                    )
                pin, holder = kernel.pinned, name
            for reader in readers[name]:
                latest[reader] = max(latest.get(reader, (-1, "")), (pin, holder))
                if self.choices.forward_first and by_name[reader].forward and not kernel.forward:
                    raise MappingError(
                        f"forward kernel {reader!r} reads what backward kernel {name!r} writes, "
                        "so forward cannot come first"
                    )


def topological_order(names: Iterable[str], edges: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Kernels by level, then as given; refuses a cycle by naming its kernels."""
    sorter = TopologicalSorter[str](dict.fromkeys(names, ()))
    for producer, consumer in edges:
        sorter.add(consumer, producer)
    try:
        return tuple(sorter.static_order())
    except CycleError as refused:
        raise GraphError(f"kernels {' → '.join(refused.args[1])} wait for each other: the graph has a cycle") from None
