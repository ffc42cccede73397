"""Failures and recovery: what studies say (``data/reliability``), and what they say together of any other cluster."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from statistics import fmean, variance

import numpy as np
from numpy.typing import NDArray

from volvelle.catalogue.figures import read_figure
from volvelle.catalogue.loader import Catalogue, parsed, validated
from volvelle.catalogue.packaged_rows import packaged_rows
from volvelle.catalogue.schema import Datum, ReliabilityFile
from volvelle.domains import ERROR_FACTOR, HAZARD, NO_SHARE, POWER, RECOVERY, NumberDomain
from volvelle.errors import DescriptionError
from volvelle.input_limits import read_text
from volvelle.quantities import EVENTS_PER_SECOND, Number, show
from volvelle.spread import Figure, Interval, LogNormal, log_normal, standard_normal

NODE = 8
"""Accelerators of the nodes that rates of the prior are of."""
_CENTRAL = float(standard_normal(0.9))
"""Standard deviations on either side that hold 80 %."""
_FAR = 3.0
"""Standard deviations from what others measured at which somebody's own rate is asked about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hazard:
    """How often a part fails, by one study."""

    study: str
    part: str
    what_counts: str
    rate: Figure
    """Events a second of one part."""
    accelerators: int | None
    """Of the cluster it was seen on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatePrior:
    """Faults a second that stop a job or remove a node of eight, as clusters that were measured have them."""

    median: float
    deviation: float
    """Of the logarithm, between clusters."""
    growth: float
    """Doubt in the exponent by which the rate of a node grows with the size of a cluster, one standard deviation."""
    middle: float
    """Logarithm of the accelerators of a cluster of middle size among them."""
    largest: int
    """Accelerators of the largest of them."""
    studies: tuple[str, ...]
    families: frozenset[str]
    """Of chips, as far as studies name them."""
    unwatched: float
    """Further doubt of the logarithm on chips of any other family."""

    def watched(self, family: str | None) -> bool:
        """Whether faults were counted on chips of a family; None: nobody says which it is, and none is left."""
        return family is None or family in self.families

    def spread(self, accelerators: float, family: str | None) -> LogNormal:
        """The rate of one node in a cluster of so many chips of a family, none of which anybody has watched.

        Clusters differ, their mean is known from few, and further from their middle size the exponent of growth weighs
        more. The exponent itself is taken as none: from 8 to 1,024 GPUs of one cluster it is 0.026 (rsc-jobs). Chips
        of a family on which nobody counted faults are in further doubt.
        """
        return LogNormal(self.median, math.exp(float(self._deviation_among(accelerators, family))))

    def at(self, accelerators: Number, quantiles: Number, family: str | None) -> Number:
        """The same at quantiles; sizes and quantiles broadcast."""
        return log_normal(self.median, self._deviation_among(accelerators, family), np.asarray(quantiles))

    def _deviation_among(self, accelerators: Number, family: str | None) -> NDArray[np.float64]:
        """Of the logarithm of the rate."""
        far = self.growth * (np.log(accelerators) - self.middle)
        other = 0.0 if self.watched(family) else self.unwatched
        return np.sqrt(self.deviation**2 * (1 + 1 / len(self.studies)) + far**2 + other**2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A node out of service, in days since the first day of a trace."""

    start: float
    end: float
    node: int
    kind: str


@cache
def _own() -> Catalogue:
    return Catalogue()


@cache
def studies() -> tuple[ReliabilityFile, ...]:
    """All entries of the room, of the package's own catalogue."""
    return _stating("")


@cache
def _stating(words: str) -> tuple[ReliabilityFile, ...]:
    """Those entries in whose files some words stand: parsing all takes longer than an estimate."""
    room = resources.files("volvelle.catalogue") / "data" / "reliability"
    names = [name for name in _own().names("reliability") if words in read_text(room / f"{name}.yaml")]
    found = (_own().entry("reliability", name) for name in names)
    return tuple(entry for entry in found if isinstance(entry, ReliabilityFile))


