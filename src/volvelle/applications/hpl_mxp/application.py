"""HPL-MxP as an application."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from volvelle.applications.contract import Application, Planned, Question
from volvelle.applications.fitted_constants import Fit
from volvelle.applications.hpl.plan import given_grids, largest_order
from volvelle.applications.hpl.power import power_line
from volvelle.applications.hpl_mxp.constants import mxp_constants
from volvelle.applications.hpl_mxp.estimator import FACTORS, Kept, MixedPrecisionHpl, MxpConstants, MxpEstimate
from volvelle.applications.hpl_mxp.fit import fit_mxp, stated_rate
from volvelle.applications.hpl_mxp.rows import FILLED, MxpMeasurement, MxpQuestion, mxp_measurements, mxp_question
from volvelle.applications.measured_table import CalibrationRows
from volvelle.applications.range_evidence import RangeEvidence, error_told_by, machine_evidence
from volvelle.applications.scores import Finding, RowValidation, heldout_systems
from volvelle.base.option_kinds import Number, Words
from volvelle.base.question import Option, option
from volvelle.catalogue import Catalogue
from volvelle.domains import PLAIN_SHARE
from volvelle.errors import DescriptionError
from volvelle.estimators.result import RangedFigure
from volvelle.mapping.process_grid import ProcessGrid
from volvelle.quantities import FLOP_PER_SECOND, SECONDS, Quantity, percent, show
from volvelle.questions.applications import (
    BLOCKS_TO_TRY,
    GRID_COLUMNS,
    GRID_ROWS,
    MEMORY_TO_FILL,
    ORDER_OF_MATRIX,
    CalibrateQuestion,
    PlanApplicationQuestion,
)
from volvelle.questions.training import ELEMENT
from volvelle.system.cluster import Cluster
from volvelle.workload.families.hpl import Hpl

BLOCKS = (1024, 2048, 2560, 3072, 4096)
"""Panels are wide: products in few bits are fast beside reading and writing the matrix."""
MxpPlanned = Planned[Hpl, ProcessGrid, MxpConstants]


class PlanMxp(PlanApplicationQuestion):
    """Options of a plan of HPL-MxP."""

    examples = ("--on frontier/73728 --fp64-matrix regenerated", "--on dgx-h200/16 --n 504832 --nb 3072 --p 4 --q 4")

    element: str = option(
        ELEMENT, kind=Words(("fp16", "bf16", "fp8")), help="Element type of the products.", default="fp16"
    )
    fp64_matrix: Kept = option(
        Option(
            "--fp64-matrix",
            "Place of the FP64 matrix: GPU memory as far as it fits, host memory, or nowhere.",
            kind=Words(("device", "host", "regenerated")),
            group="Machine",
        ),
        default="device",
    )
    memory: float = option(
        MEMORY_TO_FILL, help="Share of GPU memory that factors fill.", kind=Number(PLAIN_SHARE), default=FILLED
    )
    nb: Sequence[int] = option(BLOCKS_TO_TRY, default=(), usually="1024 to 4096")
    n: int | None = option(ORDER_OF_MATRIX, default=None)
    p: int | None = option(GRID_ROWS, default=None)
    q: int | None = option(GRID_COLUMNS, default=None)


class MxpApplication(Application[MxpMeasurement, Hpl, ProcessGrid, MxpConstants]):
    """Runs of the mixed-precision benchmark against published ones."""

    word: ClassVar[str] = "hpl-mxp"
    about: ClassVar[str] = "HPL-MxP, Linpack in mixed precision, against published runs."
    unit: ClassVar[str] = "FLOP/s"
    quantity: ClassVar[Quantity | None] = FLOP_PER_SECOND
    figure: ClassVar[str] = "rate"
    calibrates: ClassVar[str] = "Fit the share of peak that GPU families sustain in HPL-MxP. Takes a few seconds."
    plans: ClassVar[str] = "Find N, NB, P and Q for HPL-MxP, and predict factorisation and refinement."
    plan_options: ClassVar[type[PlanApplicationQuestion]] = PlanMxp

    rows = staticmethod(mxp_measurements)
    question = staticmethod(mxp_question)

    def estimator(self, calibration: MxpConstants) -> MixedPrecisionHpl:
        """Panel by panel, and refinement."""
        return MixedPrecisionHpl(constants=calibration)

    def measured(self, row: MxpMeasurement) -> float | None:
        """The rate that was printed."""
        return row.rate

    def fitted(self, rows: CalibrationRows[MxpMeasurement], catalogue: Catalogue, question: CalibrateQuestion) -> Fit:
        """Shares of the peak, and what panels cost."""
        return fit_mxp(rows, catalogue)

    def predicted(self, row: MxpMeasurement, estimate: MxpEstimate) -> RangedFigure:
        """The rate of the whole run, or of its factorisation where a row states that."""
        figure = estimate.figures()[self.figure]
        moved = stated_rate(row, estimate) / figure.value
        around = figure.range
        assert around is not None, "the model gives a range"
        return RangedFigure(
            value=figure.value * moved, range=replace(around, low=around.low * moved, high=around.high * moved)
        )

    def label(self, row: MxpMeasurement, question: MxpQuestion) -> str:
        """The system and its devices."""
        return f"{row.system}, {row.devices} {row.chip}, N {question.work.order:,}"

    def within(self, row: MxpMeasurement) -> Mapping[str, str]:
        """Systems, which are what rows are split by."""
        return {"system": row.system}

    def findings(self, validation: RowValidation) -> Iterable[Finding]:
        """How many systems were held out, and whether that is enough to speak of accuracy."""
        yield heldout_systems(validation)

    # -- plan ---------------------------------------------------------------------------------------------------

    def space(self, system: Cluster, catalogue: Catalogue, question: PlanMxp) -> MxpQuestion:
        """Every N, NB and P × Q worth trying."""
        memory, element, kept = question.memory, question.element, question.fp64_matrix
        blocks = question.nb or BLOCKS
        constants = mxp_constants(catalogue.chip_file(system.chip.name).family, kept=kept)
        node = system.spans[-2] if len(system.dimensions) > 1 else 1
        runs = []
        for rows, columns in given_grids(system, question.p, question.q):
            for block in blocks:
                order = question.n
                if order is None:
                    order = largest_order(system, rows * columns, memory=memory, block=block, word=FACTORS)
                if order >= block:
                    grid = ProcessGrid.for_nodes(rows, columns, node=node)
                    runs.append((Hpl(name=f"hpl-mxp-{order}", order=order, block=block, element=element), grid))
        if not runs:
            raise DescriptionError(
                f"no block of {', '.join(map(str, blocks))} fits {percent(memory, 0)} of the "
                f"memory of {system.name}, or the matrix asked for; take smaller blocks"
            )
        return Question(
            candidates=runs,
            system=system,
            calibration=constants,
            title="HPL-MxP",
            facts={"memory": memory, "element": element, "fp64_matrix": kept},
        )

    def evidence(self, asked: MxpQuestion) -> RangeEvidence:
        """Runs of systems of families that have several; of another family, how families differ too."""
        told = asked.calibration
        return RangeEvidence(
            weakest_evidence=machine_evidence(asked.system),
            model_error=error_told_by("hpl-mxp", told.error, axes=() if told.fitted else ("chip",)),
            groups="systems",
        )

    def described(self, work: Hpl, decision: ProcessGrid) -> Mapping[str, object]:
        """As the benchmark's input names them."""
        return {"N": work.order, "NB": work.block, "P": decision.rows, "Q": decision.columns, "element": work.element}

    def constants(self, calibration: MxpConstants) -> Mapping[str, object]:
        """Whose constants were used."""
        return {"family": calibration.family, "fitted": calibration.fitted}

    def headline(self, planned: MxpPlanned) -> Iterable[str]:
        """The run to make, and what to expect of each part."""
        first = planned.ranking.first
        spread = first.rate_range
        assert spread is not None, "the model gives a range"
        ends = " … ".join(show(end, FLOP_PER_SECOND) for end in (spread.low, spread.high))
        yield (
            f"HPL-MxP on {planned.system.name}: N {first.workload.order:,}, NB {first.workload.block}, "
            f"{first.decision.rows} × {first.decision.columns}, products in {first.workload.element}"
        )
        yield (
            f"{show(first.rate, FLOP_PER_SECOND)} expected, {ends} ({percent(spread.level, 0)} range), "
            f"{percent(first.utilisation)} of peak, in {show(first.time, SECONDS)}"
        )
        spilled = first.facts["in_host_memory"]
        where = (
            f", {percent(spilled, 0)} of the matrix in double precision over the link to the host" if spilled else ""
        )
        yield (
            f"factorisation {show(first.facts['factorisation'], SECONDS)} "
            f"({show(first.work / first.facts['factorisation'], FLOP_PER_SECOND)} by itself), refinement "
            f"{show(first.facts['refinement'], SECONDS)}{where}"
        )
        if first.rate_per_watt is not None and first.power is not None:
            yield power_line(first)

    def notes(self, planned: MxpPlanned) -> Iterable[str]:
        """How sure it is."""
        if planned.system.host_note:
            yield planned.system.host_note
        told = planned.asked.calibration
        whose = "" if told.fitted else f"constants are those of {told.family}; "
        yield f"{whose}published runs differ by the build more than by the machine, so that the range is wide"

    def cells(self, estimate: MxpEstimate) -> Mapping[str, str]:
        """One run."""
        return {
            "N": f"{estimate.workload.order:,}",
            "NB": str(estimate.workload.block),
            "P × Q": f"{estimate.decision.rows} × {estimate.decision.columns}",
            "factorisation": show(estimate.facts["factorisation"], SECONDS),
            "refinement": show(estimate.facts["refinement"], SECONDS),
            "rate": show(estimate.rate, FLOP_PER_SECOND),
        }


HPL_MXP = MxpApplication()
