"""The one time of kernels run together on a chip: what a partition holds, moves and takes, and a whole fusion."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, inf

from volvelle.errors import MappingError, UnknownNameError
from volvelle.estimators.dataflow.core_shares import CoreShares
from volvelle.estimators.dataflow.on_chip import FusionProblem, Overlap, topological_order
from volvelle.estimators.result import Violation
from volvelle.laws.onchip_dataflow import (
    array_peak,
    balanced_compute_time,
    dram_demand,
    memory_overlapped_time,
    overlapped_time,
    partition_traffic,
    pipelined_compute_time,
    serial_time,
    sram_demand,
    traffic_time,
)
from volvelle.mapping.fusion import Fusion
from volvelle.quantities import BYTES, show

ROUNDING = 1e-9
"""Relative excess over a capacity that is put down to rounding."""

TIME_OF = {Overlap.ALL: overlapped_time, Overlap.MEMORY: memory_overlapped_time, Overlap.NONE: serial_time}
"""(compute, memory, network) → time of a partition; broadcasts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionTime:
    """What kernels that run together take."""

    kernels: tuple[str, ...]
    compute: float
    memory: float
    network: float
    time: float
    sram: float
    """Bytes held on the chip."""
    traffic: float
    """Bytes moved to and from DRAM."""
    cores: tuple[int, ...] = ()
    """Of each kernel; none where cores divide freely."""
    weight_tiles: int = 1
    violations: tuple[Violation, ...] = ()

    @property
    def feasible(self) -> bool:
        """Whether the chip can run it."""
        return not self.violations

    @property
    def binding(self) -> str:
        """The longest of its three times."""
        times = {"compute": self.compute, "memory": self.memory, "network": self.network}
        return max(times, key=times.__getitem__)


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionTime:
    """What a fusion takes, partition by partition."""

    partitions: tuple[PartitionTime, ...]
    dram: float
    """Bytes of DRAM at the fullest moment."""
    violations: tuple[Violation, ...] = ()

    @property
    def time(self) -> float:
        """Of all partitions, one after another."""
        return sum(part.time for part in self.partitions)

    def total(self, name: str) -> float:
        """Sum over partitions of ``compute``, ``memory`` or ``network`` seconds, or of ``traffic`` in bytes."""
        return float(sum(getattr(part, name) for part in self.partitions))

    @property
    def feasible(self) -> bool:
        """Whether the chip can run it."""
        return not self.violations

    @property
    def binding(self) -> dict[str, float]:
        """Resource → time of the partitions it bounds."""
        found = dict.fromkeys(("compute", "memory", "network"), 0.0)
        for part in self.partitions:
            found[part.binding] += part.time
        return found


