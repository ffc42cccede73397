"""How two answers differ: how much faster, in which parts, and how likely that is so on a real machine."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import exp, log, sqrt

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.cross_validation import REACH
from volvelle.catalogue.residuals import pair_spread
from volvelle.economics.step_cost import Costs
from volvelle.estimators.calibration import calibrations_of
from volvelle.estimators.result import Range, TrainingEstimate
from volvelle.estimators.uncertainty import UNVALIDATED
from volvelle.laws.model_error import chance_of_order
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep

_LEVEL = 0.8
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
    samples: NDArray[np.float64] | None = field(default=None, repr=False, compare=False)
    """Times of the step on sampled machines."""

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
    samples: NDArray[np.float64] | None,
    costs: Costs | None = None,
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
        samples=samples,
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

    The same layout on the same chips with other numbers is compared sample by sample: the error of the model is common
    to both. Two layouts of one model on one machine differ by the error that measured pairs of such have; all else by
    the errors of both sides, as if independent.
    """
    ratio = side.pace / baseline.pace
    scale = baseline.tokens / side.tokens
    names = {**dict.fromkeys(baseline.parts), **dict.fromkeys(side.parts)}
    more = {name: side.parts.get(name, 0.0) * scale - baseline.parts.get(name, 0.0) for name in names}
    alike = side.machine is not None and side.machine == baseline.machine
    if alike and side.layout == baseline.layout and side.samples is not None and baseline.samples is not None:
        ratios = side.samples / baseline.samples * scale
        low, high = (float(end) for end in np.quantile(ratios, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2]))
        share = 0.5 if ratio == 1.0 else float(np.mean(ratios < 1.0) if ratio < 1.0 else np.mean(ratios > 1.0))
        rests = "the same samples of the machine's numbers; the model's own error is common to both"
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
