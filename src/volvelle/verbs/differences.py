"""How two answers differ: how much faster, in which parts, and how likely that is so on a real machine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, isclose, log, sqrt

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.cross_validation import REACH
from volvelle.catalogue.residuals import layout_spreads, pair_spread
from volvelle.economics.step_cost import Costs
from volvelle.estimators.calibration import calibrations_of
from volvelle.estimators.layout_errors import layout_errors, machine_times
from volvelle.estimators.result import Range, TrainingEstimate
from volvelle.estimators.sampler import Stratified
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.estimators.uncertainty import UNVALIDATED, sampled
from volvelle.laws.model_error import chance_of_order
from volvelle.mapping.parallelism import MappingTable, ParallelMapping
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep

_LEVEL = 0.8
_SAMPLES = 512
_NOTHING = 1e-4
"""Share of a time below which there is no difference."""
_REAL, _LIKELY = 0.9, 0.75
"""Chances of the order from which on a difference is called real, or likely."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of several answers that are compared."""

    name: str
    time: float
    """Seconds a step."""
    tokens: float
    """A step."""
    range: Range | None
    parts: Mapping[str, float]
    """Part of a step → its seconds, exposed ones alone."""
    figures: Mapping[str, float] = field(default_factory=dict)
    """Bytes of memory, joules and dollars of a step, as far as they are known."""
    layout: object = None
    """None: not known."""
    machine: tuple[object, ...] | None = None
    """Model, chip, accelerators, element type and software; None: not known."""
    step: TrainingStep | None = field(default=None, repr=False, compare=False)
    cluster: Cluster | None = field(default=None, repr=False, compare=False)
    """The step and the machine; None: not known, as of an answer that was kept."""
    searched: bool = False
    """Whether the layout is the fastest that a search found: on another machine, another one may be."""

    @property
    def pace(self) -> float:
        """Seconds a token."""
        return self.time / self.tokens

    @property
    def deviation(self) -> float:
        """One standard deviation of the logarithm of its time."""
        if self.range is None or self.range.low <= 0:
            return log(UNVALIDATED)  # as of chips that nothing was measured on
        return log(self.range.high / self.range.low) / (2 * REACH)


