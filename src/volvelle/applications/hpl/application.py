"""High-Performance Linpack as an application."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from functools import cache, lru_cache
from math import inf
from pathlib import Path
from typing import Any, ClassVar

from volvelle.applications.contract import Application, Question
from volvelle.applications.fitted_constants import Fit
from volvelle.applications.hpl.constants import listed_shares, nearest_constants, rows_behind
from volvelle.applications.hpl.contract import AbstractHplModel, HplEstimate
from volvelle.applications.hpl.fit import fit_hpl
from volvelle.applications.hpl.noise import noise_curves, noise_finding
from volvelle.applications.hpl.own_runs import constants_by_runs
from volvelle.applications.hpl.panels import HplConstants, PanelByPanel
from volvelle.applications.hpl.plan import BLOCKS, hpl_runs
from volvelle.applications.hpl.planned import CORE, HplPlanned, closed_form_notes, hpl_evidence, methods, noisy
from volvelle.applications.hpl.power import power_line
from volvelle.applications.hpl.questions import CalibrateHpl, PlanHpl
from volvelle.applications.hpl.rows import (
    HplMeasurement,
    HplQuestion,
    beyond_its_network,
    hpl_measurements,
    hpl_question,
)
from volvelle.applications.hpl.told import (
    core_finding,
    core_words,
    curves_finding,
    curves_over_order,
    layers_finding,
)
from volvelle.applications.measured_table import CalibrationRows
from volvelle.applications.scores import Finding, PlannedCurves, RowValidation, ScoredRow, score
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError
from volvelle.estimators.result import RangedFigure
from volvelle.interchange.hpl_dat import hpl_dat
from volvelle.mapping.process_grid import Broadcast, ProcessGrid
from volvelle.quantities import BYTES, FLOP_PER_SECOND, SECONDS, Quantity, percent, show
from volvelle.questions.applications import CalibrateQuestion, PlanApplicationQuestion
from volvelle.system.cluster import Cluster
from volvelle.workload.families.hpl import Hpl


class HplApplication(Application[HplMeasurement, Hpl, ProcessGrid, HplConstants]):
    """Runs of the benchmark against published ones and the TOP500."""

    word: ClassVar[str] = "hpl"
    about: ClassVar[str] = "High-Performance Linpack against published runs and the TOP500."
    unit: ClassVar[str] = "FLOP/s of the whole run (Rmax)"
    quantity: ClassVar[Quantity | None] = FLOP_PER_SECOND
    figure: ClassVar[str] = "rate"
    calibrates: ClassVar[str] = "Fit the share of peak that a GPU family sustains in HPL. Takes half a minute."
    plans: ClassVar[str] = "Find N, NB, P and Q for High-Performance Linpack, and predict the run."
    fit_options: ClassVar[type[CalibrateQuestion]] = CalibrateHpl
    plan_options: ClassVar[type[PlanApplicationQuestion]] = PlanHpl
    plan_words: ClassVar[tuple[str, ...]] = ()
    plan_width: ClassVar[int] = 100

    rows = staticmethod(hpl_measurements)
    question = staticmethod(hpl_question)

    def estimator(self, calibration: HplConstants) -> AbstractHplModel:
        """Panel by panel."""
        return PanelByPanel(constants=calibration)

    def measured(self, row: HplMeasurement) -> float | None:
        """The rate that the benchmark printed."""
        return row.rate

    def fitted(self, rows: CalibrationRows[HplMeasurement], catalogue: Catalogue, question: CalibrateHpl) -> Fit:
        """Constants of one family."""
        return fit_hpl(question.family, rows, catalogue)

    def predicted(self, row: HplMeasurement, estimate: HplEstimate) -> RangedFigure:
        """The rate; of an entry of the TOP500 within the shares of its listed peak that entries of its family have.

        The list states the peak of what ran, and neither ports nor nodes: where a guess at these takes the model out of
        what four fifths of the family's calibration entries make of their peaks, the guess is the likelier to be wrong.
        """
        figure = estimate.figures()[self.figure]
        if row.head.group != "top500" or row.peak is None or _apart(row):
            return figure
        asked = hpl_question(row, _catalogue())
        least, most = (0.0, inf) if isinstance(asked, str) else listed_shares(asked.calibration.family)
        moved = min(max(figure.value, least * row.peak), most * row.peak) / figure.value
        around = figure.range
        if around is not None:
            around = replace(around, low=around.low * moved, high=around.high * moved)
        return RangedFigure(value=figure.value * moved, range=around)

    def label(self, row: HplMeasurement, question: HplQuestion) -> str:
        """The system, its processes and their chip."""
        return f"{row.system or row.computer}: {question.decision.processes} {question.system.chip.name}"

    def within(self, row: HplMeasurement) -> Mapping[str, str]:
        """Entries whose stated network cannot have carried their stated rate are a group of their own."""
        return {"network": "cannot carry the rate" if _apart(row) else ""}

    def details(self, row: HplMeasurement) -> Mapping[str, object]:
        """Why a row is kept apart."""
        return {"apart": _apart(row)}

    def findings(self, validation: RowValidation) -> Iterable[Finding]:
        """The sets of rows that the targets are about, and those that are kept apart with the reason of each."""
        apart = [row for row in validation.rows if row.details.get("apart")]
        sets: dict[str, list[ScoredRow]] = {
            "top500_gpu_heldout": [
                row
                for row in validation.rows
                if row.head.group == "top500" and row.head.split == "heldout" and "a64fx" not in row.label
                if not row.details.get("apart")
            ],
            "top500_heldout_beyond_network": [row for row in apart if row.head.split == "heldout"],
            "kim2021_systems": [row for row in validation.rows if row.head.group == "kim2021-tables-1-2"],
            "kim2021_cluster": [row for row in validation.rows if row.head.group == "kim2021-table-5"],
        }
        yield Finding(
            key="sets",
            value={
                name: {**score(rows).numbers(), "coverage": score(rows).coverage} for name, rows in sets.items() if rows
            },
        )
        yield Finding(
            key="beyond_network",
            value=[{"row_id": row.head.row_id, "label": row.label, "reason": row.details["apart"]} for row in apart],
            title="kept apart: the stated network cannot carry the stated rate",
            words=("row", "system", "why"),
            numbers=("error",),
            cells=tuple(
                (row.head.row_id, row.label, str(row.details["apart"]), percent(row.error, 0, signed=True))
                for row in sorted(apart, key=lambda row: row.error)
            ),
        )

    # -- plan ---------------------------------------------------------------------------------------------------

    def space(self, system: Cluster, catalogue: Catalogue, question: PlanHpl) -> HplQuestion:
        """Every N, NB, P × Q, broadcast and depth worth trying."""
        memory, method = question.memory, question.method
        if question.noise is not None and method != "panels":
            raise DescriptionError(f"--noise is drawn for every panel, which --method {method} does not follow")
        host = question.si("host_memory") or 0.0
        closed: dict[str, Any] = {"broadcasts": (Broadcast.RING_MODIFIED,), "depths": (1,)}
        machine, runs = hpl_runs(
            system,
            memory=memory,
            host=host,
            blocks=question.nb or BLOCKS,
            order=question.n,
            rows=question.p,
            columns=question.q,
            **({} if method == "panels" else closed),
        )
        constants = nearest_constants(catalogue.chip_file(system.chip.name).family)
        if question.runs:
            if method != "panels":
                raise DescriptionError(f"--runs tell what panels take, which --method {method} does not follow")
            constants = constants_by_runs(constants, system, catalogue, Path(question.runs))
        return Question(
            candidates=runs,
            system=machine,
            calibration=constants,
            title="HPL",
            facts={
                "memory": memory,
                "host_memory": host,
                "method": method,
                **{name: getattr(question, name) for name in ("n", "p", "q", *CORE)},
                "efficiency": question.efficiency,
                "curves": question.curves,
                "noise": question.noise,
                "machine_noise": question.machine_noise,
            },
        )

    def planner(self, asked: HplQuestion) -> AbstractHplModel:
        """The model that was asked for."""
        if "method" not in asked.facts:
            return PanelByPanel(constants=asked.calibration)
        return methods(asked).model(str(asked.facts["method"]))

    def described(self, work: Hpl, decision: ProcessGrid) -> Mapping[str, object]:
        """As HPL.dat names them."""
        return {
            "N": work.order,
            "NB": work.block,
            "P": decision.rows,
            "Q": decision.columns,
            "broadcast": decision.broadcast.word,
            "depth": decision.depth,
        }

    def constants(self, calibration: HplConstants) -> Mapping[str, object]:
        """Whose constants were used, and rows that the range rests on."""
        told = rows_behind(calibration)
        rests = None if told is None else asdict(told)
        return {"family": calibration.family, "fitted": calibration.fitted, "model_error": rests}

    evidence = staticmethod(hpl_evidence)

    def headline(self, planned: HplPlanned) -> Iterable[str]:
        """The first choice, what to expect of it, where its matrix lies and what that rests on."""
        first, constants = planned.ranking.first, planned.asked.calibration
        grid, spread, method = first.decision, first.rate_range, planned.asked.facts["method"]
        how = f"{grid.broadcast.word}, look-ahead {grid.depth}" if method == "panels" else f"{method} model"
        yield (
            f"HPL on {planned.system.name}: N {first.workload.order:,}, NB {first.workload.block}, "
            f"{grid.rows} × {grid.columns}, {how}"
        )
        between = ""
        if spread is not None:
            ends = (show(end, FLOP_PER_SECOND) for end in (spread.low, spread.high))
            between = f"{' … '.join(ends)} ({percent(spread.level, 0)} range), "
        yield (
            f"{show(first.rate, FLOP_PER_SECOND)} expected, {between}{percent(first.utilisation)} of peak, "
            f"in {show(first.time, SECONDS)}"
        )
        if first.rate_per_watt is not None and first.power is not None:
            yield power_line(first)
        told = "calibration runs on this family" if constants.fitted else "no calibration run on this family"
        spilled = first.facts.get("in_host_memory", 0.0)
        share = planned.asked.facts["memory"]
        assert isinstance(share, float), "of memory"
        if planned.asked.facts["n"] is not None:
            share = min(1.0, first.memory_bytes / float(planned.system.chip.memory.capacity))
        kept = f"matrix {percent(share, 0)} of the accelerators' memory"
        where = f"{kept} and {percent(spilled, 0)} of itself in host memory" if spilled else kept
        yield (
            f"{where}; {planned.ranking.considered} combinations tried in {planned.seconds:.2f} s; constants: "
            f"{constants.family}, {told}"
        )

    def notes(self, planned: HplPlanned) -> Iterable[str]:
        """What own runs say, and what of memory was not considered, or was and did not pay."""
        if planned.system.host_note:
            yield planned.system.host_note
        if planned.asked.calibration.own:
            yield planned.asked.calibration.own
        host = planned.asked.facts["host_memory"]
        assert isinstance(host, float), "bytes"
        if planned.asked.facts["method"] != "panels":
            yield from closed_form_notes(planned)
            return
        if host and not planned.ranking.first.facts.get("in_host_memory"):
            yield f"{show(host, BYTES)} of host memory an accelerator were offered and would make it slower"
        elif not host and planned.system.host_rate is not None:
            yield (
                "the matrix keeps to the accelerators' memory; runs with a larger one, in host memory too, may be "
                "faster and are planned with --host-memory SIZE"
            )

    def cells(self, estimate: HplEstimate) -> Mapping[str, str]:
        """One run."""
        spread, grid = estimate.rate_range, estimate.decision
        ends = "–"
        if spread is not None:
            low, high = (percent(end / estimate.rate - 1, 0, signed=True) for end in (spread.low, spread.high))
            ends = f"{low.removesuffix(' %')} … {high}"
        return {
            "N": f"{estimate.workload.order:,}",
            "NB": str(estimate.workload.block),
            "P × Q": f"{grid.rows} × {grid.columns}",
            "broadcast": grid.broadcast.word,
            "depth": str(grid.depth),
            "time": show(estimate.time, SECONDS),
            "rate": show(estimate.rate, FLOP_PER_SECOND),
            "80 % range": ends,
            "GF/W": _per_watt(estimate),
        }

    def contradiction(self, row: HplMeasurement) -> str:
        """Entries whose network cannot have carried their rate."""
        return _apart(row)

    def plan_findings(self, planned: HplPlanned) -> Iterable[Finding]:
        """Time and rate by layer, the equivalent core where one is used, and curves over N where they are asked for."""
        asked, first = planned.asked, planned.ranking.first
        models = methods(asked)
        model = models.model(str(asked.facts["method"]))
        told = layers_finding(model.by_layer(first.workload, planned.system, first.decision))
        own = asked.facts["method"] != "panels" or any(asked.facts[name] is not None for name in ("n", "p", "q"))
        yield told if own else replace(told, title="")
        if asked.facts["method"] == "layered":
            yield core_finding(models.core, planned.system)
        if asked.facts["curves"]:
            yield curves_finding(curves_over_order(models, first.workload, planned.system, first.decision))
        if asked.facts["noise"] is not None:
            yield noise_finding(noisy(planned))

    def remarks(self, planned: HplPlanned) -> Iterable[str]:
        """What the first layer of MCL-HPL rests on."""
        if planned.asked.facts["method"] == "layered":
            yield core_words(methods(planned.asked).core, planned.system)

    def plan_picture(self, planned: HplPlanned) -> PlannedCurves:
        """The rate of all three models over the problem size, or the distribution of runs with noise."""
        first = planned.ranking.first
        if planned.asked.facts["noise"] is not None:
            return noise_curves(noisy(planned), planned.system)
        return curves_over_order(methods(planned.asked), first.workload, planned.system, first.decision)

    def emitted(self, planned: HplPlanned) -> str:
        """HPL.dat."""
        return hpl_dat(planned.ranking.first.workload, planned.ranking.first.decision)


@lru_cache(maxsize=4096)
def _apart(row: HplMeasurement) -> str:
    """Why a row's network cannot have carried its rate; empty where it can, or nothing can be asked."""
    asked = hpl_question(row, _catalogue())
    return "" if isinstance(asked, str) else beyond_its_network(row, asked)


@cache
def _catalogue() -> Catalogue:
    return Catalogue()


def _per_watt(estimate: HplEstimate) -> str:
    return "–" if estimate.rate_per_watt is None else f"{estimate.rate_per_watt * 1e-9:.1f}"


HPL = HplApplication()
