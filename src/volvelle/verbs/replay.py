"""A recorded trace on another machine: how long it takes, where the time goes, how much of it is understood."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from volvelle.applications.kernels.law_error import law_errors
from volvelle.applications.training.evidence import training_inputs
from volvelle.domains import ACCELERATORS, CLOCK, SEED, within_domains
from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.estimators.step_errors import StepError
from volvelle.estimators.trace_replay.breakdown import (
    OperationSum,
    Part,
    StreamUse,
    bound_times,
    critical_parts,
    operation_sums,
    stream_use,
)
from volvelle.estimators.trace_replay.operation_times import element_on
from volvelle.estimators.trace_replay.replayed import replayed
from volvelle.estimators.trace_replay.under_uncertainty import ReplayRange, replay_range
from volvelle.interchange.traces.reading import read_trace
from volvelle.presentable import Presentable
from volvelle.questions.machine import Changes
from volvelle.spread import Figure
from volvelle.system.cluster import Cluster
from volvelle.verbs.named import Folder, Machine, catalogue_of, cluster_of
from volvelle.workload.elements import ELEMENT_BYTES
from volvelle.workload.trace.values import Coverage, Trace, coverage, not_understood

GAPS = ("keep", "drop")
"""What may be done with the time between operations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotUnderstood:
    """Operations of one name whose time on another machine cannot be told."""

    name: str
    count: int
    measured: float
    """Seconds."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ReplayAnswer(Presentable):
    """A trace replayed on a machine, or as measured."""

    trace: str
    """Name of the file."""
    format: str
    cluster: Cluster | None
    """The machine; None: as measured."""
    source: Cluster | None
    """On which the trace was recorded; None: nobody said."""
    time: float
    measured: float | None
    """Seconds of the trace itself; None: it has no times."""
    parts: tuple[Part, ...]
    """Of the chain of operations that ends last; they add up to the time."""
    bounds: Mapping[str, float]
    """Seconds of all operations by what binds them."""
    operations: tuple[OperationSum, ...]
    streams: tuple[StreamUse, ...]
    count: int
    """Of operations."""
    coverage: Coverage
    not_understood: tuple[NotUnderstood, ...]
    left_out: Mapping[str, int]
    sure: ReplayRange | None = None
    """Where the time lies on the machine; None: as measured."""
    weakest_evidence: str | None = None
    """Grade of the weakest number of the machines that the range rests on; None: as measured."""
    notes: tuple[str, ...] = ()

    @property
    def speedup(self) -> float | None:
        """Measured over replayed time; None: one of them is not there."""
        return self.measured / self.time if self.measured and self.time else None


@within_domains
def replay(
    trace: str | Path,
    profile: str | Path | None = None,
    *,
    on: Machine | None = None,
    source: Machine | None = None,
    like: str | Path | None = None,
    clock: Annotated[str | float | None, CLOCK] = None,
    element: str | None = None,
    group: Annotated[int | None, ACCELERATORS] = None,
    gaps: str = "keep",
    seed: Annotated[int, SEED] = 0,
    set: Changes | None = None,  # noqa: A002 - the option's name
    catalogue: Folder = None,
) -> ReplayAnswer:
    """How long a recorded trace takes on a machine, operation by operation, and how much of it is understood.

    `trace` is a file in Chakra, Kineto, PyTorch's execution trace, torch.export, ONNX or phases; an execution trace may
    have a Kineto `profile` of the same run beside it. Without `on` it is replayed as measured. `source` is the machine
    it was recorded on: operations then take what was measured times what the law says of both machines; without it they
    take what the law says. `like` is a profile recorded on `source`, by which operations that the trace does not time
    are scaled. `clock` are cycles a second of phases, `element` the type of all products, `group` the ranks of
    exchanges that do not say who takes part, `gaps` what becomes of the time between operations: keep or drop, `seed`
    that of the samples of the range.
    """
    if gaps not in GAPS:
        raise UnknownNameError.among("way to treat gaps", gaps, GAPS)
    if element is not None and element not in ELEMENT_BYTES:
        raise UnknownNameError.among("element type", element, ELEMENT_BYTES)
    known = catalogue_of(catalogue)
    if on is None and (source is not None or set or element or like or group):
        raise DescriptionError("a machine to replay on is missing; name it with --on, like dgx-h100/8")
    if like is not None and source is None:
        raise DescriptionError("--like is a profile of the machine that --from names; name that machine too")
    cluster = None if on is None else cluster_of(on, known, changes=set)
    recorded_on = None if source is None else cluster_of(source, known)
    rate = None if clock is None else CLOCK.read(clock, "clock")
    found = read_trace(Path(trace), None if profile is None else Path(profile), clock=rate)
    scale = None if like is None else read_trace(Path(like))
    if scale is not None and not scale.measured:
        raise DescriptionError(f"{str(like)!r} has no times; give a Kineto profile of the machine that --from names")
    answer = replayed(
        found, cluster, source=recorded_on, profile=scale, element=element, group=group, gaps=gaps == "keep"
    )
    sure = None
    if cluster is not None:
        sure = replay_range(
            answer,
            cluster,
            errors=law_errors(cluster, recorded_on),
            source=recorded_on,
            profile=scale,
            element=element,
            group=group,
            seed=seed,
        )
    covered = coverage(found)
    notes = [*found.notes, *answer.notes]
    speaking = [one.communication for one in found.operations if one.communication is not None]
    if cluster is not None and any(one.group == 0 for one in speaking):
        notes.append(
            f"exchanges that do not say who takes part are taken over {group or cluster.accelerators:,} ranks (--group)"
        )
    if recorded_on is None and cluster is not None and found.measured:
        notes.append("times of operations are the law's alone: name the machine of the trace with --from to scale them")
    return ReplayAnswer(
        trace=Path(trace).name,
        format=found.format,
        cluster=cluster,
        source=recorded_on,
        time=answer.time,
        measured=_measured(found),
        parts=critical_parts(answer),
        bounds=bound_times(answer),
        operations=operation_sums(answer),
        streams=stream_use(answer),
        count=len(found.operations),
        coverage=covered,
        not_understood=tuple(
            NotUnderstood(name=name, count=count, measured=seconds)
            for name, (count, seconds) in not_understood(found).items()
        ),
        left_out=found.left_out,
        sure=sure,
        weakest_evidence=None if cluster is None else _weakest(cluster, recorded_on, element),
        notes=tuple(notes),
    )


def _weakest(cluster: Cluster, source: Cluster | None, element: str | None) -> str:
    """Of the numbers of both machines."""
    figures = [
        used.figure
        for machine in (cluster, *([] if source is None else [source]))
        for used in training_inputs(machine, element_on(machine.chip, element or "bf16"), StepError(factor=None))
    ]
    return Figure.weakest(*figures).word


def _measured(found: Trace) -> float | None:
    """The span where starts are known; else what the trace takes as measured."""
    if found.span is not None or not found.measured:
        return found.span
    return replayed(found).time