def _study(name: str) -> ReliabilityFile:
    entry = _own().entry("reliability", name)
    assert isinstance(entry, ReliabilityFile), "that is what the room holds"
    return entry


@cache
def hazards() -> tuple[Hazard, ...]:
    """Every rate of the package's own studies."""
    sources = _own().sources
    return tuple(hazard for entry in studies() for hazard in _hazards(entry, sources))


@cache
def hazards_of(study: str) -> tuple[Hazard, ...]:
    """Every rate of one study."""
    entry = _study(study)
    return _hazards(entry, _own().sources)


def _hazards(entry: ReliabilityFile, sources: Collection[str]) -> tuple[Hazard, ...]:
    return tuple(
        Hazard(
            study=entry.name,
            part=stated.part,
            what_counts=stated.what_counts,
            rate=_figure(stated.rate, HAZARD, f"{entry.name}: rate of a {stated.part}", sources),
            accelerators=entry.accelerators,
        )
        for stated in entry.hazards
    )


@cache
def rate_prior() -> RatePrior:
    """Of all rates that are pooled: geometric mean, spread between clusters, and doubt in how they grow with size."""
    pooled = [
        (entry.name, entry.accelerators, _figure(stated.rate, HAZARD, entry.name, _own().sources).value)
        for entry in _stating("pooled: true")
        for stated in entry.hazards
        if stated.pooled and entry.accelerators is not None
    ]
    sizes = [math.log(accelerators) for _, accelerators, _ in pooled if accelerators is not None]
    rates = [math.log(rate) for *_, rate in pooled]
    middle, level = fmean(sizes), fmean(rates)
    across = sum((size - middle) ** 2 for size in sizes)
    slope = sum((size - middle) * rate for size, rate in zip(sizes, rates, strict=True)) / across
    left = sum((rate - level - slope * (size - middle)) ** 2 for size, rate in zip(sizes, rates, strict=True))
    return RatePrior(
        median=math.exp(level),
        deviation=math.sqrt(variance(rates)),
        growth=math.sqrt(left / (len(rates) - 2) / across),
        middle=middle,
        largest=max(accelerators for _, accelerators, _ in pooled if accelerators is not None),
        studies=tuple(name for name, *_ in pooled),
        families=frozenset(entry.family for entry in _stating("pooled: true") if entry.hazards and entry.family),
        unwatched=math.log(stated_factor("unwatched", "failures").value),
    )


@cache
def part_hazards() -> Mapping[str, Hazard]:
    """Rates by part, of the one study that tells parts apart: what shares of a node's failures are whose."""
    return {hazard.part: hazard for hazard in hazards_of("infinitehbd") if hazard.part != "node"}


@cache
def time_prior(phase: str, way: str = "any") -> LogNormal:
    """How long a phase takes, done one way, by the times of it that are pooled.

    Their geometric mean; the variance is that between studies and the mean of those within, none of one that states a
    point, and of one that states ends (taken as 80 %) theirs.
    """
    found = [
        _figure(stated.time, RECOVERY, entry.name, _own().sources)
        for entry in _stating("pooled: true")
        for stated in entry.times
        if stated.phase == phase and stated.way == way and stated.pooled
    ]
    if not found:
        raise DescriptionError(f"no study of the catalogue says how long a {phase} takes, {way}; state it")
    logs = [math.log(figure.value) for figure in found]
    ends = [figure.spread for figure in found if isinstance(figure.spread, Interval)]
    within = sum((math.log(end.high / end.low) / (2 * _CENTRAL)) ** 2 for end in ends) / len(found)
    between = variance(logs) if len(logs) > 1 else 0.0
    return LogNormal(math.exp(fmean(logs)), math.exp(math.sqrt(within + between)))


@cache
def stated_time(study: str, phase: str) -> Figure:
    """The one time of that phase that a study states."""
    entry = _study(study)
    stated = next(time for time in entry.times if time.phase == phase)
    return _figure(stated.time, RECOVERY, f"{study}: {phase}", _own().sources)


@cache
def stated_share(study: str, name: str) -> Figure:
    """A share that a study states, like ``slow_nodes`` of megascale."""
    entry = _study(study)
    return _figure(entry.shares[name], NO_SHARE, f"{study}: {name}", _own().sources)


