"""How a model's training scales: the best layout at every count of accelerators, its efficiency, and what breaks it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isclose

import numpy as np

from volvelle.applications.training.evidence import RangeBasis, step_basis
from volvelle.base.python_function import asks
from volvelle.catalogue.residuals import Residual, residuals
from volvelle.errors import DescriptionError, MappingError, MissingFigureError
from volvelle.estimators.result import Range, RangedFigure
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.estimators.uncertainty import UnderUncertainty
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.presentable import Presentable
from volvelle.quantities import BYTES, show
from volvelle.questions.scale import Growth, ScaleQuestion
from volvelle.search.exhaustive import lightest, search
from volvelle.search.space import Space
from volvelle.system.cluster import Cluster
from volvelle.verbs.any_count import STEP_TOKENS, on_any_count
from volvelle.verbs.what_if import beside_baseline
from volvelle.workload.training import TrainingStep

_TOKENS_PER_GPU = 4096
"""Of the batch, where none is given and it grows."""
HALF = 0.5
"""Efficiency below which scaling is said to break."""
_SAME_MODEL = 0.01
"""Difference in parameters up to which a measured run is of the same model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledStep:
    """The fastest layout on so many accelerators."""

    mapping: ParallelMapping
    time: float
    """Seconds a step."""
    range: Range | None
    basis: RangeBasis
    """What the range rests on."""
    utilisation: float
    tokens_per_second: float
    parts: Mapping[str, float]
    """Seconds of a step by part, largest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalePoint:
    """A count of accelerators: what is best there, or why nothing runs.

    Its figures are `time` in seconds per step, `throughput` in tokens per second and `utilisation` (MFU); where nothing
    runs, they raise `MissingFigureError`.
    """

    accelerators: int
    batch: int
    step: ScaledStep | None
    problem: str = ""
    """Why no layout runs."""
    efficiency: float | None = None
    """Tokens a second and chip, over those at the first count that runs."""

    @property
    def time(self) -> RangedFigure:
        """Seconds per step."""
        found = self._found
        return RangedFigure(value=found.time, range=found.range, unit="s")

    @property
    def throughput(self) -> RangedFigure:
        """Tokens per second of the whole machine."""
        return self.time.inverse(self._found.tokens_per_second, "tokens/s")

    @property
    def utilisation(self) -> RangedFigure:
        """Model FLOPs utilisation (MFU), as a share of 1."""
        return self.time.inverse(self._found.utilisation, "ratio")

    @property
    def _found(self) -> ScaledStep:
        if self.step is None:
            raise MissingFigureError(f"no figures on {self.accelerators:,} accelerators: {self.problem}")
        return self.step

    @property
    def parts(self) -> Mapping[str, float]:
        """Shares of the step by part, largest first."""
        if self.step is None:
            return {}
        return {name: seconds / self.step.time for name, seconds in self.step.parts.items()}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Scaling(Presentable):
    """Counts of accelerators, from the first to the last.

    Its figures are those of each point: `time` in seconds per step, `throughput` in tokens per second, `utilisation`.

    Examples
    --------
    >>> import volvelle
    >>> answer = volvelle.scale("llama3-8b", on="dgx-h100", first=8, last=16)
    >>> eight, sixteen = answer.points
    >>> sixteen.time.value < eight.time.value
    True
    """

    model: str
    system: str
    """The kind of machine, without a count."""
    growth: Growth
    step: TrainingStep
    """At the first count."""
    sequence: int
    points: tuple[ScalePoint, ...]
    measured: tuple[Residual, ...]
    """Published runs of the same model, element type and family of chips, by count."""
    notes: tuple[str, ...] = ()
    baseline: "Scaling | None" = None
    """Of the machine as it is, where numbers of it were set."""

    @property
    def baseline_seconds(self) -> tuple[float | None, ...] | None:
        """Seconds a step on the machine as it is, by count; None where nothing runs on it."""
        if self.baseline is None:
            return None
        return tuple(None if point.step is None else point.step.time for point in self.baseline.points)

    @property
    def first(self) -> ScalePoint | None:
        """The fewest that run: what efficiency is relative to."""
        return next((point for point in self.points if point.step is not None), None)

    @property
    def breaks(self) -> ScalePoint | None:
        """The first count, beyond the fewest that run, that runs no more or at less than half the efficiency."""
        first = self.first
        later = (point for point in self.points if first is not None and point.accelerators > first.accelerators)
        return next((point for point in later if point.efficiency is None or point.efficiency < HALF), None)

    @property
    def culprit(self) -> str:
        """What it breaks on: why nothing runs, or the part whose share of the step grew most since the first."""
        first, broken = self.first, self.breaks
        if first is None or broken is None:
            return ""
        return broken.problem or self.grown(broken)

    def grown(self, point: ScalePoint) -> str:
        """The part whose share of the step grew most since the first count."""
        before = {} if self.first is None else self.first.parts
        grown = {name: share - before.get(name, 0.0) for name, share in point.parts.items()}
        return max(grown, key=lambda name: grown[name], default="")


@asks(ScaleQuestion)
@beside_baseline
def scale(question: ScaleQuestion) -> Scaling:
    """Return the best layout of a model at every doubling of GPUs from `first` to `last`.

    With strong `growth` every size trains on the same batch, by default four million tokens. With weak growth the batch
    grows with the GPUs from the batch of the `first` size, by default 4,096 tokens per GPU. `progress` is called with
    each GPU count.
    """
    first, last, growth = question.first, question.last, question.growth
    if last < first:
        raise DescriptionError(f"last is {last}, fewer than the {first} of first; give them in order")
    tokens = STEP_TOKENS if growth == "strong" else _TOKENS_PER_GPU * first
    asked = on_any_count(question, question.on, why="and give first and last", tokens=tokens, apart=f" on {first}")
    step = asked.step
    points = []
    for count in _counts(first, last):
        if question.progress is not None:
            question.progress(count)
        grown = step if growth == "strong" else replace(step, batch=max(1, step.batch * count // first))
        cluster = asked.machine(count)
        points.append(_point(grown, cluster, asked.space))
    family, parameters = cluster.chip.family, float(step.model.parameters())
    return Scaling(
        model=step.model.name,
        system=question.on,
        growth=growth,
        step=step,
        sequence=asked.sequence,
        points=_with_efficiency(points),
        measured=tuple(
            sorted(
                (
                    run
                    for run in residuals()
                    if (run.family, run.element) == (family, question.element)
                    and isclose(run.parameters, parameters, rel_tol=_SAME_MODEL)
                ),
                key=lambda run: (run.chips, run.source),
            )
        ),
        notes=asked.notes,
    )


def _counts(first: int, last: int) -> list[int]:
    """Doublings of the first, and the last."""
    found = [first]
    while 2 * found[-1] <= last:
        found.append(2 * found[-1])
    return [*found, *([last] if found[-1] < last else [])]


def _point(step: TrainingStep, cluster: Cluster, space: Space) -> ScalePoint:
    count, batch, estimator = cluster.accelerators, step.batch, ClosedForm()
    try:
        ranking = search(space, step, cluster, estimator, top=1)
    except MappingError as error:
        return ScalePoint(accelerators=count, batch=batch, step=None, problem=str(error))
    if not ranking.best:
        return ScalePoint(accelerators=count, batch=batch, step=None, problem=_problem(step, cluster, space))
    timed = UnderUncertainty(estimator=estimator).estimate(step, cluster, ranking.best[0].mapping)
    return ScalePoint(
        accelerators=count,
        batch=batch,
        step=ScaledStep(
            mapping=timed.mapping,
            time=timed.time,
            range=timed.time_range,
            basis=step_basis(cluster, step, timed.mapping),
            utilisation=timed.utilisation,
            tokens_per_second=float(step.tokens / timed.time),
            parts=timed.parts(),
        ),
    )


def _problem(step: TrainingStep, cluster: Cluster, space: Space) -> str:
    """Why none of the layouts runs."""
    least = lightest(space, step, cluster, ClosedForm())
    if least is None:
        return f"no layout divides {step.batch:,} sequences and the model among {cluster.accelerators:,} chips"
    held, room = show(least.memory, BYTES), show(float(np.max(cluster.chip.memory.capacity)), BYTES)
    return f"memory: the lightest layout holds {held} of {room} on its fullest chip"


def _with_efficiency(points: list[ScalePoint]) -> tuple[ScalePoint, ...]:
    each = [None if point.step is None else point.step.tokens_per_second / point.accelerators for point in points]
    base = next((rate for rate in each if rate is not None), None)
    return tuple(
        replace(point, efficiency=None if rate is None or base is None else rate / base)
        for point, rate in zip(points, each, strict=True)
    )
