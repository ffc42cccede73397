"""Serving as an application: what engines were measured to do, held against steps, batches and replayed loads."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, final

import numpy as np

from volvelle.applications.contract import Application, Question
from volvelle.applications.fitted_constants import Fit, FittedConstant
from volvelle.applications.measured_table import CalibrationRows, MeasuredTable
from volvelle.applications.scores import Finding, MeasuredCurve, RowValidation, ScoredRow
from volvelle.applications.serving.answers import answers
from volvelle.applications.serving.asking import run_of
from volvelle.applications.serving.curves import log_curves
from volvelle.applications.serving.fit import FITTED, fit_engines
from volvelle.applications.serving.measurements import KINDS, ServingMeasurement, serving_measurements
from volvelle.applications.serving.mlperf import mlperf_range
from volvelle.applications.serving.peers import peers_finding
from volvelle.applications.serving.runs import ServingRun
from volvelle.applications.serving.split.split_answer import errors_of_pools
from volvelle.applications.serving.static_answer import interval, prediction_errors
from volvelle.base.option_kinds import Words
from volvelle.base.question import Option, option
from volvelle.catalogue import Catalogue
from volvelle.catalogue.engines import serving_engine
from volvelle.errors import OutsideDomainError
from volvelle.estimators.contract import Estimator
from volvelle.estimators.result import Contribution, Estimate, Range, RangedFigure
from volvelle.quantities import percent
from volvelle.questions.applications import CalibrateQuestion, ValidateQuestion
from volvelle.questions.serving_benchmarks import CalibrateServing
from volvelle.system.cluster import Cluster
from volvelle.workload.serving.loads import AbstractSteadyRate

MEASURES = ("ttft", "tpot", "latency", "throughput", "ttft_p99", "tpot_p99")
_SCORED = ("given", "heldout")

ServingQuestion = Question[ServingRun, str, None]


@lru_cache(maxsize=16384)
def _answers(run: ServingRun) -> Mapping[str, float]:
    return answers(run)


@lru_cache(maxsize=128)
def _machine(catalogue: Catalogue, chip: str) -> Cluster:
    return catalogue.with_chip(catalogue.cluster("dgx-h100/8"), chip)


@final
@dataclass(frozen=True, slots=True)
class ServingTimes(Estimator[ServingRun, str]):
    """Steps priced by the laws of kernels, and loads replayed through the rules of an engine."""

    def estimate(self, run: ServingRun, system: Cluster, measure: str) -> Estimate[ServingRun, str]:
        """One figure of a run, and between which values it lies four times in five."""
        found = _answers(run)
        if measure not in found:
            raise OutsideDomainError(
                "it does not sustain the stated rate of queries, so latencies would grow with the length of the run"
            )
        value = found[measure]
        part = Contribution(
            name=measure,
            part="serving",
            time=value,
            exposed=True,
            resource=run.instance.chip.name,
            law="smooth_maximum",
        )
        return Estimate(
            workload=run,
            decision=measure,
            contributions=(part,),
            chips=run.instance.layout.chips,
            ranges={"time": _range(run, measure, value)},
        )


def _range(run: ServingRun, measure: str, value: float) -> Range:
    errors = prediction_errors(run.instance) if run.prefill is None else errors_of_pools(run.prefill, run.instance)
    if isinstance(run.load, AbstractSteadyRate) and measure != "throughput":
        return mlperf_range(run, measure, value, errors)
    return interval(value, errors[measure.removesuffix("_p99")])


class ValidateServing(ValidateQuestion):
    """Options of a validation of serving."""

    kind: str | None = option(
        Option(
            "--kind", "Only tables of this kind, which also says how a file of yours is read.", kind=Words(tuple(KINDS))
        ),
        default=None,
    )


class ServingApplication(Application[ServingMeasurement, ServingRun, str, None]):
    """Time to the first token, time a token, latency of a batch and throughput, as published."""

    word: ClassVar[str] = "serving"
    about: ClassVar[str] = "Serving engines against published benchmarks."
    unit: ClassVar[str] = "seconds, or tokens a second"
    quantity: ClassVar[None] = None
    groups_are: ClassVar[str] = "table, chip, engine and model"
    calibrates: ClassVar[str] = (
        "Fit the time that engines add to their kernels, to published rows or to your own benchmark (--bench)."
    )

    fit_options: ClassVar[type[CalibrateQuestion]] = CalibrateServing
    validate_options: ClassVar[type[ValidateQuestion]] = ValidateServing

    def rows(self, file: Path | None = None) -> MeasuredTable[ServingMeasurement]:
        """Published figures, or a file's."""
        return serving_measurements(file)

    def asked_rows(self, question: ValidateServing) -> MeasuredTable[ServingMeasurement]:
        """Return the rows of one kind of table, where the question names one."""
        file = None if question.data is None else Path(question.data)
        return serving_measurements(file, kind=question.kind or "")

    def curves(self, validation: RowValidation) -> Sequence[MeasuredCurve]:
        """How full engines were, where all rows are of logs."""
        return log_curves(validation.rows)

    def question(self, row: ServingMeasurement, catalogue: Catalogue) -> ServingQuestion | str:
        """The run that a row states."""
        run = run_of(row, catalogue)
        if isinstance(run, str):
            return run
        one = run.instance
        outside = (*one.iteration.kernels.taken_from, *(() if one.engine.fitted_to else ("no run of the engine",)))
        return Question(
            candidates=((run, row.measure),),
            system=_machine(catalogue, one.chip.name),
            calibration=None,
            assumed=run.assumed,
            outside=outside,
        )

    def estimator(self, calibration: None) -> Estimator[ServingRun, str]:
        """Laws of kernels and rules of engines."""
        return ServingTimes()

    def measured(self, row: ServingMeasurement) -> float | None:
        """What was published."""
        return row.value

    def predicted(self, row: ServingMeasurement, estimate: Estimate[ServingRun, str]) -> RangedFigure:
        """The figure that the row states."""
        return RangedFigure(value=estimate.time, range=estimate.ranges["time"])

    def label(self, row: ServingMeasurement, question: ServingQuestion) -> str:
        """The model, its chips and the load."""
        stated, one = row.stated, question.work.instance
        asked = " ".join(
            f"{name} {stated[name]}" for name in ("batch", "concurrency", "isl", "osl") if stated.get(name)
        )
        return f"{row.measure} of {stated['model']}, {one.layout.chips} {one.chip.name}, {one.engine.name}: {asked}"

    def within(self, row: ServingMeasurement) -> Mapping[str, str]:
        """Figures are scored apart."""
        return {"measure": row.measure}

    def fitted(
        self, rows: CalibrationRows[ServingMeasurement], catalogue: Catalogue, question: CalibrateQuestion
    ) -> Fit:
        """Constants of every engine, and of its families of chips."""
        fits = fit_engines(rows.rows, catalogue)
        return Fit(
            constants=tuple(
                FittedConstant(
                    name=name,
                    of=f"{fit.engine} {fit.family}".strip(),
                    fitted=getattr(fit.constants, name),
                    catalogue=getattr(serving_engine(fit.engine, fit.family).constants, name),
                    rows=fit.rows,
                )
                for fit in fits
                for name in FITTED
            ),
            scores={"figures": float(sum(fit.rows for fit in fits if not fit.family))},
        )

    def findings(self, validation: RowValidation) -> Iterable[Finding]:
        """Scores by measure: over all rows that count, and by table, chip, engine and model."""
        rows = [row for row in validation.rows if row.head.split in _SCORED]
        refused = [row for row in validation.skipped if row.split in _SCORED]
        noted = [row for row in validation.rows if row.head.split == "calibration"]
        yield Finding(
            key="overall",
            value={
                **_scores(rows, [row.reason for row in refused]),
                "calibration": _scores(noted, []),
                "files": {
                    kind: _scores(
                        [row for row in rows if _kind(row) == kind],
                        [row.reason for row in refused if row.group.startswith(kind)],
                    )
                    for kind in KINDS
                },
            },
            title="held-out rows by table and figure",
            words=("table", "figure"),
            numbers=("rows", "median", "mean", "bias", "in range"),
            cells=tuple(_cells(rows)),
        )
        groups = sorted({row.head.group for row in rows} | {row.group for row in refused})
        scored = [
            {
                "group": group,
                **_scores(
                    [row for row in rows if row.head.group == group],
                    [row.reason for row in refused if row.group == group],
                ),
            }
            for group in groups
        ]
        yield Finding(key="groups", value=sorted(scored, key=_worst, reverse=True))
        yield peers_finding(validation.rows)


