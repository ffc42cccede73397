"""Where the time of a replayed trace lies when numbers of both machines and the laws themselves are in doubt.

Numbers of a machine vary within their spreads, the same column wherever the same chip or link appears: what was
measured on a chip and is asked of the same chip does not vary. On top come how far the laws of kernels and of exchanges
are off, all kernels together and all exchanges of a kind together. What is not understood is carried as measured; where
the machine it was measured on is known, it may also go with the memories or the matrix units of the two. What the host
did stays as it was.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.rates import SustainedRates
from volvelle.estimators.result import Range
from volvelle.estimators.sampled_replay import VaryingPart, sampled_times
from volvelle.estimators.sampler import Column, Sampler, Stratified
from volvelle.estimators.trace_replay.communication_times import CommunicationTimes
from volvelle.estimators.trace_replay.measured_factors import shortest_operation
from volvelle.estimators.trace_replay.operation_times import Bound, OperationTimes, TimedWork, element_on
from volvelle.estimators.trace_replay.replayed import Replayed
from volvelle.estimators.uncertainty import model_error_column, moving_time, range_of, sampled
from volvelle.laws.model_error import error_beside_inputs
from volvelle.quantities import Number
from volvelle.simulation.critical import critical_chain
from volvelle.system.cluster import Cluster
from volvelle.workload.trace.values import Communication, Operation, Place, Trace, Work

SAMPLES = 512
MOST_WORKS = 512
"""Unlike works that vary by themselves, those that take longest; of others a law is not asked on every sample."""
KERNELS, SCALED = "kernels by the law", "kernels as measured, by the ratio of the law"
EXCHANGES, DISPATCH = "exchanges by the law", "host dispatch, as fitted"
UNTOLD, HOST = "not understood, as measured", "the host, as measured"
"""What a part of the time rests on."""
_SPAN = "operations that are not understood"
_TIMED = frozenset({Bound.COMPUTE, Bound.MEMORY, Bound.LAUNCH, Bound.HOST_LINK})


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelLawError:
    """How far a law of kernels is off, each one standard deviation of the logarithm."""

    common: float
    """Of all kernels of a chip and its software together."""
    single: float
    """Of a kernel beside the others."""
    inputs: float
    """What of it numbers of the chips that it was measured on make up."""

    def together(self, shares: NDArray[np.float64]) -> float:
        """Of kernels that have so much of the time each: what is common stays, what is not evens out."""
        return sqrt(self.common**2 + self.single**2 * float(shares @ shares))


class KernelError(Protocol):
    """How far the law of kernels is off."""

    def __call__(self, work: Work, *, ratio: bool) -> KernelLawError:
        """Of a work on one chip, or of its ratio between two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LawErrors:
    """How far laws are off that a trace is timed by."""

    kernel: "KernelError"
    """Of the law of a work's kernel by itself, or of its ratio between two chips; equal for works of one kind."""
    exchange: Callable[[Communication, Sequence[float]], tuple[str, float]]
    """Of an exchange with so many members along each dimension: what the error is called, and one standard deviation
    of its logarithm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRange:
    """How sure the time of a replayed trace is."""

    time: Range
    shares: Mapping[str, float]
    """What the time rests on → its share of the chain of operations that ends last."""
    replays: int
    """Sampled machines that were replayed; 0: all samples follow that chain."""
    correlation: float | None
    """Of those replays with the chain."""


def replay_range(
    found: Replayed,
    on: Cluster,
    *,
    errors: LawErrors,
    source: Cluster | None = None,
    profile: Trace | None = None,
    element: str | None = None,
    group: int | None = None,
    seed: int = 0,
    level: float = 0.8,
) -> ReplayRange:
    """The range of a trace that was replayed with the same arguments."""
    sampler = Stratified(SAMPLES, seed)
    shortest = shortest_operation(profile or found.trace) if source is not None else 0.0
    doubt = _Doubt(found, on, source, sampler, errors, element=element, group=group, least_launch=shortest)
    tasks = np.array([doubt.row_of(number) for number in found.tasks], dtype=np.int64)
    durations, fixed = found.graph.durations, np.zeros(len(tasks))
    if found.beside > 0.0:
        beside = [number >= 0 and found.trace.operations[number].seconds is None for number in found.tasks]
        fixed = np.where(np.array(beside) & (tasks > 0), np.minimum(found.beside, durations), 0.0)
    chain = critical_chain(found.graph, found.ends)
    seconds = np.zeros(doubt.rows)
    np.add.at(seconds, tasks[chain], (durations - fixed)[chain])
    factors = doubt.factors(seconds)
    parts = [VaryingPart(seconds=durations - fixed, row=tasks)]
    if fixed.any():
        parts.append(VaryingPart(seconds=fixed, row=np.zeros(len(tasks), dtype=np.int64)))
    times = sampled_times(found.graph, chain, parts, factors)
    whole = max(found.time, 1e-300)
    shares: dict[str, float] = {}
    for task in chain.tolist():
        kind = doubt.kind_of(found.tasks[task])
        shares[kind] = shares.get(kind, 0.0) + float(durations[task]) / whole
    told = {kind: shares[kind] for kind in (KERNELS, SCALED, EXCHANGES, DISPATCH, UNTOLD, HOST) if shares.get(kind)}
    return ReplayRange(
        time=range_of(times.time, level=level, varied=doubt.varied).holding(found.time),
        shares=told,
        replays=times.replays,
        correlation=times.correlation,
    )


class _Kernel(NamedTuple):
    """Kernels of one work, by the law or by its ratio."""

    work: Work
    scaled: bool


_Key = Communication | _Kernel | str


class _Doubt:
    """By how much longer operations take on every sampled machine, a row of factors for equal ones."""

    def __init__(
        self,
        found: Replayed,
        on: Cluster,
        source: Cluster | None,
        sampler: Sampler,
        errors: LawErrors,
        *,
        element: str | None,
        group: int | None,
        least_launch: float,
    ) -> None:
        self.found, self.on, self.source, self.sampler, self.errors = found, on, source, sampler, errors
        variants, varied = sampled(on, sampler=sampler)
        self.there = OperationTimes(on, element=element, least_launch=least_launch)
        self.there_varied = OperationTimes(variants, element=element, least_launch=least_launch)
        self.exchanges, self.exchanges_varied = (CommunicationTimes(one, group=group) for one in (on, variants))
        self.variants = variants
        if source is not None:
            others, more = sampled(source, sampler=sampler)
            self.here = OperationTimes(source, least_launch=least_launch)
            self.here_varied = OperationTimes(others, least_launch=least_launch)
            varied = [*varied, *(name for name in more if name not in varied)]
        self._inputs = moving_time(varied)
        self._errors: list[str] = []
        self._rows: dict[_Key, int] = {}
        self._stand_ins = _stand_ins(found)

    @property
    def rows(self) -> int:
        """How many there are; the first is of what does not vary."""
        return len(self._rows) + 1

    @property
    def varied(self) -> tuple[str, ...]:
        """Inputs that were varied, then laws."""
        return (*self._inputs, *dict.fromkeys(self._errors))

    def row_of(self, number: int) -> int:
        """The row of a task's operation."""
        key = self._key(number)
        return 0 if key is None else self._rows.setdefault(key, len(self._rows) + 1)

    def _key(self, number: int) -> _Key | None:
        if number < 0:
            return DISPATCH
        operation, timed = self.found.trace.operations[number], self.found.timed[number]
        if operation.communication is not None:
            return operation.communication
        if timed.bound in _TIMED and operation.work is not None:
            kernel = _Kernel(operation.work, timed.scaled)
            return self._stand_ins.get(kernel, kernel)
        return UNTOLD if _untold(operation, timed) else None

    def kind_of(self, number: int) -> str:
        """What the time of a task rests on."""
        key = self._key(number)
        if isinstance(key, Communication):
            return EXCHANGES
        if isinstance(key, _Kernel):
            return SCALED if key.scaled else KERNELS
        return HOST if key is None else key

    def factors(self, seconds: NDArray[np.float64]) -> NDArray[np.float64]:
        """A row for every kind of operation, by the seconds that each has of the longest chain."""
        table = np.ones((self.rows, self.sampler.samples))
        for key, row in self._rows.items():
            table[row] = self._by_inputs(key)
        kinds: dict[tuple[bool, KernelLawError], dict[int, Work]] = {}
        for key, row in self._rows.items():
            if isinstance(key, _Kernel):
                error = self.errors.kernel(key.work, ratio=key.scaled)
                kinds.setdefault((key.scaled, error), {})[row] = key.work
        for (scaled, error), works in kinds.items():
            self._with_kernel_error(table, works, seconds, error, SCALED if scaled else KERNELS)
        for key, row in self._rows.items():
            if isinstance(key, Communication):
                table[row] *= self._exchange_error(key, table[row])
        return table

    def _by_inputs(self, key: _Key) -> Number:
        if isinstance(key, Communication):
            central = self.exchanges(key)
            return self.exchanges_varied.columns(key) / central if central > 0.0 else 1.0
        if isinstance(key, _Kernel):
            found = _relative(key.work, self.there, self.there_varied)
            return found / _relative(key.work, self.here, self.here_varied) if key.scaled else found
        if key == UNTOLD:
            return self._untold()
        before, after = (_dispatch(one) for one in (self.on, self.variants))
        return after / before if np.all(before) else 1.0

    def _untold(self) -> Number:
        """Anywhere between what was measured, what memories make of it, and what matrix units do."""
        if self.source is None:
            return 1.0
        here, there = (_rates(one) for one in (self.source, self.on))
        logs = [0.0, *(log(before / after) for before, after in zip(here, there, strict=True))]
        if max(logs) - min(logs) < 1e-12:
            return 1.0
        self._errors.append(_SPAN)
        return np.exp(min(logs) + self.sampler.column(_SPAN) * (max(logs) - min(logs)))

    def _with_kernel_error(
        self,
        table: NDArray[np.float64],
        works: Mapping[int, Work],
        seconds: NDArray[np.float64],
        error: KernelLawError,
        name: str,
    ) -> None:
        rows = list(works)
        whole = float(seconds[rows].sum())
        shares = seconds[rows] / whole if whole > 0.0 else np.full(len(rows), 1.0 / len(rows))
        by_inputs = float(np.std(np.log(shares @ table[rows])))
        model = float(error_beside_inputs(error.together(shares), by_inputs, known=error.inputs))
        standard = np.log(model_error_column(np.e, self.sampler, name=name))
        same = self.source is not None and self.source.chip.name == self.on.chip.name
        for row, work in works.items():
            most = model
            if name == SCALED and same:  # of one chip the law may be wrong about a change by no more than all of it
                most = min(model, abs(_log_ratio(work, self.there, self.here)))
            table[row] *= np.exp(most * standard)
            if most > 0.0:
                self._errors.append(name)

    def _exchange_error(self, exchange: Communication, inputs: Column) -> Column:
        """By measured collectives; numbers of links count as far as they are in more doubt than those leave."""
        name, error = self.errors.exchange(exchange, self.exchanges.along(exchange))
        if self.exchanges(exchange) <= 0.0:
            return np.ones(self.sampler.samples)
        self._errors.append(name)
        beside = float(error_beside_inputs(error, float(np.std(np.log(inputs))), known=error))
        return model_error_column(float(np.exp(beside)), self.sampler, name=name)


