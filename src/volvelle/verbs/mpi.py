"""What an MPI trace tells, how long the program takes on another machine, and what it does on more ranks."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from typing import Annotated, Literal

from volvelle.applications.collectives.collective_error import collective_error, links_of
from volvelle.domains import NO_SIZE, SEED, NumberDomain, within_domains
from volvelle.errors import DescriptionError
from volvelle.estimators.message_passing.retimed import EAGER, RetimedTrace, retimed
from volvelle.estimators.message_passing.under_uncertainty import SAMPLES, RetimedRange, VaryingRatio, retimed_range
from volvelle.estimators.sampler import Stratified
from volvelle.estimators.uncertainty import UNVALIDATED, model_error_column, moving_time, sampled
from volvelle.interchange.mpi_traces.any_trace import read_mpi_trace
from volvelle.laws.roofline import attainable_rate
from volvelle.presentable import Presentable
from volvelle.quantities import Number
from volvelle.spread import Figure
from volvelle.system.chip import Chip
from volvelle.system.cluster import Cluster
from volvelle.verbs.named import Folder, Machine, catalogue_of, cluster_of
from volvelle.workload.message_passing.scaling.extrapolation import Extrapolation, extrapolation_of
from volvelle.workload.message_passing.summary import TraceSummary, summary_of
from volvelle.workload.message_passing.trace import RANKS, MessageTrace

COMPUTE_RATIO = NumberDomain(1e-6, 1e6)
"""Seconds of computation over those recorded."""
INTENSITY = NumberDomain(1e-6, 1e6)
"""FLOP a byte."""
ROOFLINE = "the roofline of a whole program, not measured"
Sharing = Literal["auto", "flows", "laws"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RetimedOn:
    """A trace on a machine."""

    system: str
    accelerators: int
    ratio: float
    """Seconds of computation over those recorded."""
    ratio_from: str
    """Where the ratio is from, in words."""
    replayed: RetimedTrace
    summary: TraceSummary
    sure: RetimedRange
    """Where the time lies."""
    weakest_evidence: str
    """Grade of the weakest number of the machines that the range rests on."""

    @property
    def time(self) -> float:
        """Seconds until the last rank has ended."""
        return self.replayed.time

    @property
    def replayed_by(self) -> str:
        """Whether messages share links, in a word."""
        return "flows" if self.replayed.contended else "laws"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MpiAnswer(Presentable):
    """What a trace tells, of the largest given or of more ranks than any."""

    trace: MessageTrace
    """As recorded or extrapolated, and timed again where that was asked."""
    summary: TraceSummary
    extrapolated: Extrapolation | None = None
    on: RetimedOn | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out, or is known only roughly."""
        made = self.extrapolated
        more = (*made.not_generalised, *made.stretched(self.trace.ranks)) if made else ()
        return (*self.summary.notes, *more)

    @property
    def shown(self) -> TraceSummary:
        """Of the trace with its last times."""
        return self.on.summary if self.on else self.summary


