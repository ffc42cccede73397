"""What the range of a step rests on: numbers of the machine, the weakest of them, runs behind the model's error.

One place for all verbs whose answers hold the time of a step.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import log

import numpy as np

from volvelle.catalogue.model_errors import LEVEL, ModelErrorRegime, model_error
from volvelle.estimators.calibration import calibrations_of, fitted_constants
from volvelle.estimators.factored import FACTORED, NETWORK
from volvelle.estimators.question_error import step_error
from volvelle.estimators.stack import Stack
from volvelle.estimators.step_errors import CHIP, StepError
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.quantities import BYTES, BYTES_PER_SECOND, FLOP_PER_SECOND, FRACTION, SECONDS, Quantity, show
from volvelle.quantities import format as written
from volvelle.spread import Evidence, Figure, model_reach
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """A number the answer rests on."""

    name: str
    figure: Figure
    kind: Quantity | None
    """None: a plain number."""

    @property
    def value(self) -> str:
        """With its unit."""
        return self._written(self.figure.value)

    @property
    def low(self) -> str | None:
        """The lower end of four fifths of its spread; None: it has none."""
        return None if self.figure.spread is None else self._written(self.figure.bounds(0.8)[0])

    @property
    def high(self) -> str | None:
        """The upper end."""
        return None if self.figure.spread is None else self._written(self.figure.bounds(0.8)[1])

    def _written(self, value: float) -> str:
        """Without the last digits that arithmetic left."""
        return f"{value:.10g}" if self.kind is None else written(float(f"{value:.10g}"), self.kind)

    def shown(self, value: float) -> str:
        """A value of it, for people."""
        return f"{value:.4g}" if self.kind is None else show(value, self.kind)


def training_inputs(cluster: Cluster, element: str, error: StepError) -> tuple[Input, ...]:
    """The machine's numbers that a step rests on, with their provenance, and how far a step may be off."""
    chip, fitted = cluster.chip, fitted_constants(cluster, element).figures
    element = next((name for name in (element, "bf16", "fp16") if name in chip.matrix_rates), element)
    wanted: list[tuple[str, Figure | None, Quantity | None]] = [
        (f"chip: dense {element} rate", chip.figures.get(f"matrix_rates.{element}"), FLOP_PER_SECOND),
        ("chip: sustained share of that", fitted.get("matrix_efficiency"), FRACTION),
        ("chip: what power leaves of it at length", fitted.get("sustained_clock"), FRACTION),
        ("chip: fused attention, of that", fitted.get("attention_efficiency"), FRACTION),
        ("chip: SM share taken by communication", fitted.get("communication_sm_share"), FRACTION),
        ("chip: tensor exchanges that nothing hides", fitted.get("tensor_exposure"), FRACTION),
        ("chip: kernel launch", fitted.get("kernel_launch_time"), SECONDS),
        ("chip: host, a kernel", fitted.get("host_dispatch_time"), SECONDS),
        ("chip: memory rate", chip.figures.get("memories.0.rate"), BYTES_PER_SECOND),
        ("chip: sustained share of that", fitted.get("memory_efficiency"), FRACTION),
        ("chip: memory", chip.figures.get("memories.0.capacity"), BYTES),
        ("chip: on-chip buffer", chip.figures.get("buffer"), BYTES),
        ("chip: inner steps a tile's start is worth", fitted.get("gemm_k_half"), None),
        ("chip: keys a query tile's start is worth", fitted.get("attention_kv_half"), None),
        ("model: error of a step, as a factor", _error_figure(error, fitted.get("step_error")), None),
        ("model: error of memory, as a factor", fitted.get("memory_error"), None),
    ]
    for dimension in cluster.dimensions:
        if dimension.size > 1:
            figures = dimension.link.figures
            wanted += [
                (f"{dimension.name}: link rate", figures.get("rate"), BYTES_PER_SECOND),
                (f"{dimension.name}: sustained share", figures.get("efficiency"), FRACTION),
                (f"{dimension.name}: one step", figures.get("latency"), SECONDS),
                (f"{dimension.name}: launch", figures.get("setup"), SECONDS),
                (f"{dimension.name}: filling", figures.get("fill"), SECONDS),
                (f"{dimension.name}: contention", figures.get("contention"), FRACTION),
            ]
    found = [Input(name=name, figure=figure, kind=kind) for name, figure, kind in wanted if figure is not None]
    return (*found, *_factors(cluster, element))


