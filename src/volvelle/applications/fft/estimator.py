"""Transforms of three-dimensional grids over many chips: slabs or pencils, transposed over the real network."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from volvelle.errors import DescriptionError, OutsideDomainError
from volvelle.estimators.contract import Estimator
from volvelle.estimators.exchange import exchange_time
from volvelle.estimators.rates import SustainedRates
from volvelle.estimators.result import Contribution, Estimate, MemoryPart, Range, Violation
from volvelle.estimators.uncertainty import time_range
from volvelle.laws.fourier import half_spectrum, transform_passes, transform_work
from volvelle.laws.roofline import kernel_time
from volvelle.quantities import BYTES, Bytes, Count, FlopPerSecond, Number, Seconds, show
from volvelle.spread import LogNormal
from volvelle.system.chip import Chip
from volvelle.system.cluster import Cluster
from volvelle.system.topologies.torus import nearly_cubic
from volvelle.workload.elements import element_bytes

_HELD = 4096.0
"""Longest transform that one unit of a chip holds, in points."""
_COPIES = 3.0
"""Grids that are in memory: input, output and a buffer for what changes hands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FftProblem:
    """A grid to transform."""

    shape: tuple[int, int, int]
    element: str = "fp64"
    """Of a real number: fp32 or fp64."""
    real: bool = False
    """Real to complex; else complex to complex."""
    transforms: bool = True
    """False: the data only change hands, as some benchmarks time it."""
    bricks: bool = False
    """Whether input and output are three-dimensional bricks, which costs an exchange more at either end."""

    def __post_init__(self) -> None:
        if min(self.shape) < 1:
            raise DescriptionError(f"a grid has a positive number of points along each side, not {self.shape}")
        if self.element not in ("fp32", "fp64"):
            raise DescriptionError(f"transforms are modelled in fp32 and fp64, not {self.element}")

    @property
    def points(self) -> float:
        """Of the whole grid."""
        return float(self.shape[0]) * self.shape[1] * self.shape[2]

    @property
    def point_bytes(self) -> float:
        """Bytes of one point while it changes hands."""
        size = element_bytes(self.element)
        if not self.real:
            return 2.0 * size
        return size if not self.transforms else float(half_spectrum(self.shape[0], element=size))

    def chip_bytes(self, ranks: int) -> float:
        """What one of so many ranks holds."""
        return _COPIES * self.points * self.point_bytes / ranks

    @property
    def work(self) -> float:
        """FLOP by the usual count, half of it for real data."""
        return float(5.0 * self.points * np.log2(self.points)) / (2.0 if self.real else 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class FftLayout:
    """How the grid is cut: slabs along one side, or pencils along two."""

    rows: int
    """Ranks among which the first exchange runs; neighbours in the machine. All of them for slabs."""
    columns: int = 1
    """Ranks among which the second runs."""
    slab: bool = False
    """Planes are transformed whole, so there is no second exchange and no transposition inside a chip."""
    exchange: tuple[int, int] | None = None
    """One exchange alone, as some benchmarks time it: among how many ranks, and how far apart these are."""

    def __post_init__(self) -> None:
        if min(self.rows, self.columns) < 1 or (self.slab and self.columns > 1):
            raise DescriptionError(f"slabs are cut along one side, pencils along two, each into one or more: {self}")

    @property
    def ranks(self) -> int:
        """All of them."""
        return self.rows * self.columns

    @property
    def words(self) -> str:
        """For people."""
        return f"slabs over {self.rows}" if self.slab else f"pencils {self.rows} × {self.columns}"


FftEstimate = Estimate[FftProblem, FftLayout]
"""One transform, forward or backward, cut in one way."""


def fft_layouts(ranks: int) -> tuple[FftLayout, ...]:
    """Slabs, and pencils over every grid of so many ranks."""
    divisors = [rows for rows in range(1, ranks + 1) if ranks % rows == 0]
    pencils = [FftLayout(rows=rows, columns=ranks // rows) for rows in divisors]
    return (FftLayout(rows=ranks, slab=True), *pencils)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class FftModel(Estimator[FftProblem, FftLayout]):
    """Local transforms bound by memory or arithmetic, exchanges by the network, one after the other."""

    error: float = 1.35
    """Doubt in the model, one standard deviation as a factor."""
    pipelined: bool = False
    """Whether messages inside a node and between nodes run at once."""
    samples: int = 256
    seed: int = 0
    level: float = 0.8

    def times(
        self,
        problem: FftProblem,
        cluster: Cluster,
        *,
        rows: Count,
        columns: Count,
        slab: bool,
        exchange: tuple[int, int] | None = None,
    ) -> Mapping[str, Seconds]:
        """Seconds by part; rows and columns may be tables of layouts, and the machine's numbers samples.

        With `exchange` one transposition alone, with its packing: among so many ranks, and how far apart these are.
        """
        machine = SustainedRates.of(cluster, _matrix_element(cluster.chip), software=False)
        local = problem.points / (rows * columns)
        size = local * problem.point_bytes
        found: dict[str, Seconds] = {}
        if problem.transforms and exchange is None:
            rate = _vector_rate(cluster.chip, problem.element)
            share = 0.5 if problem.real else 1.0
            transforms: Number = 0.0
            for length in problem.shape:
                passes = transform_passes(float(length), held=_HELD)
                transforms = transforms + kernel_time(
                    share * transform_work(local, float(length)),
                    2.0 * passes * size,
                    compute_rate=rate,
                    memory_rate=machine.memory_rate,
                )
            found["transforms"] = transforms
        moved: Number = 0.0
        packed: Number = 0.0
        groups: list[tuple[Count, Count]] = [(rows, 1.0)] if slab else [(rows, 1.0), (columns, rows)]
        if exchange is not None:
            groups = [exchange]
        elif problem.bricks:
            # From bricks to pencils and back, along the longest side of their grid, whose ranks lie furthest apart.
            sides = nearly_cubic(cluster.accelerators, 3)
            groups += [(float(sides[2]), float(sides[0] * sides[1]))] * 2
        for group, stride in groups:
            moved = moved + exchange_time(size, machine, group=group, stride=stride, pipelined=self.pipelined)
            packed = packed + _packing_time(size, machine, group)
        found["exchanges"] = moved
        found["packing and transposition"] = packed
        return found

    def ranked_by(self, candidates: Sequence[tuple[FftProblem, FftLayout]], system: Cluster, /) -> Sequence[float]:
        """Seconds, those of all layouts of one kind computed at once."""
        times = np.full(len(candidates), np.nan)
        kinds: dict[tuple[FftProblem, bool, tuple[int, int] | None], list[int]] = {}
        for place, (problem, layout) in enumerate(candidates):
            kinds.setdefault((problem, layout.slab, layout.exchange), []).append(place)
        for (problem, slab, exchange), places in kinds.items():
            rows = np.array([candidates[place][1].rows for place in places], dtype=float)
            columns = np.array([candidates[place][1].columns for place in places], dtype=float)
            parts = self.times(problem, system, rows=rows, columns=columns, slab=slab, exchange=exchange)
            times[places] = np.zeros(len(places)) + sum(np.asarray(part) for part in parts.values())
        return [float(time) for time in times]

    def violations(self, workload: FftProblem, system: Cluster, decision: FftLayout, /) -> tuple[Violation, ...]:
        """Why a layout cannot run; an exchange alone was run wherever it was timed."""
        return () if decision.exchange else fft_violations(workload, system, decision)

    def estimate(self, problem: FftProblem, cluster: Cluster, layout: FftLayout) -> FftEstimate:
        """One layout, with the range of its time."""

        def times(machine: Cluster) -> Mapping[str, Seconds]:
            rows, columns, exchange = layout.rows, layout.columns, layout.exchange
            return self.times(problem, machine, rows=rows, columns=columns, slab=layout.slab, exchange=exchange)

        parts = times(cluster)
        if layout.exchange is not None:
            low, high = LogNormal(float(sum(parts.values())), self.error).bounds(self.level)
            found = Range(low=low, high=high, level=self.level, varied=("the model",))
        else:
            found = time_range(
                lambda machine: sum(times(machine).values(), start=0.0),
                cluster,
                error=self.error,
                samples=self.samples,
                seed=self.seed,
                level=self.level,
            )
        laws = {"transforms": "kernel_time", "exchanges": "nested_all_to_all_time"}
        memory = problem.chip_bytes(layout.ranks)
        return Estimate(
            workload=problem,
            decision=layout,
            contributions=tuple(
                Contribution(
                    name=name,
                    part=name,
                    time=float(time),
                    exposed=True,
                    resource="network" if name == "exchanges" else "memory",
                    law=laws.get(name, "kernel_time"),
                )
                for name, time in parts.items()
            ),
            memory=(MemoryPart(name="three copies of a chip's share", bytes=memory, law="activation_bytes"),),
            capacity=float(cluster.chip.memory.capacity),
            violations=self.violations(problem, cluster, layout),
            work=problem.work,
            chips=layout.ranks,
            peak=float(np.max(cluster.chip.vector_rates.get(problem.element, np.nan))),
            ranges={"time": found},
        )


def _packing_time(size: Bytes, machine: SustainedRates, group: Count) -> Seconds:
    """Packed before and unpacked after an exchange; within one rank it is a transposition, one pass."""
    several = np.minimum(1.0, np.asarray(group) - 1.0)
    return kernel_time(0.0, 2.0 * size * (1.0 + several), compute_rate=1.0, memory_rate=machine.memory_rate)


def fft_violations(problem: FftProblem, cluster: Cluster, layout: FftLayout) -> tuple[Violation, ...]:
    """Why a layout cannot run."""
    memory = problem.chip_bytes(layout.ranks)
    found = []
    x, y, z = problem.shape
    if layout.ranks != cluster.accelerators:
        found.append(
            Violation(
                name="ranks",
                problem=f"{layout.words} are {layout.ranks} ranks, the machine has {cluster.accelerators}",
                cures=(),
            )
        )
    widest = min(y, z) if layout.slab else min(x, y)
    if layout.rows > widest or layout.columns > min(y, z):
        found.append(
            Violation(
                name="cut",
                problem=f"a grid of {x} × {y} × {z} cannot be cut into {layout.words}",
                cures=(),
            )
        )
    capacity = float(cluster.chip.memory.capacity)
    if memory > capacity:
        found.append(
            Violation(
                name="memory",
                problem=f"three copies of a chip's share take {show(memory, BYTES)}; it has {show(capacity, BYTES)}",
                cures=(),
            )
        )
    return tuple(found)


def _vector_rate(chip: Chip, element: str) -> FlopPerSecond:
    if element not in chip.vector_rates:
        raise OutsideDomainError(
            f"chip {chip.name!r} states no vector rate in {element}; it has {', '.join(sorted(chip.vector_rates))}"
        )
    return chip.vector_rates[element]


def _matrix_element(chip: Chip) -> str:
    """Any element type the chip states a matrix rate for: transforms use none, but a machine has one."""
    return next((name for name in ("bf16", "fp16", "fp32", "fp64") if name in chip.matrix_rates), "fp32")