@within_domains
def mpi(
    traces: Sequence[Path | str],
    *,
    on: Machine | None = None,
    ranks: Annotated[int | None, RANKS] = None,
    compute_ratio: Annotated[float | None, COMPUTE_RATIO] = None,
    recorded_on: Machine | None = None,
    intensity: Annotated[float | None, INTENSITY] = None,
    eager: Annotated[str | float, NO_SIZE] = EAGER,
    sharing: Sharing = "auto",
    seed: Annotated[int, SEED] = 0,
    catalogue: Folder = None,
) -> MpiAnswer:
    """What MPI traces tell; with `ranks`, of the same program on so many, from traces of at least two counts.

    `on` replays it on a machine, rank r on chip r. Computation takes as long as it did, or `compute_ratio` times as
    long; or as the roofline says, where the machine it was `recorded_on` and the `intensity` of the program in FLOP a
    byte are given. Messages up to `eager` bytes do not wait for their receivers. With `sharing` by flows, messages
    share links; by laws each has the network to itself. `seed` is that of the samples of the range.
    """
    if not traces:
        raise DescriptionError("there are no traces; give at least one")
    read = [read_mpi_trace(Path(each)) for each in traces]
    found: Extrapolation | None = None
    trace = max(read, key=lambda each: each.ranks)
    if ranks is not None:
        found = extrapolation_of(read)
        trace = found.trace(ranks)
    elif len({each.ranks for each in read}) < len(read):
        raise DescriptionError(f"{len(read)} traces are given; give one, or several counts of ranks and --ranks")
    summary = summary_of(trace)
    if on is None:
        _refuse_unused(compute_ratio=compute_ratio, recorded_on=recorded_on, intensity=intensity)
        return MpiAnswer(trace=trace, summary=summary, extrapolated=found)
    known = catalogue_of(catalogue)
    cluster = cluster_of(on, known)
    ratio, said, there = 1.0, "as recorded", None
    if compute_ratio is not None:
        _refuse_unused(recorded_on=recorded_on, intensity=intensity)
        ratio, said = compute_ratio, "as stated"
    elif recorded_on is not None or intensity is not None:
        if recorded_on is None or intensity is None:
            raise DescriptionError("a roofline needs both --recorded-on and --intensity; give both, or --compute-ratio")
        there = cluster_of(recorded_on, known)
        ratio = float(_ratio(there, cluster, intensity))
        said = f"by the roofline at {intensity:g} FLOP/byte, from {there.chip.name} to {cluster.chip.name}"
    shared = None if sharing == "auto" else sharing == "flows"
    replayed = retimed(trace, cluster, ratio=ratio, eager=NO_SIZE.read(eager, "eager"), contended=shared)
    varying = None if there is None or intensity is None else _varying(there, cluster, intensity, ratio, seed)

    def error(size: float, along: Sequence[float]) -> tuple[str, float]:
        told, factor = collective_error(size, links_of(cluster, along))
        return told, log(factor)

    timed = RetimedOn(
        system=cluster.name,
        accelerators=cluster.accelerators,
        ratio=ratio,
        ratio_from=said,
        replayed=replayed,
        summary=summary_of(replayed.trace),
        sure=retimed_range(replayed, cluster, ratio=ratio, error=error, varying=varying, seed=seed),
        weakest_evidence=_weakest(cluster, there),
    )
    return MpiAnswer(trace=replayed.trace, summary=summary, extrapolated=found, on=timed)


def _ratio(there: Cluster, here: Cluster, intensity: float) -> Number:
    return _attainable(there.chip, intensity) / _attainable(here.chip, intensity)


def _attainable(chip: Chip, intensity: float) -> Number:
    return attainable_rate(intensity, compute_rate=chip.vector_rate(), memory_rate=chip.memory.rate)


def _varying(there: Cluster, here: Cluster, intensity: float, ratio: float, seed: int) -> VaryingRatio:
    """Numbers of both chips in doubt, and the roofline, which no run tells of, by a third.

    Of one chip it may be wrong about a change by no more than all of it.
    """
    sampler = Stratified(SAMPLES, seed)
    (before, old), (after, new) = (sampled(machine, sampler=sampler) for machine in (there, here))
    off = min(log(UNVALIDATED), abs(log(ratio))) if there.chip.name == here.chip.name else log(UNVALIDATED)
    rates = [f"{chip.name}: {chip.memory.name} rate" for chip in (there.chip, here.chip)]
    inputs = [name for name in dict.fromkeys((*old, *new)) if name in rates or name.endswith("vector rate")]
    return VaryingRatio(
        ratios=_ratio(before, after, intensity) * model_error_column(exp(off), sampler, name=ROOFLINE),
        varied=(*moving_time(inputs), *((ROOFLINE,) if off else ())),
    )


def _weakest(cluster: Cluster, there: Cluster | None) -> str:
    """Of numbers of links, and of chips where the roofline goes by them."""
    figures = [figure for level in cluster.dimensions if level.size > 1 for figure in level.link.figures.values()]
    for machine in () if there is None else (there, cluster):
        named = machine.chip.figures
        figures += [named[name] for name in ("vector_rates.fp32", "memories.0.rate") if name in named]
    return Figure.weakest(*figures).word


def _refuse_unused(**given: object) -> None:
    for name, value in given.items():
        if value is not None:
            raise DescriptionError(
                f"--{name.replace('_', '-')} is given and not used; it is of a machine: say --on, and one way to scale "
                "computation"
            )
