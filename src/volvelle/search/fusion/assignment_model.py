"""The fusion problem as a linear mixed-integer model, in plain arrays that any solver can be given.

Kernel k runs in slot p (x), with one of its options of cores (y); a tensor is inside slot p (z) where both its ends
are; what precedes in the graph comes in no later slot, written with prefix sums. All products are of this kind, so the
model is linear. Times are in units of `unit` seconds and bytes in shares of their capacity, so that numbers are near 1.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.dataflow.on_chip import Overlap
from volvelle.estimators.dataflow.partition_time import PartitionTimes

Term = tuple[int, float]

TICKS = 1_000_000_000
"""Whole numbers that make up one unit of time, for engines that know no others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentModel:
    """min cost·v with row bounds, as compressed rows; no variable is below 0."""

    cost: NDArray[np.float64]
    upper: NDArray[np.float64]
    integer: NDArray[np.bool_]
    starts: NDArray[np.int32]
    columns: NDArray[np.int32]
    values: NDArray[np.float64]
    row_lower: NDArray[np.float64]
    row_upper: NDArray[np.float64]
    row_scale: NDArray[np.float64]
    """What a row must be multiplied by for its coefficients to be whole: 0 for rows in units of time."""
    unit: float
    """Seconds that a time of 1 stands for."""
    places: NDArray[np.int32]
    """(kernel, slot) → column of x."""
    inside: NDArray[np.int32]
    """(tensor, slot) → column of z."""
    options: dict[tuple[int, int], tuple[int, ...]]
    """(kernel, slot) → columns of y, one for each option of cores."""
    pieces: dict[int, list[int]]
    """Kernel → for each slot the column that says it is alone there, its weights in pieces."""
    sides: tuple[int, ...]
    """Slot → column that says it belongs to the backward pass."""
    computes: tuple[int, ...]
    times: tuple[int, ...]
    slots: int

    def partitions(self, values: Sequence[float]) -> tuple[tuple[int, ...], ...]:
        """The fusion a solution stands for."""
        chosen = np.asarray(values)[self.places].argmax(axis=1)
        return tuple(tuple(int(k) for k in np.flatnonzero(chosen == slot)) for slot in range(self.slots))

    def values_of(self, times_of: PartitionTimes, partitions: Sequence[Sequence[int]]) -> list[float]:
        """The solution a fusion stands for, to start a solver from."""
        values = np.zeros(len(self.cost))
        for slot, members in enumerate(partitions):
            if not members:
                continue
            found = times_of.time_of(members)
            values[self.times[slot]] = found.time / self.unit
            values[self.computes[slot]] = found.compute / self.unit
            for member in members:
                values[self.places[member, slot]] = 1.0
            if found.weight_tiles > 1:
                values[self.pieces[members[0]][slot]] = 1.0
            if times_of.shares is not None:
                for member, cores in zip(members, found.cores, strict=True):
                    option = times_of.shares.options[member].cores.index(cores)
                    values[self.options[member, slot][option]] = 1.0
            for edge, (producer, consumer, *_) in enumerate(times_of.edges):
                if producer in members and consumer in members:
                    values[self.inside[edge, slot]] = 1.0
        if self.sides:
            backward = [any(not times_of.kernels[member].forward for member in members) for members in partitions]
            first = backward.index(True) if True in backward else self.slots
            values[list(self.sides[first:])] = 1.0
        return values.tolist()


def model_size(times_of: PartitionTimes, slots: int) -> int:
    """Number of entries of the model's rows, without building it."""
    options = sum(len(one.cycles) for one in times_of.shares.options) if times_of.shares else 0
    kernels, edges = len(times_of.names), len(times_of.edges)
    return slots * (3 * options + 6 * kernels + edges * (slots + 12))


def in_whole_numbers(model: AssignmentModel) -> AssignmentModel:
    """The model with whole coefficients, times in ticks, rounded so that it only gets easier: a bound stays a bound."""
    entries, timed = np.diff(model.starts), ~np.isfinite(model.upper)
    at_most, scale = np.repeat(np.isinf(model.row_lower), entries), np.repeat(model.row_scale, entries)
    exact = model.values * scale
    nearest = np.rint(exact)
    is_whole = np.abs(exact - nearest) <= 1e-6 * np.maximum(1.0, np.abs(exact) * 1e-6)
    values = np.where(is_whole, nearest, np.where(at_most, np.floor(exact), np.ceil(exact)))
    # c·time ≥ Σ a·choice: times count in ticks, and what they must cover is rounded down.
    ticks = np.where(timed[model.columns], model.values, np.ceil(model.values * TICKS))
    of_time = model.row_scale == 0.0
    return replace(
        model,
        upper=np.where(timed, 4.0 * TICKS, model.upper),
        integer=np.ones_like(model.integer),
        values=np.where(scale == 0.0, ticks, values),
        row_lower=np.where(of_time, 0.0, np.ceil(model.row_lower * model.row_scale - 1e-6)),
        row_upper=np.where(of_time, inf, np.floor(model.row_upper * np.where(of_time, 1.0, model.row_scale) + 1e-6)),
    )