def _stand_ins(found: Replayed) -> dict[_Kernel, _Kernel]:
    """Works beyond the most that vary by themselves → the longest of the same bound and type, which they vary with."""
    seconds: dict[_Kernel, float] = {}
    bounds: dict[_Kernel, tuple[Bound, str, bool]] = {}
    for operation, timed in zip(found.trace.operations, found.timed, strict=True):
        if timed.bound in _TIMED and operation.work is not None:
            kernel = _Kernel(operation.work, timed.scaled)
            seconds[kernel] = seconds.get(kernel, 0.0) + timed.seconds
            bounds[kernel] = (timed.bound, operation.work.element, timed.scaled)
    longest: dict[tuple[Bound, str, bool], _Kernel] = {}
    stand_ins = {}
    for place, kernel in enumerate(sorted(seconds, key=lambda one: -seconds[one])):
        first = longest.setdefault(bounds[kernel], kernel)
        if place >= MOST_WORKS and first is not kernel:
            stand_ins[kernel] = first
    return stand_ins


def _untold(operation: Operation, timed: TimedWork) -> bool:
    return operation.place is Place.DEVICE and timed.bound is Bound.MEASURED


def _relative(work: Work, times: OperationTimes, varied: OperationTimes) -> Number:
    central = times(work)
    return varied.columns(work) / central.seconds if central is not None and central.seconds > 0.0 else 1.0


def _log_ratio(work: Work, there: OperationTimes, here: OperationTimes) -> float:
    after, before = there(work), here(work)
    if after is None or before is None or not (after.seconds > 0.0 and before.seconds > 0.0):
        return 0.0
    return log(after.seconds / before.seconds)


def _rates(cluster: Cluster) -> tuple[float, float]:
    found = SustainedRates.of(cluster, element_on(cluster.chip, "bf16"))
    return float(found.memory_rate), float(found.matrix_rate)


def _dispatch(cluster: Cluster) -> Number:
    return OperationTimes(cluster).rates(next(iter(cluster.chip.matrix_rates))).host_dispatch_time
