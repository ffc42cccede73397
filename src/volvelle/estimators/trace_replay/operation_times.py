"""Times of a trace's operations on a machine, by the laws that training takes its kernels' times from."""

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from typing import NamedTuple

import numpy as np

from volvelle.errors import OutsideDomainError
from volvelle.estimators.kernels import KernelTime, KernelTimes, Sizes
from volvelle.estimators.rates import SustainedRates
from volvelle.laws.collectives import point_to_point_time
from volvelle.mapping.actions import Kernel
from volvelle.mapping.parallelism import MappingTable, ParallelMapping
from volvelle.mapping.symbols import Term
from volvelle.quantities import Number
from volvelle.system.chip import Chip
from volvelle.system.cluster import Cluster
from volvelle.workload.elements import ELEMENT_BYTES
from volvelle.workload.operations import Phase
from volvelle.workload.trace.values import HOST_COPY, Work

_NEXT = {
    "fp64": ("fp32",),
    "fp32": ("tf32", "bf16", "fp64"),
    "bf16": ("fp16", "tf32", "fp32", "fp64"),
    "fp16": ("bf16", "tf32", "fp32", "fp64"),
    "fp8": ("int8", "bf16", "fp16", "fp32"),
    "int8": ("fp8", "bf16", "fp16", "fp32"),
    "fp4": ("fp8", "int8", "bf16", "fp32"),
}
"""In which type a chip multiplies what it has no units for: the next wider, then what there is."""


class Bound(Enum):
    """What an operation's time is made of, or comes from."""

    COMPUTE = "compute"
    MEMORY = "memory"
    LAUNCH = "launch"
    NETWORK = "network"
    HOST_LINK = "host link"
    """A copy between chip and host."""
    HOST = "host"
    """It prepares or waits: as measured."""
    MEASURED = "as measured"
    """It is not understood, or no machine was named."""
    UNKNOWN = "not timed"
    """It is neither understood nor measured: no time is given to it."""


class TimedWork(NamedTuple):
    """Seconds of a work on a machine, and what binds it."""

    seconds: float
    bound: Bound
    scaled: bool = False
    """Whether it is what was measured elsewhere, by the ratio of the law."""


def element_on(chip: Chip, element: str) -> str:
    """The type in which a chip multiplies elements of another."""
    known = element if element in _NEXT else "fp32"
    for name in (known, *_NEXT[known]):
        try:
            chip.matrix_rate(name)
        except OutsideDomainError:
            continue
        return name
    raise OutsideDomainError(
        f"chip {chip.name!r} has no dense matrix rate for {element}; it has {', '.join(sorted(chip.matrix_rates))}"
    )


class OperationTimes:
    """Times of works on one machine; equal works are timed once."""

    def __init__(self, cluster: Cluster, *, element: str | None = None, least_launch: float = 0.0) -> None:
        """The machine, and what is to be taken otherwise.

        `element` is the type of all products, in place of what the trace has; `least_launch` what starting an operation
        takes where the machine's constants say nothing of it.
        """
        self._cluster = cluster
        self._element = element
        self._least = least_launch
        self._sizes = Sizes(MappingTable.of([ParallelMapping()]))
        self._kernels: dict[str, KernelTimes] = {}
        self._launch: dict[str, Number] = {}
        self._known: dict[Work, TimedWork | None] = {}

    def __call__(self, work: Work) -> TimedWork | None:
        """The work's time; None: the machine states nothing that it could be told from, as no link to its host."""
        if work not in self._known:
            self._known[work] = self._timed(work)
        return self._known[work]

    def rates(self, element: str) -> SustainedRates:
        """Of the machine, for products of one type; conversions between types are operations of a trace themselves."""
        return replace(SustainedRates.of(self._cluster, element), cast=None)

    def _timed(self, work: Work) -> TimedWork | None:
        if work.kind == "view":
            return TimedWork(0.0, Bound.HOST)
        if work.kind == HOST_COPY:
            copied = self._copied(work)
            return None if copied is None else TimedWork(float(copied), Bound.HOST_LINK)
        element, timed = self._kernel_time(work)
        parts = {
            Bound.COMPUTE: float(timed.arithmetic),
            Bound.MEMORY: float(timed.memory),
            Bound.LAUNCH: float(self._launch[element]),
        }
        return TimedWork(float(timed.time), max(parts, key=lambda bound: parts[bound]))

    def columns(self, work: Work) -> Number:
        """Seconds on every variant of a machine whose numbers are columns; of a work that the machine can time."""
        if work.kind == HOST_COPY:
            copied = self._copied(work)
            assert copied is not None, "the machine has a link to its host"
            return copied
        return self._kernel_time(work)[1].time

    def _copied(self, work: Work) -> Number | None:
        rate = self.rates(next(iter(self._cluster.chip.matrix_rates))).host_rate
        return None if rate is None else point_to_point_time(work.traffic, rate=rate, latency=0.0)

    def _kernel_time(self, work: Work) -> tuple[str, KernelTime]:
        """The type in which the chip multiplies, and what the kernel takes."""
        element = element_on(self._cluster.chip, self._element or work.element)
        if element not in self._kernels:
            rates = self.rates(element)
            launch = rates.kernel_launch_time if np.any(rates.kernel_launch_time) else self._least
            rates = replace(rates, kernel_launch_time=launch)
            self._kernels[element] = KernelTimes(self._sizes, rates, alone=True)
            self._launch[element] = launch
        each = ELEMENT_BYTES.get(self._element or work.element, 4.0)
        return element, self._kernels[element].time_of(_kernel(work, each))


def _kernel(work: Work, each: float) -> Kernel:
    vector = Term(work.vector_flop) if work.vector_flop > 0.0 or work.matrix_flop == 0.0 else None
    matrix = Term(work.matrix_flop) if work.matrix_flop > 0.0 else None
    said = {"name": work.kind, "part": "", "phase": Phase.FORWARD, "matrix_work": matrix, "vector_work": vector}
    if work.product is None:
        traffic: Sequence[Term] = (Term(work.traffic),)
        fused = work.keys > 0.0
        return Kernel(**said, traffic=tuple(traffic), attention_core=fused, depth=Term(work.keys or 1.0))  # type: ignore[arg-type]
    rows, columns, depth, instances = work.product
    return Kernel(
        **said,  # type: ignore[arg-type]
        product=(Term(each * rows * depth), Term(each * depth * columns), Term(each * rows * columns)),
        instances=Term(instances),
        rows=Term(rows),
        columns=Term(columns),
        depth=Term(depth),
    )
