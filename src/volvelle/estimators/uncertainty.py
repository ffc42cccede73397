"""Every uncertain number of a machine, its calibration and a step as a column, and any estimator on them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from math import exp, log
from typing import Any, Protocol, TypeVar, cast, final

import numpy as np
from numpy.typing import NDArray

from volvelle.domains import BYTE_RATE, FLOP_RATE, NO_POWER, OVERSUBSCRIPTION, PUE, NumberDomain, domains_of
from volvelle.errors import DescriptionError
from volvelle.estimators.calibration import (
    CONSTANTS,
    ERRORS,
    CalibratedCluster,
    Calibration,
    calibrated,
    fitted_constants,
)
from volvelle.estimators.contract import TrainingEstimator
from volvelle.estimators.question_error import step_error
from volvelle.estimators.result import EstimateTable, Range, TrainingEstimate
from volvelle.estimators.sampler import Column, Sampler, Stratified
from volvelle.estimators.step_errors import CHIP, StepError, told_by_runs
from volvelle.estimators.step_inputs import chances_of_room, load_column, memory_columns
from volvelle.laws.model_error import error_beside_inputs
from volvelle.mapping.parallelism import MappingTable, ParallelMapping
from volvelle.quantities import Number
from volvelle.spread import Figure, LogStudent
from volvelle.system.chip import Chip, Memory
from volvelle.system.cluster import Cluster
from volvelle.system.host_power import HOST_POWER_SHARE
from volvelle.system.link import Link
from volvelle.workload.training import TrainingStep

_LINK_FIELDS = ("rate", "latency", "setup", "efficiency", "fill", "contention", "reduction_efficiency")
_CHIP_FIELDS = ("buffer", "units", "tile", "power", "price")
_MONEY = frozenset({"price"})
_POWER = frozenset({"power", "host power", "PUE"})
_ROOM = "capacity"
HELD_BY_RESIDUALS = {False: 0.063, True: 0.105}
"""One standard deviation of the logarithm of a step's time as inputs vary, the median over publications of calibration
runs, of dense models and of mixtures: so much of inputs' doubt is in what those runs are off already."""
UNVALIDATED = 1.35
"""Error of a model, one standard deviation as a factor, where nothing was measured."""
Value = TypeVar("Value")


class TableEstimator(Protocol):
    """An estimator that also answers tables."""

    def estimate(self, workload: TrainingStep, system: Cluster, mapping: ParallelMapping) -> TrainingEstimate:
        """How one mapping does."""

    def table(
        self, workload: TrainingStep, system: Cluster, mappings: MappingTable, *, breakdown: bool = False
    ) -> EstimateTable:
        """How many mappings do; with `breakdown` also what each part takes."""


# -- pieces that any sampler needs ---------------------------------------------------------------------------------


MODEL, MEMORY_MODEL, SPIKE = "the model", "the model of memory", "memory for a moment"
"""Inputs that no machine has: how far off the model of the time is, and that of memory; what else runs fail by."""


def column_of(name: str, figure: Figure, sampler: Sampler) -> Column:
    """Samples of a figure; itself, repeated, where it has no spread."""
    return np.full(sampler.samples, figure.value) if figure.spread is None else figure.spread.at(sampler.column(name))


def model_error_column(factor: float, sampler: Sampler, *, name: str = MODEL, tilt: float = 0.0) -> Column:
    """Factors by which a model may be off, one standard deviation being `factor`; above by more than below."""
    return LogStudent(1.0, factor, tilt).at(sampler.column(name))


def memory_error_column(factor: float | None, sampler: Sampler) -> Column:
    """Factors by which the model of memory may be off."""
    return LogStudent(1.0, factor or 1.0).at(sampler.column(MEMORY_MODEL))


def suffices(capacity: Number, memory: Column, factor: float | None, sampler: Sampler) -> NDArray[np.bool_]:
    """Where memory suffices: with what a run takes for a moment, or lets lie between tensors, beyond the model."""
    spikes = LogStudent(1.0, factor or 1.0).at((1.0 + sampler.column(SPIKE)) / 2.0)  # never less
    return np.asarray(memory * spikes <= capacity)


def range_of(column: Column, *, level: float, varied: Sequence[str]) -> Range:
    """Where the central share `level` of samples lies."""
    tail = (1 - level) / 2
    low, high = np.quantile(column, [tail, 1 - tail])
    return Range(low=float(low), high=float(high), level=level, varied=tuple(varied))