def _error_figure(error: StepError, stated: Figure | None) -> Figure | None:
    """The error that ranges take: of the chip as stated, unless runs say it; None: nothing was measured or stated."""
    if error.factor is None or np.ndim(error.factor):
        return None
    if stated is not None and (stated.value == error.factor or CHIP in error.left):
        return stated if stated.value == error.factor else replace(stated, value=error.factor, spread=None)
    own = error.of is None
    source, rows = ("own runs", "own runs") if own else ("volvelle-training-fit", "runs left out of the fit")
    left = f", which the question leaves by {', '.join(error.left)}" if error.left else ""
    note = f"one standard deviation as a factor, by {rows}{left}"
    return Figure(value=error.factor, evidence=Evidence.DERIVED, source=source, note=note)


def _factors(cluster: Cluster, element: str) -> Iterator[Input]:
    """What the software makes of the chip's constants."""
    software = calibrations_of(cluster).software or Stack(name="")
    for name in (*FACTORED, NETWORK) if software.name else ():
        factor = float(software.factor(name, cluster.chip.family, element))
        if name == NETWORK and factor == 1.0:
            continue  # only own runs tell it
        figure = Figure(value=factor, evidence=Evidence.DERIVED, source="volvelle-training-fit")
        yield Input(name=f"{software.name}: {name.replace('_', ' ')}, times", figure=figure, kind=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeBasis:
    """What a range rests on."""

    weakest_evidence: str
    """Grade of the weakest number of the machine that the answer rests on."""
    calibrated: bool
    """Whether runs on such chips taught how far the model is off."""
    stated: float | None
    """Where none did: what the catalogue states of the chip's error; None: nothing, and a third is taken."""
    model_error: ModelErrorRegime | None
    """What calibration rows that their fit did not see say of the model here; None: nothing was measured."""
    outside: tuple[str, ...] = ()
    """Ways in which the question leaves what calibration runs tell of."""
    own_runs: bool = False
    """Whether runs of one's own tell the error."""
    own_elements: tuple[str, ...] = ()
    """Element types that runs of one's own are in, where the question is in another and they do not tell its error."""
    by_constants: bool = False
    """Whether the error is of the very step, by what runs leave open of the constants that it feels."""
    unpriced: tuple[str, ...] = ()
    """What the step has that nothing prices."""
    unmeasured: str = "run on this family of chips"
    """What there was none of to calibrate the model, where it is not."""


def step_basis(cluster: Cluster, step: TrainingStep, mapping: ParallelMapping | None = None) -> RangeBasis:
    """What the range of a step on a machine rests on; without a layout, of one on all its chips."""
    return range_basis(cluster, step.element, step_error(cluster, step, mapping))


def range_basis(cluster: Cluster, element: str, error: StepError) -> RangeBasis:
    """The same, of a step that may be off so far."""
    return RangeBasis(
        weakest_evidence=Figure.weakest(*(used.figure for used in training_inputs(cluster, element, error))).word,
        calibrated=error.factor is not None and CHIP not in error.left,
        stated=error.factor if CHIP in error.left else None,
        model_error=_model_error(error, cluster.chip.family),
        outside=tuple(error.left) if error.of is not None or error.own else (),
        own_runs=error.own,
        own_elements=() if error.own else _own_elements(cluster),
        by_constants=error.by_constants,
        unpriced=error.unpriced,
    )


def _own_elements(cluster: Cluster) -> tuple[str, ...]:
    """That runs of one's own on the machine's family of chips are in."""
    software = calibrations_of(cluster).software
    own = () if software is None else software.own_errors
    return tuple(sorted(element for family, element in own if family == cluster.chip.family))


def _model_error(error: StepError, family: str) -> ModelErrorRegime | None:
    """How far calibration rows were off that their fit did not see; None: nothing was measured on such chips."""
    if error.factor is None or error.of is None or CHIP in error.left:
        return None
    regime = model_error("training", "" if error.by_constants else family)
    return replace(regime, axes=tuple(error.left), reach=log(error.factor) * model_reach(LEVEL), tilt=error.tilt)
