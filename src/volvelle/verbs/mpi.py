"""What an MPI trace tells, how long the program takes on another machine, and what it does on more ranks."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from pathlib import Path

from volvelle.applications.collectives.collective_error import collective_error, links_of
from volvelle.base.python_function import asks
from volvelle.domains import NO_SIZE
from volvelle.errors import DescriptionError
from volvelle.estimators.message_passing.retimed import RetimedTrace, retimed
from volvelle.estimators.message_passing.under_uncertainty import SAMPLES, RetimedRange, VaryingRatio, retimed_range
from volvelle.estimators.sampler import Stratified
from volvelle.estimators.uncertainty import UNVALIDATED, model_error_column, moving_time, sampled
from volvelle.interchange.mpi_traces.any_trace import read_mpi_trace
from volvelle.laws.roofline import attainable_rate
from volvelle.presentable import Presentable
from volvelle.quantities import Number
from volvelle.questions.mpi import MpiQuestion
from volvelle.spread import Figure
from volvelle.system.chip import Chip
from volvelle.system.cluster import Cluster
from volvelle.verbs.named import catalogue_of, cluster_of
from volvelle.workload.message_passing.scaling.extrapolation import Extrapolation, extrapolation_of
from volvelle.workload.message_passing.summary import TraceSummary, summary_of
from volvelle.workload.message_passing.trace import MessageTrace

ROOFLINE = "the roofline of a whole program, not measured"


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


@asks(MpiQuestion)
def mpi(question: MpiQuestion) -> MpiAnswer:
    """Return the messages, collectives, phases and loops of MPI traces, or of the same program on more `ranks`.

    `on` replays the trace on a machine, rank r on GPU r. Computation takes as long as recorded, or `compute_ratio`
    times as long, or as the roofline predicts from the machine it was `recorded_on` and its `intensity` in FLOP per
    byte. Messages up to `eager` bytes do not wait for their receivers. The range is computed from samples that `seed`
    draws.
    """
    if not question.traces:
        raise DescriptionError("there are no traces; give at least one")
    read = [read_mpi_trace(Path(path)) for path in question.traces]
    found: Extrapolation | None = None
    trace = max(read, key=lambda each: each.ranks)
    if question.ranks is not None:
        found = extrapolation_of(read)
        trace = found.trace(question.ranks)
    elif len({each.ranks for each in read}) < len(read):
        raise DescriptionError(
            f"{len(read)} traces are given, and some have the same number of ranks; give one, or traces of different "
            "numbers of ranks and --ranks"
        )
    summary = summary_of(trace)
    ratio, intensity = question.compute_ratio, question.intensity
    if question.on is None:
        _reject_unused(question, "compute_ratio", "recorded_on", "intensity")
        return MpiAnswer(trace=trace, summary=summary, extrapolated=found)
    known = catalogue_of(question.catalogue)
    cluster = cluster_of(question.on, known)
    said, there = "as stated", None
    if ratio is not None:
        _reject_unused(question, "recorded_on", "intensity")
    elif question.recorded_on is not None or intensity is not None:
        if question.recorded_on is None or intensity is None:
            raise DescriptionError("a roofline needs both --recorded-on and --intensity; give both, or --compute-ratio")
        there = cluster_of(question.recorded_on, known)
        ratio = float(_ratio(there, cluster, intensity))
        said = f"by the roofline at {intensity:g} FLOP/byte, from {there.chip.name} to {cluster.chip.name}"
    else:
        ratio, said = 1.0, "as recorded"
    shared = None if question.sharing == "auto" else question.sharing == "flows"
    eager = NO_SIZE.read(question.eager, "eager")
    replayed = retimed(trace, cluster, ratio=ratio, eager=eager, contended=shared)
    varying = None if there is None or intensity is None else _varying(there, cluster, intensity, ratio, question.seed)

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
        sure=retimed_range(replayed, cluster, ratio=ratio, error=error, varying=varying, seed=question.seed),
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


def _reject_unused(question: MpiQuestion, *names: str) -> None:
    for name in names:
        if getattr(question, name) is not None:
            raise DescriptionError(
                f"{question.option_named(name).flag} is given and not used; give --on, and only one way to scale "
                "computation"
            )
