"""Stencils as an application."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from volvelle.applications.contract import Application, Planned, Question
from volvelle.applications.fitted_constants import Fit
from volvelle.applications.grid_sides import grid_sides, scaled_grids
from volvelle.applications.measured_table import CalibrationRows
from volvelle.applications.range_evidence import RangeEvidence, error_told_by, machine_evidence
from volvelle.applications.scores import Finding, PlannedCurves, RowValidation, heldout_systems
from volvelle.applications.stencil.constants import stencil_constants
from volvelle.applications.stencil.estimator import (
    Kernel,
    Stencil,
    StencilConstants,
    StencilEstimate,
    StencilLayout,
    StencilModel,
)
from volvelle.applications.stencil.fit import fit_stencil
from volvelle.applications.stencil.rows import (
    StencilMeasurement,
    StencilQuestion,
    stencil_measurements,
    stencil_question,
)
from volvelle.applications.stencil.scaling import BREAKS, GROWTHS, broken_at, layouts_of, scaled
from volvelle.base.option_kinds import Switch, Words
from volvelle.base.question import Option, option
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError
from volvelle.estimators.result import RangedFigure
from volvelle.quantities import BYTES, CELLS_PER_SECOND, FLOP_PER_SECOND, SECONDS, Quantity, percent, show
from volvelle.questions.applications import GRID, CalibrateQuestion, PlanApplicationQuestion
from volvelle.questions.shared import FIGURE
from volvelle.questions.training import ELEMENT
from volvelle.system.cluster import Cluster

StencilPlanned = Planned[Stencil, StencilLayout, StencilConstants]


class PlanStencil(PlanApplicationQuestion):
    """Options of a plan of a stencil."""

    examples = ("2048 --on frontier/4096 --points 27", "4096x4096x2048 --on dgx-h100/64 --element fp32")

    grid: str = option(GRID)
    points: str = option(Option("--points", "Points of the stencil.", kind=Words(("7", "27"))), default="7")
    element: str = option(ELEMENT, help="Element type of a cell.", kind=Words(("fp32", "fp64")), default="fp64")
    kernel: Kernel = option(
        Option(
            "--kernel",
            "Kernel that goes in blocks whose planes stay in cache, or plane after plane.",
            kind=Words(("blocked", "plain")),
            group="Software",
        ),
        default="blocked",
    )
    no_overlap: bool = option(
        Option("--no-overlap", "Wait for halos before anything is computed.", kind=Switch(), group="Software"),
        default=False,
    )
    figure: Path | None = option(
        FIGURE, help="Draw weak and strong scaling efficiency over GPU counts: .svg or .png.", default=None
    )


class StencilApplication(Application[StencilMeasurement, Stencil, StencilLayout, StencilConstants]):
    """Steps of stencils against published ones."""

    word: ClassVar[str] = "stencil"
    about: ClassVar[str] = "Stencils of 7 and 27 points against published runs."
    unit: ClassVar[str] = "cells a second"
    quantity: ClassVar[Quantity | None] = CELLS_PER_SECOND
    figure: ClassVar[str] = "cell_updates"
    calibrates: ClassVar[str] = "Fit the share of memory bandwidth that stencils sustain. Takes a second."
    plans: ClassVar[str] = "Find the best decomposition of a stencil's grid, the step time, and how it scales."
    plan_options: ClassVar[type[PlanApplicationQuestion]] = PlanStencil

    rows = staticmethod(stencil_measurements)
    question = staticmethod(stencil_question)

    def estimator(self, calibration: StencilConstants) -> StencilModel:
        """The roofline, and messages."""
        return StencilModel(constants=calibration)

    def measured(self, row: StencilMeasurement) -> float | None:
        """Cells a second."""
        return row.cell_updates

    def fitted(
        self, rows: CalibrationRows[StencilMeasurement], catalogue: Catalogue, question: CalibrateQuestion
    ) -> Fit:
        """Shares of a stream by kind of kernel."""
        return fit_stencil(rows, catalogue)

    def predicted(self, row: StencilMeasurement, estimate: StencilEstimate) -> RangedFigure:
        """Cells a second, with the range of the time."""
        value, around = estimate.facts[self.figure], estimate.time_range
        assert around is not None, "the model gives a range"
        low, high = value * estimate.time / around.high, value * estimate.time / around.low
        return RangedFigure(value=value, range=replace(around, low=low, high=high))

    def label(self, row: StencilMeasurement, question: StencilQuestion) -> str:
        """The device, the grid and the kernel."""
        return f"{row.device}, {row.points} points, {row.x}³ {row.element}, {row.kernel}"

    def within(self, row: StencilMeasurement) -> Mapping[str, str]:
        """Systems, which are what rows are split by."""
        return {"system": row.system}

    def findings(self, validation: RowValidation) -> Iterable[Finding]:
        """How many systems were held out, and whether that is enough to speak of accuracy."""
        yield heldout_systems(validation)

    # -- plan ---------------------------------------------------------------------------------------------------

    def space(self, system: Cluster, catalogue: Catalogue, question: PlanStencil) -> StencilQuestion:
        """Every way to cut the grid; with `scaling`, also what it does at other counts."""
        work = Stencil(grid=grid_sides(question.grid), points=int(question.points), element=question.element)
        constants = stencil_constants(kernel=question.kernel, overlap=not question.no_overlap)
        layouts = layouts_of(system.accelerators)
        candidates = tuple((work, layout) for layout in layouts)
        order = StencilModel(constants=constants).ranked_by(candidates, system)
        local = layouts[int(np.argmin(order))].local(work.grid)
        return Question(
            candidates=candidates,
            system=system,
            calibration=constants,
            title=f"Stencil of {work.points} points on {' × '.join(map(str, work.grid))} cells in {work.element}",
            facts={
                "grid": list(work.grid),
                "points": work.points,
                "element": work.element,
                "kernel": constants.kernel,
                "overlap": constants.overlap,
            },
            worked_out=scaled(work, local, system, constants, catalogue) if question.scaling else {},
        )

    def changes(self, problems: Sequence[str], question: PlanStencil) -> Iterable[Iterable[Mapping[str, Any]]]:
        """Yield single precision and smaller grids where memory is short, larger grids where cells are too few."""
        if "memory" in problems and question.element == "fp64":
            yield ({"element": "fp32"},)
        yield scaled_grids(question.grid, smaller="memory" in problems)

    def evidence(self, asked: StencilQuestion) -> RangeEvidence:
        """Runs of systems that kernels of the same kind ran on, each told by the others."""
        return RangeEvidence(
            weakest_evidence=machine_evidence(asked.system),
            model_error=error_told_by("stencil", asked.calibration.error),
            groups="systems",
        )

    def described(self, work: Stencil, decision: StencilLayout) -> Mapping[str, object]:
        """The cut."""
        return {"processes": list(decision.processes), "local_grid": list(decision.local(work.grid))}

    def headline(self, planned: StencilPlanned) -> Iterable[str]:
        """The first cut, and what to expect."""
        first = planned.ranking.first
        spread = first.time_range
        assert spread is not None, "the model gives a range"
        cut, local = (
            " × ".join(map(str, s)) for s in (first.decision.processes, first.decision.local(first.workload.grid))
        )
        yield f"{planned.asked.title} on {planned.system.name}: {cut} processes of {local} cells"
        yield (
            f"{show(first.time, SECONDS)} a step, {show(spread.low, SECONDS)} … {show(spread.high, SECONDS)} "
            f"({percent(spread.level, 0)} range), {show(first.facts['cell_updates'], CELLS_PER_SECOND)}, "
            f"{show(first.rate, FLOP_PER_SECOND)}"
        )
        yield (
            f"{first.facts['bytes_per_cell']:g} bytes a cell, each read {first.facts['reads']:g} × and written once; "
            f"{show(first.memory_bytes, BYTES)} a chip"
        )

    def cells(self, estimate: StencilEstimate) -> Mapping[str, str]:
        """One cut."""
        waited = sum(part.time for part in estimate.contributions if part.exposed and part.part == "communication")
        return {
            "processes": " × ".join(map(str, estimate.decision.processes)),
            "local": " × ".join(map(str, estimate.decision.local(estimate.workload.grid))),
            "step": show(estimate.time, SECONDS),
            "cells/s": show(estimate.facts["cell_updates"], CELLS_PER_SECOND),
            "waiting": percent(waited / estimate.time, 1),
        }

    def plan_findings(self, planned: StencilPlanned) -> Iterable[Finding]:
        """The same grid, and one that grows, at every count of accelerators."""
        for growth in GROWTHS:
            steps = planned.asked.worked_out[growth]
            yield Finding(
                key=f"{growth}_scaling",
                value=[step.fields() for step in steps],
                title=f"{growth} scaling",
                words=(),
                numbers=("chips", "processes", "step", "cells/s", "waiting", "launches", "efficiency"),
                cells=tuple(
                    (
                        f"{step.chips}{'' if step.chips <= planned.system.accelerators else ' *'}",
                        " × ".join(map(str, step.processes)),
                        show(step.time, SECONDS),
                        show(step.cell_updates, CELLS_PER_SECOND),
                        percent(step.exposed_exchange, 1),
                        percent(step.launch_share, 1),
                        percent(step.scaling_efficiency, 1),
                    )
                    for step in steps
                ),
            )

        broken = broken_at(planned.asked.worked_out["strong"])
        yield Finding(key="strong_scaling_breaks", value=None if broken is None else broken.chips)

    def remarks(self, planned: StencilPlanned) -> Iterable[str]:
        """Where the same grid scales no further and on what, and what counts with a star are."""
        steps = planned.asked.worked_out["strong"]
        if not steps:
            return
        broken, own = broken_at(steps), planned.system.accelerators
        if broken is None:
            yield f"the same grid keeps {percent(BREAKS, 0)} of its efficiency up to {steps[-1].chips:,} chips"
        else:
            parts = {"halos": broken.exposed_exchange, "launches": broken.launch_share}
            what = max(parts, key=lambda part: parts[part])
            yield (
                f"the same grid falls below {percent(BREAKS, 0)} of its efficiency at {broken.chips:,} chips: {what} "
                f"are {percent(parts[what], 0)} of a step of {show(broken.time, SECONDS)}"
            )
        if steps[-1].chips > own:
            yield f"* more chips than the {own:,} of the machine: a larger one of its kind"

    def plan_picture(self, planned: StencilPlanned) -> PlannedCurves:
        """Efficiency over accelerators, to where the same grid scales no further."""
        both = {growth: {step.chips: step for step in planned.asked.worked_out[growth]} for growth in GROWTHS}
        places = sorted(set.intersection(*(set(steps) for steps in both.values())))
        if not places:
            raise DescriptionError(
                f"no count of accelerators up to {planned.system.name} holds the grid; make it smaller"
            )
        own = planned.system.accelerators
        beyond = f" (the machine has {own:,}; beyond: a larger one of its kind)" if places[-1] > own else ""
        return PlannedCurves(
            title=f"{planned.asked.title} on {planned.system.name.partition('/')[0]}",
            about="Cells a second and chip, over those of the fewest chips, of the same grid and of one that grows.",
            x_title=f"accelerators{beyond}",
            places=tuple(float(count) for count in places),
            lines={
                f"{growth} scaling": tuple(100.0 * both[growth][count].scaling_efficiency for count in places)
                for growth in GROWTHS
            },
            kind=None,
            y_title="efficiency, %",
            doublings=True,
        )


STENCIL = StencilApplication()