def side_of(
    step: TrainingStep,
    cluster: Cluster,
    estimate: TrainingEstimate,
    costs: Costs | None = None,
    *,
    searched: bool = False,
) -> Side:
    """An estimate of a step as a side; its name is that of model and machine."""
    model, stack = step.model.name, calibrations_of(cluster).stack
    figures = {"memory_bytes": estimate.memory_bytes}
    if costs is not None:
        known = {"joules": costs.energy, "usd": costs.dollars}
        figures |= {name: float(value) for name, value in known.items() if value is not None}
    return Side(
        name=f"{model} on {cluster.name}",
        time=estimate.time,
        tokens=float(step.tokens),
        range=estimate.time_range,
        parts=estimate.parts(),
        figures=figures,
        layout=estimate.mapping,
        machine=(model, cluster.chip.name, estimate.chips, step.element, stack),
        step=step,
        cluster=cluster,
        searched=searched,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What one answer takes, seen from another."""

    name: str
    baseline: str
    ratio: float
    """Time for a token, over the baseline's."""
    range: Range
    """Of that ratio."""
    chance: float
    """That it is faster, or slower, as the ratio says."""
    parts: Mapping[str, float]
    """Part of a step → seconds more than the baseline's, for as many tokens; the largest first."""
    figures: Mapping[str, float]
    """Memory of a chip, energy and money for as many tokens, each over the baseline's."""
    rests_on: str
    """What the range and the chance rest on."""

    @property
    def verdict(self) -> str:
        """Whether it is real, in words."""
        if abs(self.ratio - 1.0) < _NOTHING:
            return "no difference"
        return "real" if self.chance >= _REAL else "likely" if self.chance >= _LIKELY else "not told apart"


def difference(side: Side, baseline: Side) -> Difference:
    """How a side differs from a baseline.

    Machines with the same chips are compared sample by sample, for the errors of the model and of a layout are common
    to both. Where layouts were searched for, each machine has the better of both layouts in every sample: a machine
    that is better in every number is then never slower. Two stated layouts differ by the error that measured pairs of
    layouts have. All else differs by the errors of both sides, as if independent.
    """
    ratio = side.pace / baseline.pace
    scale = baseline.tokens / side.tokens
    names = {**dict.fromkeys(baseline.parts), **dict.fromkeys(side.parts)}
    more = {name: side.parts.get(name, 0.0) * scale - baseline.parts.get(name, 0.0) for name in names}
    alike = side.machine is not None and side.machine == baseline.machine
    chosen = side.searched and baseline.searched
    if alike and (side.layout == baseline.layout or chosen):
        ratios = _ratios(side, baseline, ratio)
        low, high = (float(end) for end in np.quantile(ratios, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2]))
        share = 0.5 if ratio == 1.0 else float(np.mean(ratios < 1.0) if ratio < 1.0 else np.mean(ratios > 1.0))
        rests = "the same samples of the machine's numbers; the model's own error is common to both"
        if side.layout != baseline.layout:
            rests += ", and so is that of each layout: either machine has the better of the two"
    else:
        if alike:
            spread, rests = pair_spread(), "measured pairs of layouts of one model on one machine"
        else:
            spread = sqrt(side.deviation**2 + baseline.deviation**2)
            rests = "the ranges of both, as if independent"
        low, high = ratio * exp(-REACH * spread), ratio * exp(REACH * spread)
        share = float(chance_of_order(log(ratio), spread=spread))
    return Difference(
        name=side.name,
        baseline=baseline.name,
        ratio=ratio,
        range=Range(low=min(low, ratio), high=max(high, ratio), level=_LEVEL, varied=()),
        chance=share,
        parts=dict(sorted(more.items(), key=lambda part: -abs(part[1]))),
        figures={
            name: value / baseline.figures[name] * (1.0 if name == "memory_bytes" else scale)
            for name, value in side.figures.items()
            if baseline.figures.get(name)
        },
        rests_on=rests,
    )


def _ratios(side: Side, baseline: Side, ratio: float) -> NDArray[np.float64]:
    """Return the ratio of times per token in every sample of the numbers that are uncertain.

    The central `ratio` may be of another estimator than the closed form, which tells how ratios scatter around it.
    """
    layouts = [baseline.layout]
    if side.layout != baseline.layout:
        layouts.append(side.layout)
    ours, our_centre = _best_times(side, layouts)
    theirs, their_centre = _best_times(baseline, layouts)
    scale = baseline.tokens / side.tokens
    ratios, centre = ours / theirs * scale, our_centre / their_centre * scale
    if isclose(centre, ratio, rel_tol=1e-9):
        return np.asarray(ratios)
    if (centre - 1.0) * (ratio - 1.0) > 0.0:
        return np.asarray(ratios ** (log(ratio) / log(centre)))  # what is never slower stays so
    return np.asarray(ratios * (ratio / centre))


def _best_times(side: Side, layouts: Sequence[object]) -> tuple[NDArray[np.float64], float]:
    """Return seconds of the fastest of some layouts on every sampled machine, and on the machine as it is stated."""
    assert side.step is not None, "an answer of a known machine has its step"
    assert side.cluster is not None, "and its machine"
    mappings = [layout for layout in layouts if isinstance(layout, ParallelMapping)]
    sampler, estimator, table = Stratified(_SAMPLES), ClosedForm(), MappingTable.of(mappings)
    central = estimator.table(side.step, side.cluster, table)
    able = central.feasible | np.array([mapping == side.layout for mapping in mappings])
    variants, _ = sampled(side.cluster, sampler=sampler)
    times = machine_times(side.step, variants, table, estimator, _SAMPLES)
    if len(mappings) > 1:
        times = times * layout_errors(mappings, layout_spreads(), sampler)
    return np.asarray(np.min(times[able], axis=0)), float(np.min(central.time[able]))
