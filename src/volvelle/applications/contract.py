"""The contract of every application: what it is asked, measured by, fitted to and planned as.

From these follow ``volvelle validate``, ``calibrate`` and ``plan``, their JSON and their pages.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar, final

from volvelle.applications.fitted_constants import Fit
from volvelle.applications.measured_table import CalibrationRows, MeasuredTable, Row
from volvelle.applications.range_evidence import RangeEvidence
from volvelle.applications.scores import Finding, MeasuredCurve, PlannedCurves, RowValidation
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError
from volvelle.estimators.contract import Estimator, Ranking
from volvelle.estimators.result import Estimate, RangedFigure
from volvelle.quantities import SECONDS, Quantity, show
from volvelle.questions.applications import CalibrateQuestion, PlanApplicationQuestion, ValidateQuestion, question_of
from volvelle.system.cluster import Cluster

Work = TypeVar("Work")
Decision = TypeVar("Decision")
Calibration = TypeVar("Calibration")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Generic[Work, Decision, Calibration]):
    """The best of some candidates on a system: one where a source states what it ran, many where it leaves a choice."""

    candidates: Sequence[tuple[Work, Decision]]
    system: Cluster
    calibration: Calibration
    """Constants that hold for such a machine and its software."""
    assumed: tuple[str, ...] = ()
    """What had to be assumed."""
    unstated: float = 0.0
    """What that leaves open of the figure: one standard deviation of its logarithm, beside what is open anyway."""
    outside: tuple[str, ...] = ()
    """In which ways the machine is unlike those that were fitted."""
    title: str = ""
    """Of a plan: what is planned, for people."""
    facts: Mapping[str, object] = field(default_factory=dict)
    """Of a plan: what was asked, as plain values."""
    worked_out: Mapping[str, Any] = field(default_factory=dict)
    """Of a plan: what only the catalogue told beside it, such as the same work on other counts of accelerators."""

    @property
    def work(self) -> Work:
        """Of the first candidate; where the work is stated, of all."""
        return self.candidates[0][0]

    @property
    def decision(self) -> Decision:
        """Of the first candidate."""
        return self.candidates[0][1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned(Generic[Work, Decision, Calibration]):
    """A plan: what was asked, the candidates in order, and how long that took."""

    asked: Question[Work, Decision, Calibration]
    ranking: Ranking[Work, Decision]
    seconds: float

    @property
    def system(self) -> Cluster:
        """The machine."""
        return self.asked.system


class Application(ABC, Generic[Row, Work, Decision, Calibration]):
    """A kind of work with measured rows, a model and constants of its own."""

    word: ClassVar[str]
    """As commands call it."""
    about: ClassVar[str]
    """What is predicted, in a line: "High-Performance Linpack against published runs"."""
    unit: ClassVar[str]
    """What is measured, with its unit, in words."""
    quantity: ClassVar[Quantity | None] = SECONDS
    """The unit of what is measured; None: a plain number."""
    groups_are: ClassVar[str] = "publication"
    """What rows are grouped by in scores."""
    figure: ClassVar[str] = "time"
    """Which figure of an estimate that is."""
    calibrates: ClassVar[str] = ""
    """What a fit finds, in a line; empty: nothing is fitted."""
    plans: ClassVar[str] = ""
    """What a plan finds, in a line; empty: nothing is planned here."""
    fit_options: ClassVar[type[CalibrateQuestion]] = CalibrateQuestion
    """Options of ``calibrate``; a subclass adds those of the application."""
    plan_options: ClassVar[type[PlanApplicationQuestion]] = PlanApplicationQuestion
    """Options of ``plan``; a subclass adds those of the application."""
    validate_options: ClassVar[type[ValidateQuestion]] = ValidateQuestion
    """Options of ``validate``; a subclass adds those of the application."""
    plan_words: ClassVar[tuple[str, ...]] = ()
    """Columns of a plan that are words; the others are numbers."""
    plan_width: ClassVar[int] = 80
    """Columns of a terminal that a plan takes."""

    # -- questions, made from what an application states ------------------------------------------------------------

    @final
    @property
    def fit_question(self) -> type[CalibrateQuestion]:
        """The question of ``calibrate`` about the application."""
        text = f"{self.calibrates} Held-out rows are not used. Mark your own rows as calibration in the column split."
        return question_of(self.fit_options, self.word, self.calibrates, text)

    @final
    @property
    def plan_question(self) -> type[PlanApplicationQuestion]:
        """The question of ``plan`` about the application."""
        return question_of(self.plan_options, self.word, self.plans, f"{self.plans} The prediction has an 80 % range.")

    @final
    @property
    def validate_question(self) -> type[ValidateQuestion]:
        """The question of ``validate`` about the application."""
        text = f"{self.about} Held-out and calibration rows are scored separately."
        return question_of(self.validate_options, self.word, self.about, text)

    @final
    @property
    def questions(self) -> Mapping[str, type[CalibrateQuestion | PlanApplicationQuestion | ValidateQuestion]]:
        """The commands that the application has, each with its question."""
        questions: dict[str, Any] = {"validate": self.validate_question}
        if self.calibrates:
            questions["calibrate"] = self.fit_question
        if self.plans:
            questions["plan"] = self.plan_question
        return questions

    # -- what an application must say ---------------------------------------------------------------------------

    @abstractmethod
    def rows(self, file: Path | None = None) -> MeasuredTable[Row]:
        """Measured rows: those of the package, or those of a file in the same columns."""

    @abstractmethod
    def question(self, row: Row, catalogue: Catalogue) -> Question[Work, Decision, Calibration] | str:
        """What a row asks, or why it asks nothing."""

    @abstractmethod
    def estimator(self, calibration: Calibration) -> Estimator[Work, Decision]:
        """The model, with its constants."""

    @abstractmethod
    def measured(self, row: Row) -> float | None:
        """What a row states."""

    @final
    def fit(self, rows: CalibrationRows[Row], catalogue: Catalogue, question: CalibrateQuestion | None = None) -> Fit:
        """Constants that calibration rows tell; rows of any other split cannot get here."""
        if not isinstance(rows, CalibrationRows):
            raise DescriptionError(
                f"a fit takes calibration rows only, not {type(rows).__name__}; make them by calibration_rows"
            )
        return self.fitted(rows, catalogue, self.fit_question() if question is None else question)

    def fitted(self, rows: CalibrationRows[Row], catalogue: Catalogue, question: Any) -> Fit:
        """The same, as each application does it."""
        raise DescriptionError(f"nothing is fitted for {self.word}")

    def space(self, system: Cluster, catalogue: Catalogue, question: Any) -> Question[Work, Decision, Calibration]:
        """Return what is worth trying on a system; `question` is a `plan_question`."""
        raise DescriptionError(f"nothing is planned for {self.word}")

    def changes(self, problems: Sequence[str], question: Any) -> Iterable[Iterable[Mapping[str, Any]]]:
        """Yield groups of changed fields that may make a plan possible; the command tries each before it prints one.

        `problems` are names of violations. Of each group the command offers the first change that works.
        """
        return ()

    # -- what it may say better ---------------------------------------------------------------------------------

    def label(self, row: Row, question: Question[Work, Decision, Calibration]) -> str:
        """A row in a few words: the system, its size."""
        return row.head.row_id

    def answer(self, question: Question[Work, Decision, Calibration]) -> Ranking[Work, Decision]:
        """The best that a row's question allows."""
        return self.planner(question).rank(question.candidates, question.system, top=1)

    def predicted(self, row: Row, estimate: Estimate[Work, Decision]) -> RangedFigure:
        """What the model says of what a row states."""
        return estimate.figures()[self.figure]

    def within(self, row: Row) -> Mapping[str, str]:
        """What tells rows of one publication apart in scores, by name."""
        return {}

    def contradiction(self, row: Row) -> str:
        """Why what a row states cannot all be true, so that it is neither fitted to nor held against ranges."""
        return ""

    def details(self, row: Row) -> Mapping[str, object]:
        """What else JSON says of a row."""
        return {}

    def narrowed(self, validation: RowValidation, question: Any = None) -> RowValidation:
        """Return the rows that are shown; `question` is a `validate_question`, None if it has only defaults."""
        return validation

    def asked_rows(self, question: Any) -> MeasuredTable[Row]:
        """Return the measured rows that a `validate_question` is about, of any publication."""
        return self.rows(None if question.data is None else Path(question.data))

    def curves(self, validation: RowValidation) -> Sequence[MeasuredCurve]:
        """What a picture shows instead of predicted against measured figures, where rows are runs over time."""
        return ()

    def findings(self, validation: RowValidation) -> Iterable[Finding]:
        """What else a validation of all rows shows."""
        return ()

    def described(self, work: Work, decision: Decision) -> Mapping[str, object]:
        """A candidate as plain values."""
        return {"decision": str(decision)}

    def planner(self, asked: Question[Work, Decision, Calibration]) -> Estimator[Work, Decision]:
        """The model that a question is put to, of a row or of a plan."""
        return self.estimator(asked.calibration)

    def constants(self, calibration: Calibration) -> Mapping[str, object]:
        """What JSON says of the constants that were used."""
        return {}

    def evidence(self, asked: Question[Work, Decision, Calibration]) -> RangeEvidence | None:
        """What ranges of a plan rest on; None: it has none."""
        return None

    def headline(self, planned: Planned[Work, Decision, Calibration]) -> Iterable[str]:
        """What is said of the first choice before any table."""
        yield f"{planned.asked.title} on {planned.system.name}: {planned.ranking.considered} candidates"

    def notes(self, planned: Planned[Work, Decision, Calibration]) -> Iterable[str]:
        """What should be known of a plan beside its figures."""
        return ()

    def cells(self, estimate: Estimate[Work, Decision]) -> Mapping[str, str]:
        """A candidate as cells of a table, by the title of the column."""
        return {"time": show(estimate.time, SECONDS)}

    def plan_findings(self, planned: Planned[Work, Decision, Calibration]) -> Iterable[Finding]:
        """What else a plan shows."""
        return ()

    def plan_picture(self, planned: Planned[Work, Decision, Calibration]) -> PlannedCurves:
        """What ``--figure`` draws of a plan."""
        raise DescriptionError(f"a plan of {self.word} has no picture")

    def remarks(self, planned: Planned[Work, Decision, Calibration]) -> Iterable[str]:
        """What is said after the tables."""
        return ()

    def emitted(self, planned: Planned[Work, Decision, Calibration]) -> str:
        """The first choice as an input file of the application itself."""
        raise DescriptionError(f"{self.word} has no input file to write")


AnyApplication = Application[Any, Any, Any, Any]
"""One of them, whatever its rows, its work and its constants are."""
