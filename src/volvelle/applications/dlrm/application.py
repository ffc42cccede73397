"""Recommendation models as an application."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar

from volvelle.applications.contract import Application, Planned, Question
from volvelle.applications.dlrm.constants import dlrm_model, dlrm_model_error
from volvelle.applications.dlrm.estimator import DlrmEstimate, DlrmModel, DlrmStep
from volvelle.applications.dlrm.fit import fit_dlrm
from volvelle.applications.dlrm.models import named_dlrm
from volvelle.applications.dlrm.plan import candidates
from volvelle.applications.dlrm.rows import DlrmMeasurement, DlrmQuestion, dlrm_measurements, dlrm_question
from volvelle.applications.dlrm.tables import TableElements
from volvelle.applications.fitted_constants import Fit
from volvelle.applications.measured_table import CalibrationRows
from volvelle.applications.range_evidence import RangeEvidence, error_told_by, machine_evidence
from volvelle.base.option_kinds import Number, Text
from volvelle.base.question import Option, option
from volvelle.catalogue import Catalogue
from volvelle.domains import STATE_BYTES
from volvelle.estimators.contract import Ranking
from volvelle.interchange.dlrm_file import read_dlrm
from volvelle.mapping.table_placement import TablePlacement
from volvelle.quantities import BYTES, SECONDS, show
from volvelle.questions.applications import CalibrateQuestion, PlanApplicationQuestion
from volvelle.questions.training import BATCH, ELEMENT, MODEL
from volvelle.system.cluster import Cluster

DlrmPlanned = Planned[DlrmStep, TablePlacement, str]
_SAMPLES_A_CHIP = 4096
"""Of the batch, where none is given."""
_ANSWERED: dict[tuple[str, str, DlrmStep], Ranking[DlrmStep, TablePlacement]] = {}
"""Many submissions are the same step by the same software on the same machine."""


class PlanDlrm(PlanApplicationQuestion):
    """Options of a plan of a recommendation model."""

    examples = ("dcnv2-mlperf --on dgx-h100/8 --batch 55296", "dlrm-793b --on dgx-a100/64 --software other")

    model: str = option(
        MODEL,
        kind=Text(),
        help="dcnv2-mlperf, dlrm-criteo, dlrm-793b, or a JSON file with dense, bottom, top and tables.",
        default="dcnv2-mlperf",
    )
    batch: int | None = option(
        BATCH, help="Samples per step, over all GPUs.", usually=f"{_SAMPLES_A_CHIP} per GPU", default=None
    )
    element: str = option(ELEMENT, default="fp16")
    software: str = option(
        Option("--software", "Software whose constants are used: hugectr or other.", group="Software"),
        default="hugectr",
    )
    state: float = option(
        Option("--state", "Bytes of optimizer state per table parameter.", kind=Number(STATE_BYTES)), default=4.0
    )


class DlrmApplication(Application[DlrmMeasurement, DlrmStep, TablePlacement, str]):
    """Training steps against published runs; their calibration is named by whose software runs them."""

    word: ClassVar[str] = "dlrm"
    about: ClassVar[str] = "Recommendation models against published runs."
    unit: ClassVar[str] = "seconds per step"
    calibrates: ClassVar[str] = (
        "Fit the share of memory rate that recommendation software sustains, and its fixed time. Takes a few seconds."
    )
    plans: ClassVar[str] = "Find the best placement of a recommendation model's tables."
    plan_options: ClassVar[type[PlanApplicationQuestion]] = PlanDlrm
    plan_words: ClassVar[tuple[str, ...]] = ("tables",)

    rows = staticmethod(dlrm_measurements)
    question = staticmethod(dlrm_question)

    def estimator(self, calibration: str) -> DlrmModel:
        """With the constants of one kind of software."""
        return dlrm_model(calibration)

    def answer(self, question: DlrmQuestion) -> Ranking[DlrmStep, TablePlacement]:
        """The best placement, as sure as the model is of the machine."""
        key = (question.calibration, question.system.name, question.work)
        if key not in _ANSWERED:
            _ANSWERED[key] = super().answer(question)
        return _ANSWERED[key]

    def measured(self, row: DlrmMeasurement) -> float | None:
        """Seconds a step."""
        return row.seconds

    def fitted(self, rows: CalibrationRows[DlrmMeasurement], catalogue: Catalogue, question: CalibrateQuestion) -> Fit:
        """Two constants of each kind of software."""
        return fit_dlrm(rows, catalogue)

    def label(self, row: DlrmMeasurement, question: DlrmQuestion) -> str:
        """The machine, the software and the batch."""
        return f"{row.chips} {row.accelerator}, {row.framework}, batch {row.batch}"

    # -- plan ---------------------------------------------------------------------------------------------------

    def space(self, system: Cluster, catalogue: Catalogue, question: PlanDlrm) -> DlrmQuestion:
        """Tables whole, by rows, by columns, copied, and mixtures of these."""
        name, element = question.model, question.element
        shape = read_dlrm(Path(name)) if name.endswith(".json") else named_dlrm(name)
        step = DlrmStep(
            shape=shape,
            batch=question.batch or _SAMPLES_A_CHIP * system.accelerators,
            matrix_element=element,
            tables=TableElements(sent="fp32" if element == "fp32" else "fp16", state=question.state),
        )
        software = question.software
        parameters = sum(tables.parameters for tables in shape.tables)
        return Question(
            candidates=candidates(step, system.accelerators),
            system=system,
            calibration=software,
            outside=dlrm_model_error(software).outside(system),
            title=f"{shape.name}: {parameters / 1e9:.4g} B parameters in tables, {step.batch} samples a step,",
            facts={"model": shape.name, "batch": step.batch},
        )

    def planner(self, asked: DlrmQuestion) -> DlrmModel:
        """As sure as the model is of this machine."""
        return dlrm_model(asked.calibration, asked.system)

    def evidence(self, asked: DlrmQuestion) -> RangeEvidence:
        """Steps by the same kind of software."""
        error, system, software = dlrm_model_error(asked.calibration), asked.system, asked.calibration
        return RangeEvidence(
            weakest_evidence=machine_evidence(system),
            model_error=error_told_by("dlrm", error.on(system), regime=software, axes=error.axes(system)),
        )

    def described(self, work: DlrmStep, decision: TablePlacement) -> Mapping[str, object]:
        """The placement of every kind of table."""
        return {
            "tables": [
                {
                    "count": tables.count,
                    "rows": tables.rows,
                    "width": tables.width,
                    "pooling": tables.pooling,
                    "placement": way.value,
                }
                for tables, way in zip(work.shape.tables, decision.ways, strict=True)
            ]
        }

    def constants(self, calibration: str) -> Mapping[str, object]:
        """Whose constants were used."""
        return {"software": calibration}

    def cells(self, estimate: DlrmEstimate) -> Mapping[str, str]:
        """One placement."""
        spread = estimate.time_range
        assert spread is not None, "the model gives a range"
        return {
            "tables": estimate.decision.words,
            "step": show(estimate.time, SECONDS),
            "80 % range": f"{show(spread.low, SECONDS)} … {show(spread.high, SECONDS)}",
            "memory": show(estimate.memory_bytes, BYTES),
        }

    def remarks(self, planned: DlrmPlanned) -> Iterable[str]:
        """Samples a second, and what would be faster."""
        first, refused = planned.ranking.first, planned.ranking.refused
        yield f"The first trains on {first.facts['samples_per_second'] / 1e6:.3g} million samples a second."
        if refused and refused[0].time < first.time:
            near = refused[0]
            yield (
                f"Faster but too large: {near.decision.words} would take {show(near.time, SECONDS)} with "
                f"{show(near.memory_bytes, BYTES)} on the fullest chip."
            )


DLRM = DlrmApplication()