def time_range(
    time: Callable[[Cluster], Number], system: Cluster, *, error: float, samples: int, seed: int, level: float
) -> Range:
    """Where a time lies when numbers of the machine vary within their spreads, and the model by its own `error`."""
    sampler = Stratified(samples, seed)
    variants, varied = sampled(system, sampler=sampler)
    column = np.asarray(time(variants)) * model_error_column(error, sampler)
    return range_of(column, level=level, varied=(*moving_time(varied), MODEL))


# -- a machine, sampled --------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Draw:
    """Columns drawn so far, by name: the same column wherever the same chip or link appears."""

    sampler: Sampler
    columns: dict[str, Column] = field(default_factory=dict)

    def scaled(self, name: str, value: Value, figure: Figure | None, domain: NumberDomain) -> Value:
        """The number as a column inside its domain, if it has a spread.

        A share of a link or an axis of a study changes the number but not the figure behind it, so the column is
        taken relative to the figure.
        """
        if figure is None or figure.spread is None:
            return value
        if name not in self.columns:
            self.columns[name] = column_of(name, figure, self.sampler)
        number = cast("Any", value)
        return cast("Value", domain.clipped(self.columns[name] * (number / figure.value if figure.value else 1.0)))

    def fields(self, part: Link | Chip, names: Sequence[str]) -> dict[str, Any]:
        """Those fields of a part that have a spread, as columns."""
        domains = domains_of(type(part))  # type: ignore[arg-type]
        drawn = {
            name: self.scaled(
                f"{part.name}: {name.replace('_', ' ')}", getattr(part, name), part.figures.get(name), domains[name]
            )
            for name in names
        }
        return {name: value for name, value in drawn.items() if value is not getattr(part, name)}


def sampled(
    system: Cluster, *, samples: int = 512, seed: int = 0, sampler: Sampler | None = None
) -> tuple[Cluster, list[str]]:
    """The system with every uncertain number replaced by a column of samples, and what was varied.

    Samples are stratified, each number taking one value from each of `samples` equally likely slices, or those of a
    `sampler`. What a number is called and the seed decide its column alone: machines with the same chip or link vary it
    together.
    """
    draw = _Draw(Stratified(samples, seed) if sampler is None else sampler)
    # A link that two dimensions share varies as one; its share of a dimension stays what it is.
    links = [replace(dimension.link, **draw.fields(dimension.link, _LINK_FIELDS)) for dimension in system.dimensions]
    if isinstance(system, CalibratedCluster):
        system = _with_calibrations(system, draw)
    figures = system.figures
    dimensions = []
    for place, (dimension, link) in enumerate(zip(system.dimensions, links, strict=True)):
        label = f"{dimension.name}: "
        rate = draw.scaled(f"{label}share", link.rate, figures.get(f"dimensions.{place}.share"), BYTE_RATE)
        thin = figures.get(f"dimensions.{place}.oversubscription")
        topology: Any = dimension.topology
        if thin is not None and thin.spread is not None:
            factor = draw.scaled(f"{label}oversubscription", topology.oversubscription, thin, OVERSUBSCRIPTION)
            topology = replace(topology, oversubscription=factor)
        dimensions.append(replace(dimension, topology=topology, link=replace(link, rate=rate)))
    host: Number | None = system.host_rate
    if host is not None and system.host_link is not None:
        link = system.host_link
        for name in ("rate", "efficiency"):
            host = draw.scaled(f"{link.name}: {name}", host, link.figures.get(name), BYTE_RATE)
    hosts = figures.get("host_power") if system.host_power is not None else _stand_in_hosts(system)
    variants = replace(
        system,
        chip=_with_facts(system.chip, draw),
        dimensions=tuple(dimensions),
        host_rate=host,
        host_power=draw.scaled("host power", system.host_watts, hosts, NO_POWER),
        pue=draw.scaled("PUE", system.pue, figures.get("pue"), PUE),
    )
    return variants, list(draw.columns)


def _stand_in_hosts(system: Cluster) -> Figure | None:
    """Return the assumed power of hosts, for a cluster that states none."""
    watts = system.host_watts
    if watts is None or np.ndim(watts):
        return None
    share = HOST_POWER_SHARE
    assert share.spread is not None, "a stand-in has a spread"
    factor = float(watts) / share.value
    return replace(share, value=float(watts), spread=share.spread.times(factor))