def assignment_model(times_of: PartitionTimes, slots: int, *, unit: float, tight: bool = False) -> AssignmentModel:
    """The model for so many slots. `tight` adds what every fusion satisfies and a solver would have to find out."""
    return _Builder(times_of, slots, unit, tight=tight).build()


class _Builder:
    def __init__(self, times_of: PartitionTimes, slots: int, unit: float, *, tight: bool) -> None:
        self.times_of, self.slots, self.unit, self.tight = times_of, slots, unit, tight
        self.bounds: list[tuple[float, bool, float]] = []
        self.starts, self.columns, self.values = [0], list[int](), list[float]()
        self.rows: list[tuple[float, float, float]] = []

    def column(self, *, upper: float = 1.0, integer: bool = True, cost: float = 0.0) -> int:
        self.bounds.append((upper, integer, cost))
        return len(self.bounds) - 1

    def row(self, terms: Iterable[Term], *, lower: float = -inf, upper: float = inf, scale: float = 1.0) -> None:
        for column, value in terms:
            if value:
                self.columns.append(column)
                self.values.append(value)
        self.starts.append(len(self.columns))
        self.rows.append((lower, upper, scale))

    def build(self) -> AssignmentModel:
        times_of, slots = self.times_of, range(self.slots)
        kernels = range(len(times_of.names))
        self.x = [[self.column(upper=self._allowed(kernel, slot)) for slot in slots] for kernel in kernels]
        self.z = [[self.column(integer=False) for _ in slots] for _ in times_of.edges]
        self.t = [self.column(upper=inf, integer=False, cost=1.0) for _ in slots]
        self.c = [self.column(upper=inf, integer=False) for _ in slots]
        self.pieces = {kernel: [self.column() for _ in slots] for kernel in kernels if times_of.pieces(kernel) > 1}
        self.options: dict[tuple[int, int], tuple[int, ...]] = {}
        for kernel in kernels:
            self.row(((self.x[kernel][slot], 1.0) for slot in slots), lower=1.0, upper=1.0)
        self._precedence()
        self._compute()
        for slot in slots:
            self._sram(slot)
            self._times(slot)
            self._dram(slot)
        self._choices()
        upper, integer, cost = zip(*self.bounds, strict=True)
        row_lower, row_upper, scale = zip(*self.rows, strict=True)
        return AssignmentModel(
            cost=np.array(cost, dtype=float),
            upper=np.array(upper, dtype=float),
            integer=np.array(integer, dtype=bool),
            starts=np.array(self.starts, dtype=np.int32),
            columns=np.array(self.columns, dtype=np.int32),
            values=np.array(self.values, dtype=float),
            row_lower=np.array(row_lower, dtype=float),
            row_upper=np.array(row_upper, dtype=float),
            row_scale=np.array(scale, dtype=float),
            unit=self.unit,
            places=np.array(self.x, dtype=np.int32).reshape(len(kernels), self.slots),
            inside=np.array(self.z, dtype=np.int32).reshape(len(times_of.edges), self.slots),
            options=self.options,
            pieces=self.pieces,
            sides=tuple(self.sides),
            computes=tuple(self.c),
            times=tuple(self.t),
            slots=self.slots,
        )

    def _allowed(self, kernel: int, slot: int) -> float:
        pinned = self.times_of.kernels[kernel].pinned
        return 1.0 if pinned in (None, slot) else 0.0

    def _precedence(self) -> None:
        for edge, (producer, consumer, *_) in enumerate(self.times_of.edges):
            for slot in range(self.slots):
                if slot < self.slots - 1:
                    earlier = [(self.x[producer][one], 1.0) for one in range(slot + 1)]
                    self.row((*earlier, *((self.x[consumer][one], -1.0) for one in range(slot + 1))), lower=0.0)
                first, second, both = self.x[producer][slot], self.x[consumer][slot], self.z[edge][slot]
                self.row(((both, 1.0), (first, -1.0)), upper=0.0)
                self.row(((both, 1.0), (second, -1.0)), upper=0.0)
                self.row(((both, 1.0), (first, -1.0), (second, -1.0)), lower=-1.0)

    def _compute(self) -> None:
        times_of, shares = self.times_of, self.times_of.shares
        for slot in range(self.slots):
            if shares is None or self.tight:
                # With whole cores this follows from the options, but not where they are taken in fractions.
                work = [(self.x[kernel][slot], -time / self.unit) for kernel, time in enumerate(times_of.balanced)]
                self.row(((self.c[slot], 1.0), *work), lower=0.0, scale=0.0)
            if shares is None:
                continue
            taken: list[Term] = []
            for kernel, one in enumerate(shares.options):
                made = tuple(self.column() for _ in one.cycles)
                self.options[kernel, slot] = made
                self.row(((self.x[kernel][slot], -1.0), *((column, 1.0) for column in made)), lower=0.0, upper=0.0)
                taken += zip(made, map(float, one.cores), strict=True)
                spent = [-times_of.compute_time(cycles) / self.unit for cycles in one.cycles]
                self.row(((self.c[slot], 1.0), *zip(made, spent, strict=True)), lower=0.0, scale=0.0)
            cores = float(times_of.problem.chip.cores)
            self.row(((column, count / cores) for column, count in taken), upper=1.0, scale=cores)

    def _sram(self, slot: int) -> None:
        times_of, limit = self.times_of, self.times_of.limit
        terms = {self.x[kernel][slot]: weight for kernel, weight in enumerate(times_of.weights)}
        for edge, (producer, consumer, _, inside, crossing) in enumerate(times_of.edges):
            terms[self.x[producer][slot]] += crossing
            terms[self.x[consumer][slot]] += crossing
            terms[self.z[edge][slot]] = inside - 2.0 * crossing
        for kernel, columns in self.pieces.items():
            terms[columns[slot]] = -times_of.weights[kernel] * (1.0 - 1.0 / times_of.pieces(kernel))
        self.row(((column, value / limit) for column, value in terms.items()), upper=1.0, scale=limit)

    def _times(self, slot: int) -> None:
        times_of, problem = self.times_of, self.times_of.problem
        per_byte = 1.0 / problem.chip.dram_rate / self.unit
        memory = {
            self.x[kernel][slot]: (times_of.extra[kernel] + times_of.streamed[kernel]) * per_byte
            for kernel in range(len(times_of.names))
        }
        for edge, (producer, consumer, size, *_) in enumerate(times_of.edges):
            moved = size * problem.tiles * per_byte
            memory[self.x[producer][slot]] += moved
            memory[self.x[consumer][slot]] += moved
            memory[self.z[edge][slot]] = -2.0 * moved
        for kernel, columns in self.pieces.items():
            ends = (*times_of.inputs[kernel], *times_of.outputs[kernel])
            again = problem.tiles * sum(size for _, size, *_ in ends) + times_of.extra[kernel]
            memory[columns[slot]] = (times_of.pieces(kernel) - 1) * again * per_byte
        network = {self.x[kernel][slot]: time / self.unit for kernel, time in enumerate(times_of.network) if time}
        total, compute = self.t[slot], {self.c[slot]: 1.0}
        if problem.choices.overlap is Overlap.ALL:
            parts = [[compute], [memory], [network]]
        elif problem.choices.overlap is Overlap.MEMORY:
            parts = [[compute, network], [memory, network]]
        else:
            parts = [[compute, memory, network]]
        for part in parts:
            joined: dict[int, float] = {}
            for one in part:
                for column, value in one.items():
                    joined[column] = joined.get(column, 0.0) - value
            if joined:
                self.row(((total, 1.0), *joined.items()), lower=0.0, scale=0.0)

    def _dram(self, slot: int) -> None:
        times_of, limit = self.times_of, self.times_of.dram_limit
        if limit == inf:
            return
        base, each = times_of.dram(0.0), times_of.dram(1.0) - times_of.dram(0.0)
        terms: dict[int, float] = {}
        for edge, (producer, consumer, size, *_) in enumerate(times_of.edges):
            for one in range(slot + 1):
                terms[self.x[producer][one]] = terms.get(self.x[producer][one], 0.0) + size * each
            for one in range(slot):
                terms[self.x[consumer][one]] = terms.get(self.x[consumer][one], 0.0) - size * each
            terms[self.z[edge][slot]] = -size * each
        self.row(((column, value / limit) for column, value in terms.items()), upper=1.0 - base / limit, scale=limit)

    def _choices(self) -> None:
        times_of, choices = self.times_of, self.times_of.problem.choices
        everything = range(len(times_of.names))
        self.sides = sides = [self.column() for _ in range(self.slots)] if choices.forward_first else []
        for slot in range(self.slots):
            if not choices.fuse:
                self.row(((self.x[kernel][slot], 1.0) for kernel in everything), upper=1.0)
            for kernel, columns in self.pieces.items():
                self.row(((columns[slot], 1.0), (self.x[kernel][slot], -1.0)), upper=0.0)
                others = [(self.x[other][slot], 1.0) for other in everything if other != kernel]
                self.row(((columns[slot], float(len(others))), *others), upper=float(len(others)))
            for kernel in everything if sides else ():
                if times_of.kernels[kernel].forward:
                    self.row(((self.x[kernel][slot], 1.0), (sides[slot], 1.0)), upper=1.0)
                else:
                    self.row(((self.x[kernel][slot], 1.0), (sides[slot], -1.0)), upper=0.0)
            if sides and slot:
                self.row(((sides[slot], 1.0), (sides[slot - 1], -1.0)), lower=0.0)
