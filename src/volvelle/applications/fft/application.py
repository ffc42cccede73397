"""Three-dimensional Fourier transforms as an application."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from volvelle.applications.contract import Application, Planned, Question
from volvelle.applications.fft.constants import fft_model_error, travelled_by
from volvelle.applications.fft.estimator import FftEstimate, FftLayout, FftModel, FftProblem, fft_layouts
from volvelle.applications.fft.fit import fit_fft
from volvelle.applications.fft.rows import FftMeasurement, FftQuestion, fft_measurements, fft_question
from volvelle.applications.fitted_constants import Fit
from volvelle.applications.grid_sides import grid_sides, scaled_grids
from volvelle.applications.measured_table import CalibrationRows
from volvelle.applications.model_error import ModelError
from volvelle.applications.range_evidence import RangeEvidence, error_told_by, machine_evidence
from volvelle.base.option_kinds import Switch, Words
from volvelle.base.question import Option, option
from volvelle.catalogue import Catalogue
from volvelle.quantities import BYTES, FLOP_PER_SECOND, SECONDS, percent, show
from volvelle.questions.applications import GRID, CalibrateQuestion, PlanApplicationQuestion
from volvelle.questions.training import ELEMENT
from volvelle.system.cluster import Cluster

FftPlanned = Planned[FftProblem, FftLayout, ModelError]


class PlanFft(PlanApplicationQuestion):
    """Options of a plan of a Fourier transform."""

    examples = ("4096 --on dgx-a100/1024 --element fp32", "2048x2048x1024 --on dgx-h100/64 --real")

    grid: str = option(GRID)
    element: str = option(ELEMENT, help="Element type of real numbers.", kind=Words(("fp32", "fp64")), default="fp64")
    real: bool = option(
        Option("--real", "Transform real to complex instead of complex to complex.", kind=Switch()), default=False
    )
    bricks: bool = option(
        Option("--bricks", "Take input and output as three-dimensional bricks.", kind=Switch(), group="Layout"),
        default=False,
    )


class FftApplication(Application[FftMeasurement, FftProblem, FftLayout, ModelError]):
    """Transforms against published timings; their calibration is how far such transforms are off, by machine."""

    word: ClassVar[str] = "fft"
    about: ClassVar[str] = "Fourier transforms against published timings."
    unit: ClassVar[str] = "seconds a transform"
    calibrates: ClassVar[str] = "Fit the rate that links sustain in Fourier transforms. Takes two minutes."
    plans: ClassVar[str] = "Find the best decomposition of a three-dimensional Fourier transform."
    plan_options: ClassVar[type[PlanApplicationQuestion]] = PlanFft
    plan_words: ClassVar[tuple[str, ...]] = ("layout",)

    rows = staticmethod(fft_measurements)
    question = staticmethod(fft_question)

    def estimator(self, calibration: ModelError) -> FftModel:
        """As sure as the model is of machines like those fitted."""
        return FftModel(error=calibration.inside)

    def measured(self, row: FftMeasurement) -> float | None:
        """Seconds of one transform."""
        return row.seconds

    def fitted(self, rows: CalibrationRows[FftMeasurement], catalogue: Catalogue, question: CalibrateQuestion) -> Fit:
        """Rates of the links that transforms were timed on, by way of travelling."""
        return fit_fft(rows, catalogue)

    def label(self, row: FftMeasurement, question: FftQuestion) -> str:
        """The library and the machine."""
        return f"{row.library}, {row.chips} {row.accelerator}"

    # -- plan ---------------------------------------------------------------------------------------------------

    def space(self, system: Cluster, catalogue: Catalogue, question: PlanFft) -> FftQuestion:
        """Slabs, and every grid of pencils."""
        x, y, z = grid_sides(question.grid)
        problem = FftProblem(shape=(x, y, z), element=question.element, real=question.real, bricks=question.bricks)
        error = fft_model_error(system)
        kind = "real to complex" if problem.real else "complex to complex"
        return Question(
            candidates=tuple((problem, layout) for layout in fft_layouts(system.accelerators)),
            system=system,
            calibration=error,
            outside=error.outside(system),
            title=f"Transform of {x} × {y} × {z}, {kind}, {problem.element},",
            facts={"shape": list(problem.shape), "element": problem.element, "real": problem.real},
        )

    def changes(self, problems: Sequence[str], question: PlanFft) -> Iterable[Iterable[Mapping[str, Any]]]:
        """Yield single precision and smaller grids where memory is short, larger grids where there are too few points.

        >>> question = PlanFft(grid="16", on="dgx-h100/64")
        >>> [list(group) for group in FFT.changes(["cut"], question)][0][0]
        {'grid': '32x32x32'}
        """
        if "memory" in problems and question.element == "fp64":
            yield ({"element": "fp32"},)
        yield scaled_grids(question.grid, smaller="memory" in problems)

    def planner(self, asked: FftQuestion) -> FftModel:
        """As sure as the model is of this machine."""
        return FftModel(error=asked.calibration.on(asked.system))

    def evidence(self, asked: FftQuestion) -> RangeEvidence:
        """Transforms whose publication, or library where all are of one, was left out."""
        error, system = asked.calibration, asked.system
        return RangeEvidence(
            weakest_evidence=machine_evidence(system),
            model_error=error_told_by(
                "fft", error.on(system), regime=travelled_by(system), axes=error.axes(system), pooled=True
            ),
            groups="publications and libraries",
        )

    def described(self, work: FftProblem, decision: FftLayout) -> Mapping[str, object]:
        """How the grid is cut."""
        return {
            "decomposition": "slab" if decision.slab else "pencil",
            "rows": decision.rows,
            "columns": decision.columns,
        }

    def cells(self, estimate: FftEstimate) -> Mapping[str, str]:
        """One layout."""
        spread = estimate.time_range
        assert spread is not None, "the model gives a range"
        network = sum(part.time for part in estimate.contributions if part.resource == "network")
        return {
            "layout": estimate.decision.words,
            "time": show(estimate.time, SECONDS),
            "80 % range": f"{show(spread.low, SECONDS)} … {show(spread.high, SECONDS)}",
            "rate": show(estimate.rate, FLOP_PER_SECOND),
            "network": f"{percent(network / estimate.time, 0)}",
        }

    def remarks(self, planned: FftPlanned) -> Iterable[str]:
        """What a chip holds, and what would be faster."""
        first, refused = planned.ranking.first, planned.ranking.refused
        yield f"A chip holds {show(first.memory_bytes, BYTES)}, three copies of its share."
        if refused and refused[0].time < first.time:
            yield f"Faster but impossible: {refused[0].decision.words}; {refused[0].violations[0].problem}."


FFT = FftApplication()