def _with_facts(chip: Chip, draw: _Draw) -> Chip:
    """The chip with every peak, size, power and price that has a spread as a column."""

    def rates(room: str, table: Mapping[str, Number]) -> dict[str, Number]:
        word = room.removesuffix("s").replace("_", " ")
        return {
            element: draw.scaled(
                f"{chip.name}: {element} {word}", rate, chip.figures.get(f"{room}.{element}"), FLOP_RATE
            )
            for element, rate in table.items()
        }

    return replace(
        chip,
        matrix_rates=rates("matrix_rates", chip.matrix_rates),
        vector_rates=rates("vector_rates", chip.vector_rates),
        memories=tuple(
            replace(
                tier,
                **{
                    name: draw.scaled(
                        f"{chip.name}: {tier.name} {name}",
                        getattr(tier, name),
                        chip.figures.get(f"memories.{place}.{name}"),
                        domains_of(Memory)[name],
                    )
                    for name in (_ROOM, "rate")
                },
            )
            for place, tier in enumerate(chip.memories)
        ),
        **draw.fields(chip, _CHIP_FIELDS),
    )


def _with_calibrations(system: CalibratedCluster, draw: _Draw) -> CalibratedCluster:
    """The machine with every fitted constant that has a spread, and is asked for, as a column."""
    book, chip = system.calibrations, system.chip
    changed: dict[int, dict[str, Number]] = {}
    chosen = dict(book.chosen)
    for entry, name in _asked(book.entries, chip):
        place, figure = book.entries.index(entry), entry.figures.get(name)
        narrow = f" ({', '.join(part for part in (entry.element, entry.stack) if part)})" if entry.element else ""
        label = f"{chip.name}: {name.replace('_', ' ')}{narrow}"
        if name in chosen and not entry.element:
            chosen[name] = draw.scaled(label, chosen[name], figure, CONSTANTS[name])
        else:
            changed.setdefault(place, {})[name] = draw.scaled(label, entry.constants[name], figure, CONSTANTS[name])
    entries = tuple(
        replace(entry, constants={**entry.constants, **changed.get(place, {})})
        for place, entry in enumerate(book.entries)
    )
    return replace(system, calibrations=replace(book, entries=entries, chosen=chosen))


def _asked(entries: Sequence[Calibration], chip: Chip) -> Iterator[tuple[Calibration, str]]:
    """Constants that some question about the chip ends at: the chip's before its family's, then narrower ones."""
    ranked = [(entry.rank(chip, entry.element, entry.stack), entry) for entry in entries]
    near = [entry for rank, entry in sorted(((r, e) for r, e in ranked if r is not None), key=lambda pair: pair[0])]
    for name in CONSTANTS:
        if name in ERRORS:
            continue
        general = next((entry for entry in near if not entry.element and name in entry.constants), None)
        if general is not None:
            yield general, name
    for entry in near:
        if entry.element:
            yield from ((entry, name) for name in CONSTANTS if name in entry.constants and name not in ERRORS)


# -- an estimator on samples ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """A step on every sampled machine."""

    system: Cluster
    """Its uncertain numbers are columns."""
    time: Column
    """With the model's own error."""
    memory: Column
    """Likewise."""
    sufficient: Column
    """How likely memory suffices, nothing left free."""
    level: float
    inputs: tuple[str, ...]
    """Which numbers of the machine, and of what the step's time rests on, were varied."""
    held: tuple[str, ...] = ()
    """Which numbers of the step that its memory rests on."""
    model: str
    """What the model's own error rests on."""

    @property
    def headroom(self) -> Column:
        """Bytes of memory left."""
        return np.asarray(self.system.chip.capacity - self.memory)

    def ranges(self) -> dict[str, Range]:
        """Ranges of what an estimator answers: time, memory, and memory left."""
        rooms = tuple(name for name in self.inputs if name.endswith(_ROOM))
        return {
            "time": self.range_of(self.time, *moving_time(self.inputs)),
            "memory": range_of(self.memory, level=self.level, varied=(*self.held, MEMORY_MODEL)),
            "headroom": range_of(self.headroom, level=self.level, varied=(*rooms, *self.held, MEMORY_MODEL)),
        }

    def range_of(self, column: Column, *inputs: str) -> Range:
        """The range of a figure that rests on the time and on some inputs."""
        return range_of(column, level=self.level, varied=(*inputs, self.model))

    def named(self, wanted: Callable[[str], bool]) -> tuple[str, ...]:
        """Inputs varied, of some kind."""
        return tuple(name for name in self.inputs if wanted(name))

    def cost_range(self, name: str, column: Column) -> Range:
        """The range of a power, which does not rest on the time; of an energy; of money, which prices move too."""
        if name == "power":
            return range_of(column, level=self.level, varied=self.named(_draws))
        return self.range_of(column, *(self.inputs if name == "dollars" else self.named(lambda one: not _pays(one))))


