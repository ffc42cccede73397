"""What an estimator answers: contributions, memory, violations. Totals are derived from the parts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from volvelle.laws.utilisation import model_flops_utilisation
from volvelle.mapping.parallelism import MappingTable, ParallelMapping
from volvelle.quantities import Count, Flop, FlopPerSecond

__all__ = ["Contribution", "Estimate", "EstimateTable", "MemoryPart", "Range", "Violation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """Where a part of the time goes."""

    name: str
    part: str
    """The larger thing it belongs to, for grouping."""
    time: float
    exposed: bool
    """False: it runs behind something else and does not lengthen the step."""
    resource: str
    """What bounds it."""
    law: str
    """Name of the law that gives its time (see ``volvelle.laws``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPart:
    """What a part of the memory is for, on the fullest rank."""

    name: str
    bytes: float
    law: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """Why a mapping cannot run, and what would cure it."""

    name: str
    problem: str
    cures: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Where a figure lies when the inputs vary within their spreads."""

    low: float
    high: float
    level: float
    """Share of the sampled inputs that end inside."""
    varied: tuple[str, ...]
    """Which inputs were varied."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """How one mapping does."""

    mapping: ParallelMapping
    contributions: tuple[Contribution, ...]
    memory: tuple[MemoryPart, ...]
    worst_rank: str
    """Which pipeline stage holds the most."""
    capacity: float
    violations: tuple[Violation, ...]
    work: float
    """FLOP the model needs for the step."""
    tokens: int
    chips: int
    peak: float
    """Dense peak of one chip in the element type used."""
    time_range: Range | None = None
    ranges: Mapping[str, Range] = field(default_factory=dict)
    """Where figures lie when inputs vary, by name: time, memory, headroom (memory left)."""
    facts: Mapping[str, float] = field(default_factory=dict)
    """Side results worth showing: micro-batches, parameters a chip …"""

    @cached_property
    def time(self) -> float:
        """Seconds a step: the sum of what is exposed."""
        return sum(part.time for part in self.contributions if part.exposed)

    @cached_property
    def hidden(self) -> float:
        """Seconds of work that run behind other work."""
        return sum(part.time for part in self.contributions if not part.exposed)

    @cached_property
    def memory_bytes(self) -> float:
        """Bytes on the fullest rank."""
        return sum(part.bytes for part in self.memory)

    @property
    def feasible(self) -> bool:
        """Whether it can run at all."""
        return not self.violations

    @property
    def utilisation(self) -> float:
        """Model FLOPs utilisation."""
        return float(model_flops_utilisation(self.work, self.time, chips=self.chips, peak=self.peak))

    @property
    def tokens_per_second(self) -> float:
        """Tokens the whole machine trains on in a second."""
        return self.tokens / self.time

    def parts(self) -> dict[str, float]:
        """Exposed seconds by part, largest first."""
        found: dict[str, float] = {}
        for part in self.contributions:
            if part.exposed:
                found[part.part] = found.get(part.part, 0.0) + part.time
        return dict(sorted(found.items(), key=lambda item: -item[1]))


@dataclass(frozen=True, kw_only=True)
class EstimateTable:
    """How many mappings do, as columns; row i is what `estimate` answers for mapping i."""

    mappings: MappingTable
    time: NDArray[np.float64]
    """Seconds a step."""
    memory_bytes: NDArray[np.float64]
    """Bytes on the fullest rank."""
    violations: Mapping[str, NDArray[np.bool_]]
    """Violation → which mappings it strikes."""
    work: Flop
    chips: Count
    peak: FlopPerSecond
    contributions: Mapping[tuple[str, bool], NDArray[np.float64]] | None = None
    """Seconds by contribution and whether it is exposed, if a breakdown was asked for."""
    memory: Mapping[str, NDArray[np.float64]] | None = None
    """Bytes by part, if a breakdown was asked for."""

    def __len__(self) -> int:
        return len(self.time)

    @cached_property
    def feasible(self) -> NDArray[np.bool_]:
        """Which mappings can run."""
        return self._spared()

    @cached_property
    def runs_but_for_memory(self) -> NDArray[np.bool_]:
        """Which mappings could run if memory were large enough."""
        return self._spared(but_for="memory")

    def _spared(self, *, but_for: str = "") -> NDArray[np.bool_]:
        """Which mappings no violation strikes, one of them aside."""
        bad = np.zeros(len(self), dtype=bool)
        for name, violated in self.violations.items():
            if name != but_for:
                bad |= violated
        return ~bad

    @property
    def utilisation(self) -> NDArray[np.float64]:
        """Model FLOPs utilisation."""
        return np.asarray(model_flops_utilisation(self.work, self.time, chips=self.chips, peak=self.peak))
