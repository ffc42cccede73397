"""Predictions compared with measured rows: those that ship with the package, or your own."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, overload

from volvelle.applications.contract import AnyApplication
from volvelle.applications.goodput.known_figures import KnownFigure, known_figures
from volvelle.applications.goodput.validation import GoodputValidation, PredictedRun, validate_goodput
from volvelle.applications.registry import application as application_of
from volvelle.applications.scores import RowScore, RowValidation, ScoredRow
from volvelle.applications.validation import rows_of
from volvelle.applications.validation import validate as validated
from volvelle.base.option_kinds import Text
from volvelle.base.python_function import answered
from volvelle.base.question import Option
from volvelle.errors import DescriptionError
from volvelle.presentable import Presentable
from volvelle.questions.applications import ValidateQuestion
from volvelle.verbs.named import Folder, catalogue_of

GOODPUT: Final = "goodput"
"""The word for whole jobs, which are no application."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Validation(Presentable):
    """Predictions beside what was measured."""

    application: AnyApplication
    result: RowValidation
    """All rows, those with a prediction and those without, and why."""

    @property
    def rows(self) -> tuple[ScoredRow, ...]:
        """Rows with a prediction, furthest off first."""
        return self.result.worst_first()

    @property
    def overall(self) -> RowScore:
        """The score of all rows."""
        return self.result.overall()

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.application.word, self.result)


def _again(word: str, result: RowValidation) -> Validation:
    return Validation(application=application_of(word), result=result)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GoodputRuns(Presentable):
    """Reported runs and published figures of failures, power and carbon beside what is predicted of them."""

    result: GoodputValidation
    figures: tuple[KnownFigure, ...]

    @property
    def rows(self) -> tuple[PredictedRun, ...]:
        """Runs, furthest off first."""
        return self.result.runs


_SHARED = {part.name for part in ValidateQuestion.options()}
"""Fields that every application has."""
_APPLICATION = Option("", "Application, like hpl, or goodput.", kind=Text(), name="application")


@overload
def validate(application: Literal["goodput"]) -> GoodputRuns: ...  # type: ignore[overload-overlap]
@overload
def validate(
    application: str,
    *,
    data: Path | str | None = None,
    group: str | None = None,
    catalogue: Folder = None,
    advance: Callable[[], None] | None = None,
    **options: Any,
) -> Validation: ...
def validate(application: str, **options: Any) -> Validation | GoodputRuns:
    """Return the prediction of every measured row of an application (``"training"``, ``"memory"``, ``"hpl"`` …).

    `data` is a table of your own, a .csv file in the columns of the table that ships; without it, the published rows of
    the package are used. With `group`, only publications whose names start with it. `advance` is called after every
    row. Further `options` are the application's own, such as ``kind="request_logs"`` of serving or ``all_sizes=True``
    of collectives. ``"goodput"`` compares whole jobs with reported runs; it has no options.
    """
    word = _APPLICATION.read(application)
    if word == GOODPUT:
        if options:
            raise DescriptionError(f"validate goodput has its own rows and no options; leave {', '.join(options)} out")
        return GoodputRuns(result=validate_goodput(), figures=known_figures())
    asked = application_of(word)
    return answered(asked.validate_question, partial(_validation, asked), options)


def _validation(application: AnyApplication, question: ValidateQuestion) -> Validation:
    table, catalogue = rows_of(application, question), catalogue_of(question.catalogue)
    result = validated(application, table, catalogue=catalogue, advance=question.advance)
    given = any(part.name not in _SHARED for part, _ in question.given())
    return Validation(application=application, result=application.narrowed(result, question) if given else result)