@cache
def stated_factor(study: str, name: str) -> Figure:
    """A doubt that an entry states as a factor, like ``failures`` of unwatched."""
    entry = _study(study)
    return _figure(entry.factors[name], ERROR_FACTOR, f"{study}: {name}", _own().sources)


@cache
def stated_node_power(chip: str, state: str) -> Figure | None:
    """Watts of a whole node of this chip in a state (rated, peak, training), as a study has them; None: none has."""
    for entry in _stating("power:"):
        for stated in entry.power:
            if (stated.chip, stated.state) == (chip, state) and stated.accelerators > 1:
                return _figure(stated.power, POWER, f"{entry.name}: {chip}", _own().sources)
    return None


@cache
def recorded_faults() -> tuple[Fault, ...]:
    """The trace of 400 servers over 349 days, by start."""
    rows = packaged_rows("reliability/faults.csv")
    found = (
        Fault(start=float(row["start_day"]), end=float(row["end_day"]), node=int(row["node"]), kind=row["class"])
        for row in rows
    )
    return tuple(sorted(found, key=lambda fault: fault.start))


@cache
def recorded_days() -> float:
    """Length of that trace: days of all of its nodes over the nodes."""
    entry = _study("infinitehbd")
    watched = next(stated.part_days for stated in entry.hazards if stated.part == "node")
    stated = (watched, entry.accelerators, entry.accelerators_per_node)
    node_days, accelerators, per_node = (float(count) for count in stated if count is not None)
    return node_days * per_node / accelerators


def _own_entry(file: Path) -> ReliabilityFile:
    written = {"name": file.stem, "title": "one's own", **parsed(read_text(file), file.name)}
    if "ages" in written:
        raise DescriptionError(f"ages in {file.name} was removed: state today's rate of part gpu under hazards")
    return validated(written, ReliabilityFile, f"hazards of {file.name}")


def own_hazards(file: Path) -> tuple[Hazard, ...]:
    """Rates of a file of one's own, in the form of the room; refused where a rate seems to be of another part."""
    entry = _own_entry(file)
    if not entry.hazards:
        raise DescriptionError(f"{file.name} states no hazards; it needs part, what_counts and rate of at least one")
    for stated, hazard in zip(entry.hazards, _hazards(entry, _any_source(entry)), strict=True):
        _ask_about(hazard, entry, sure=stated.sure)
    return _hazards(entry, _any_source(entry))


def _any_source(entry: ReliabilityFile) -> frozenset[str]:
    return frozenset(hazard.rate.source for hazard in entry.hazards)


def _ask_about(hazard: Hazard, entry: ReliabilityFile, *, sure: bool) -> None:
    """A rate of a node that is one of a GPU, or the other way round, is off by eight, and nobody would see."""
    if hazard.part not in ("node", "gpu") or sure or hazard.rate.value == 0.0:
        return
    prior, per = rate_prior(), entry.accelerators_per_node or NODE
    usual = prior.median if hazard.part == "node" else prior.median / NODE
    other = hazard.rate.value * per if hazard.part == "node" else hazard.rate.value / per
    off = math.log(hazard.rate.value / usual) / prior.deviation
    if (off < -_FAR if hazard.part == "node" else off > _FAR) and abs(off) > abs(
        math.log(other / usual) / prior.deviation
    ):
        meant = "gpu" if hazard.part == "node" else "node"
        raise DescriptionError(
            f"{entry.name}: the rate of a {hazard.part} is {show(hazard.rate.value, EVENTS_PER_SECOND)}, where others "
            f"measured {show(usual, EVENTS_PER_SECOND)}; were it that of a {meant}, a {hazard.part} would fail at "
            f"{show(other, EVENTS_PER_SECOND)}. Write part: {meant} if that is meant, or sure: true beside the rate"
        )


def _figure(datum: Datum, domain: NumberDomain, where: str, sources: Collection[str]) -> Figure:
    return read_figure(datum, domain, where=where, sources=sources)