def _kind(row: ScoredRow) -> str:
    return row.head.group.partition(" ")[0]


def _worst(scores: Mapping[str, Any]) -> float:
    return max((scores[measure]["median_abs_error"] for measure in MEASURES if measure in scores), default=0.0)


def _scores(rows: Iterable[ScoredRow], reasons: Iterable[str]) -> dict[str, Any]:
    """Rows, refusals with their reasons, and the errors of every measure that there is."""
    scored = list(rows)
    counts: dict[str, int] = {}
    for reason in reasons:
        counts[reason] = counts.get(reason, 0) + 1
    found: dict[str, Any] = {
        "rows": len({row.head.row_id.partition(" ")[0] for row in scored}),
        "refused": {"rows": sum(counts.values()), "reasons": counts},
    }
    for measure in MEASURES:
        own = [row for row in scored if row.within.get("measure") == measure]
        if own:
            errors = np.array([row.error for row in own])
            found[measure] = {
                "rows": len(own),
                "median_abs_error": float(np.median(np.abs(errors))),
                "mean_abs_error": float(np.mean(np.abs(errors))),
                "bias": float(np.mean(errors)),
                "covered": float(np.mean([bool(row.inside) for row in own])),
            }
    return found


def _cells(rows: Iterable[ScoredRow]) -> Iterable[tuple[str, ...]]:
    scored = list(rows)
    for kind in KINDS:
        found = _scores([row for row in scored if _kind(row) == kind], [])
        for measure in MEASURES:
            if measure in found:
                one = found[measure]
                shown = (percent(one[name]) for name in ("median_abs_error", "mean_abs_error", "bias", "covered"))
                yield (kind.replace("_", " "), measure, str(one["rows"]), *shown)


SERVING = ServingApplication()