def moving_time(inputs: Sequence[str]) -> tuple[str, ...]:
    """Those inputs that move a time: neither prices nor powers."""
    return tuple(name for name in inputs if not (_pays(name) or _draws(name)))


def _pays(name: str) -> bool:
    return name.rpartition(": ")[2] in _MONEY


def _draws(name: str) -> bool:
    return name.rpartition(": ")[2] in _POWER


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class UnderUncertainty(TrainingEstimator):
    """The estimator's own answer, with the ranges its figures take when inputs and the model itself are in doubt.

    Inputs vary within their spreads; on top, the whole step varies by as much as calibration runs were off that their
    fit did not see, and more where it leaves what they tell of (`step_error`); by `unvalidated` on a family of chips
    that no run was on.
    """

    estimator: TableEstimator
    samples: int = 512
    seed: int = 0
    level: float = 0.8
    unvalidated: float = UNVALIDATED
    """Error of the model, one standard deviation as a factor, where a chip's family has no calibration runs."""
    sampler: Sampler | None = None
    """Other samples than stratified ones of that number and seed, such as `ScrambledSobol`."""

    def __post_init__(self) -> None:
        TrainingEstimator.__post_init__(self)
        if self.samples < 2 or not 0 < self.level < 1:
            raise DescriptionError(
                f"sampling needs at least 2 samples and a level between 0 and 1, not {self.samples} and {self.level}"
            )

    def estimate(self, workload: TrainingStep, system: Cluster, mapping: ParallelMapping) -> TrainingEstimate:
        """The central answer and its ranges."""
        return self.with_samples(workload, system, mapping)[0]

    def with_samples(
        self, workload: TrainingStep, system: Cluster, mapping: ParallelMapping
    ) -> tuple[TrainingEstimate, Samples]:
        """The central answer with its ranges, and the samples behind them, for figures made of time and machine."""
        estimator, system = _with_own_calibration(self.estimator, system)
        central = estimator.estimate(workload, system, mapping)
        sampler = self.sampler or Stratified(self.samples, self.seed)
        variants, varied = sampled(system, sampler=sampler)
        table = estimator.table(workload, variants, MappingTable.of([mapping]))
        fitted = fitted_constants(system, workload.element)
        known = step_error(system, workload, mapping)
        load, loads = load_column(
            lambda step: float(estimator.table(step, system, MappingTable.of([mapping])).time[0]),
            workload,
            sampler,
            central=central.time,
        )
        held_error = memory_error_column(fitted.memory_error, sampler)
        held = memory_columns(central.memory_bytes, central.tensor_bytes, workload, sampler, ratio=fitted.memory_ratio)
        memory = held.with_error(held_error)
        told = known.factor is not None and CHIP not in known.left
        samples = Samples(
            system=variants,
            time=self._times(central.time, table.time * load, known, mixture=bool(loads), sampler=sampler),
            memory=memory,
            sufficient=np.broadcast_to(chances_of_room(variants.chip.capacity, held, fitted), memory.shape),
            level=self.level,
            inputs=(*varied, *loads),
            held=held.varied,
            model="the model, " + ("by calibration runs" if told else "not calibrated on this family"),
        )
        room = central.capacity - central.memory_bytes
        own = {"time": central.time, "memory": central.memory_bytes, "headroom": room}
        ranges = {name: found.holding(own[name]) for name, found in samples.ranges().items()}
        return replace(central, ranges=ranges, fits=float(np.mean(samples.sufficient))), samples

    def _times(self, central: float, inputs: Column, known: StepError, *, mixture: bool, sampler: Sampler) -> Column:
        """Times as inputs vary, by the model's own error; around the centre, which residuals of calibration are of."""
        if known.factor is None:
            return np.asarray(inputs * model_error_column(known.or_else(self.unvalidated), sampler))
        logs = told_by_runs(np.log(inputs), log(known.factor)) if known.own else np.log(inputs)
        beside = error_beside_inputs(log(known.factor), float(np.std(logs)), known=HELD_BY_RESIDUALS[mixture])
        shift = log(central) - float(np.median(logs))
        return np.asarray(np.exp(logs + shift) * model_error_column(exp(float(beside)), sampler, tilt=known.tilt))


def _with_own_calibration(estimator: TableEstimator, system: Cluster) -> tuple[TableEstimator, Cluster]:
    """An estimator that brings a calibration hands it to the machine, where its constants can be varied."""
    own = getattr(estimator, "calibration", None)
    if own is None:
        return estimator, system
    names = {part.name for part in fields(cast("Any", estimator))}
    assert "calibration" in names, "an estimator's calibration is a field of it"
    return replace(cast("Any", estimator), calibration=None), calibrated(system, own)