class PartitionTimes:
    """A problem with everything that adds up worked out once: kernels by number, in topological order.

    Searches add these entries up themselves, kernel by kernel; the laws they come from, and `time`, are the same.
    """

    def __init__(self, problem: FusionProblem) -> None:
        self.problem = problem
        chip, choices, tiles = problem.chip, problem.choices, float(problem.tiles)
        by_name = {kernel.name: kernel for kernel in problem.kernels}
        self.names = topological_order(by_name, ((one.producer, one.consumer) for one in problem.tensors))
        self.index = {name: number for number, name in enumerate(self.names)}
        self.kernels = tuple(by_name[name] for name in self.names)
        joined: dict[tuple[int, int], float] = {}
        for tensor in problem.tensors:
            ends = (self.index[tensor.producer], self.index[tensor.consumer])
            joined[ends] = joined.get(ends, 0.0) + tensor.bytes
        self.levels = [0] * len(self.names)
        for producer, consumer in sorted(joined, key=lambda ends: ends[0]):
            self.levels[consumer] = max(self.levels[consumer], self.levels[producer] + 1)
        self.edges = tuple(
            (
                producer,
                consumer,
                size,
                float(sram_demand(0.0, size, 0.0, depth=self.levels[consumer] - self.levels[producer] + 1.0)),
                float(sram_demand(0.0, 0.0, size)),
            )
            for (producer, consumer), size in sorted(joined.items())
        )
        """(producer, consumer, bytes, SRAM if inside a partition, SRAM on each side if between two)."""
        self.inputs: list[list[tuple[int, float, float, float]]] = [[] for _ in self.names]
        self.outputs: list[list[tuple[int, float, float, float]]] = [[] for _ in self.names]
        for producer, consumer, size, inside, crossing in self.edges:
            self.inputs[consumer].append((producer, size, inside, crossing))
            self.outputs[producer].append((consumer, size, inside, crossing))
        self.weights = [kernel.weight_bytes for kernel in self.kernels]
        self.extra = [kernel.extra_bytes for kernel in self.kernels]
        self.streamed = [kernel.weight_bytes if choices.stream_weights else 0.0 for kernel in self.kernels]
        self.network = [kernel.network_time for kernel in self.kernels]
        self.work = [kernel.work * tiles for kernel in self.kernels]
        self.peak = float(array_peak(chip.cores, width=chip.width, height=chip.height, clock=chip.clock))
        self.shares = CoreShares(self.kernels, chip) if chip.utilisation is None else None
        self.balanced = (
            [self.balanced_time(work) for work in self.work]
            if self.shares is None
            else [self.compute_time(area / chip.cores) for area in self.shares.areas]
        )
        """Seconds a kernel adds to compute time at the very least, however it is fused."""
        self.limit = chip.sram * (1.0 + ROUNDING)
        self.dram_limit = chip.dram_capacity * (1.0 + ROUNDING)
        self.time = TIME_OF[choices.overlap]

    def compute_time(self, cycles: float) -> float:
        """Of kernels side by side, the slowest of which takes that many cycles a tile."""
        return float(pipelined_compute_time(cycles, tiles=float(self.problem.tiles), clock=self.problem.chip.clock))

    def balanced_time(self, work: float) -> float:
        """Of that much arithmetic, where cores divide freely."""
        utilisation = self.problem.chip.utilisation
        return float(balanced_compute_time(work, utilisation=utilisation or 1.0, peak=self.peak))

    def dram(self, alive: float) -> float:
        """Bytes of DRAM with so many bytes of tensors (one tile of each) alive."""
        return float(dram_demand(sum(self.weights), alive, self.problem.resident, tiles=float(self.problem.tiles)))

    def pieces(self, kernel: int) -> int:
        """In how many pieces a kernel alone must take its weights to fit; 0 if it cannot fit at all."""
        buffers = sum(crossing for *_, crossing in (*self.inputs[kernel], *self.outputs[kernel]))
        weights, limit = self.weights[kernel], self.limit
        if weights + buffers <= limit:
            return 1
        if not self.problem.choices.tile_weights or not weights or buffers >= limit:
            return 0
        pieces = max(2, ceil(weights / (limit - buffers)))
        while weights / pieces + buffers > limit:
            pieces += 1
        return pieces if pieces <= self.kernels[kernel].rows else 0

    def time_of(
        self, members: Collection[int], *, weight_tiles: int | None = None, cores: tuple[int, ...] = ()
    ) -> PartitionTime:
        """The time of kernels run together; cores as given, or shared out as well as can be."""
        inside_set, chip = set(members), self.problem.chip
        if weight_tiles is None:
            weight_tiles = (self.pieces(next(iter(inside_set))) or 1) if len(inside_set) == 1 else 1
        weights = sum(self.weights[member] for member in members)
        buffers = moved = 0.0
        for member in members:
            for producer, size, inside, crossing in self.inputs[member]:
                buffers += inside if producer in inside_set else crossing
                moved += 0.0 if producer in inside_set else size
            for consumer, size, _, crossing in self.outputs[member]:
                if consumer not in inside_set:
                    buffers += crossing
                    moved += size
        traffic = float(
            partition_traffic(
                moved,
                sum(self.extra[member] for member in members),
                sum(self.streamed[member] for member in members),
                tiles=float(self.problem.tiles),
                weight_tiles=float(weight_tiles),
            )
        )
        sram = float(sram_demand(weights, 0.0, 0.0, weight_tiles=float(weight_tiles))) + buffers
        names = tuple(self.names[member] for member in members)
        violations = []
        if sram > self.limit:
            violations.append(self._overflow(names, members, sram))
        taken: tuple[int, ...] = ()
        if self.shares is None:
            compute = self.balanced_time(sum(self.work[member] for member in members))
        else:
            order = list(members)
            if cores:
                cycles = max(
                    self.shares.options[member].reached(count) for member, count in zip(order, cores, strict=True)
                )
            else:
                cycles = self.shares.least(order)
            compute = self.compute_time(cycles)
            taken = cores or (self.shares.shares(order, cycles) if cycles < inf else ())
            if cycles == inf or sum(taken) > chip.cores:
                violations.append(_crowd(names, sum(taken) or len(names), chip.cores))
        memory = float(traffic_time(traffic, rate=chip.dram_rate))
        network = sum(self.network[member] for member in members)
        return PartitionTime(
            kernels=names,
            compute=compute,
            memory=memory,
            network=network,
            time=float(self.time(compute, memory, network)),
            sram=sram,
            traffic=traffic,
            cores=taken,
            weight_tiles=weight_tiles,
            violations=tuple(violations),
        )

    def _overflow(self, names: tuple[str, ...], members: Iterable[int], sram: float) -> Violation:
        chip, choices = self.problem.chip, self.problem.choices
        whole = not choices.tile_weights and any(self.weights[member] for member in members)
        held = " with whole weights" if whole else ""
        over = show(sram - chip.sram, BYTES)
        return Violation(
            name="sram",
            problem=f"{_listed(names)} together need {show(sram, BYTES)} of SRAM, {over} more than the chip has"
            if len(names) > 1
            else f"kernel {names[0]} alone needs {show(sram, BYTES)} of SRAM{held}, {over} more than the chip has",
            cures=(),
        )


