"""What an MPI trace tells, how long the program takes on another machine, and what it does on more ranks."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from volvelle.domains import NO_SIZE, NumberDomain, within_domains
from volvelle.errors import DescriptionError
from volvelle.estimators.message_passing.retimed import EAGER, RetimedTrace, retimed
from volvelle.interchange.mpi_traces.any_trace import read_mpi_trace
from volvelle.laws.roofline import attainable_rate
from volvelle.presentable import Presentable
from volvelle.system.chip import Chip
from volvelle.verbs.named import Folder, Machine, catalogue_of, cluster_of
from volvelle.workload.message_passing.scaling.extrapolation import Extrapolation, extrapolation_of
from volvelle.workload.message_passing.summary import TraceSummary, summary_of
from volvelle.workload.message_passing.trace import RANKS, MessageTrace

COMPUTE_RATIO = NumberDomain(1e-6, 1e6)
"""Seconds of computation over those recorded."""
INTENSITY = NumberDomain(1e-6, 1e6)
"""FLOP a byte."""
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
    catalogue: Folder = None,
) -> MpiAnswer:
    """What MPI traces tell; with `ranks`, of the same program on so many, from traces of at least two counts.

    `on` replays it on a machine, rank r on chip r. Computation takes as long as it did, or `compute_ratio` times as
    long; or as the roofline says, where the machine it was `recorded_on` and the `intensity` of the program in FLOP a
    byte are given. Messages up to `eager` bytes do not wait for their receivers. With `sharing` by flows, messages
    share links; by laws each has the network to itself.
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
    ratio, said = 1.0, "as recorded"
    if compute_ratio is not None:
        _refuse_unused(recorded_on=recorded_on, intensity=intensity)
        ratio, said = compute_ratio, "as stated"
    elif recorded_on is not None or intensity is not None:
        if recorded_on is None or intensity is None:
            raise DescriptionError("a roofline needs both --recorded-on and --intensity; give both, or --compute-ratio")
        there = cluster_of(recorded_on, known)
        ratio = _attainable(there.chip, intensity) / _attainable(cluster.chip, intensity)
        said = f"by the roofline at {intensity:g} FLOP/byte, from {there.chip.name} to {cluster.chip.name}"
    shared = None if sharing == "auto" else sharing == "flows"
    replayed = retimed(trace, cluster, ratio=ratio, eager=NO_SIZE.read(eager, "eager"), contended=shared)
    timed = RetimedOn(
        system=cluster.name,
        accelerators=cluster.accelerators,
        ratio=ratio,
        ratio_from=said,
        replayed=replayed,
        summary=summary_of(replayed.trace),
    )
    return MpiAnswer(trace=replayed.trace, summary=summary, extrapolated=found, on=timed)


def _attainable(chip: Chip, intensity: float) -> float:
    return float(attainable_rate(intensity, compute_rate=chip.vector_rate(), memory_rate=chip.memory.rate))


def _refuse_unused(**given: object) -> None:
    for name, value in given.items():
        if value is not None:
            raise DescriptionError(
                f"--{name.replace('_', '-')} is given and not used; it is of a machine: say --on, and one way to scale "
                "computation"
            )