def _crowd(names: tuple[str, ...], taken: float, cores: int) -> Violation:
    return Violation(
        name="cores",
        problem=f"{_listed(names)} together take at least {int(taken)} cores; the chip has {cores}",
        cures=(),
    )


def _listed(names: tuple[str, ...]) -> str:
    if len(names) > 4:
        return f"{', '.join(names[:3])} and {len(names) - 3} more kernels"
    return ", ".join(names)


@lru_cache(maxsize=32)
def partition_times_of(problem: FusionProblem) -> PartitionTimes:
    """The times_of of a problem, kept for the next question about it."""
    return PartitionTimes(problem)


def partition_time(problem: FusionProblem, kernels: Iterable[str]) -> PartitionTime:
    """What kernels run together take, or why the chip cannot run them."""
    times_of = partition_times_of(problem)
    names = tuple(dict.fromkeys(kernels))
    for name in names:
        if name not in times_of.index:
            raise UnknownNameError.among("kernel", name, times_of.names)
    if not names:
        raise MappingError("a partition without kernels has no time; name at least one")
    return times_of.time_of([times_of.index[name] for name in names])


def fusion_time(problem: FusionProblem, fusion: Fusion) -> FusionTime:
    """What a fusion takes: the same time, partition by partition. Refuses one that breaks the problem's choices."""
    return fusion_time_with(partition_times_of(problem), fusion)


def fusion_time_with(times_of: PartitionTimes, fusion: Fusion) -> FusionTime:
    """The time of a fusion, from a times_of that is there already."""
    _check_choices(times_of, fusion)
    parts, violations = list[PartitionTime](), list[Violation]()
    before, peak = set[int](), 0.0
    for place, names in enumerate(fusion.partitions):
        if not names:
            continue
        members = [times_of.index[name] for name in names]
        part = times_of.time_of(
            members,
            weight_tiles=fusion.weight_tiles[place] if fusion.weight_tiles else None,
            cores=fusion.cores[place] if fusion.cores else (),
        )
        parts.append(part)
        violations += part.violations
        own = set(members)
        alive = sum(
            size
            for producer, consumer, size, *_ in times_of.edges
            if (producer in before or producer in own)
            and consumer not in before
            and not (producer in own and consumer in own)
        )
        before |= own
        peak = max(peak, times_of.dram(alive))
    if peak > times_of.dram_limit:
        over = show(peak - times_of.problem.chip.dram_capacity, BYTES)
        violations.append(
            Violation(
                name="dram",
                problem=f"at its fullest DRAM holds {show(peak, BYTES)}, {over} more than there is",
                cures=(),
            )
        )
    return FusionTime(partitions=tuple(parts), dram=peak, violations=tuple(violations))


def _check_choices(times_of: PartitionTimes, fusion: Fusion) -> None:
    problem = times_of.problem
    fusion.check(times_of.names, ((one.producer, one.consumer) for one in problem.tensors))
    if fusion.tiles != problem.tiles:
        raise MappingError(f"the fusion is of {fusion.tiles} tiles, the problem of {problem.tiles}")
    choices, backward_seen = problem.choices, False
    if choices.partitions is not None and len(fusion.partitions) > choices.partitions:
        raise MappingError(f"the fusion has {len(fusion.partitions)} partitions; at most {choices.partitions} may be")
    for place, names in enumerate(fusion.partitions):
        if not choices.fuse and len(names) > 1:
            raise MappingError(f"partition {place} holds {len(names)} kernels, but kernels run one by one")
        pieces = fusion.weight_tiles[place] if fusion.weight_tiles else 1
        if pieces > 1 and (len(names) != 1 or not choices.tile_weights):
            raise MappingError(
                f"partition {place} has its weights in {pieces} pieces; only a kernel alone may, where tile_weights"
            )
        kernels = [times_of.kernels[times_of.index[name]] for name in names]
        for kernel in kernels:
            if kernel.pinned is not None and kernel.pinned != place:
                raise MappingError(f"kernel {kernel.name!r} is in partition {place} but pinned to {kernel.pinned}")
        if choices.forward_first:
            sides = {kernel.forward for kernel in kernels}
            if len(sides) == 2 or (backward_seen and True in sides):
                raise MappingError(f"partition {place} has forward kernels with or after backward ones")
            backward_seen |= False in sides
