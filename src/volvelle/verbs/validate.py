"""The model held against measured rows: those that ship with the package, or one's own."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, overload

from volvelle.applications.contract import AnyApplication
from volvelle.applications.goodput.known_figures import KnownFigure, known_figures
from volvelle.applications.goodput.validation import GoodputValidation, PredictedRun, validate_goodput
from volvelle.applications.registry import application as application_of
from volvelle.applications.scores import RowScore, RowValidation, ScoredRow
from volvelle.applications.validation import validate as validated
from volvelle.domains import within_domains
from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.presentable import Presentable
from volvelle.verbs.named import Folder, catalogue_of

GOODPUT = "goodput"
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
@within_domains
def validate(
    application: str,
    *,
    data: Path | str | None = None,
    group: str | None = None,
    catalogue: Folder = None,
    advance: Callable[[], None] | None = None,
    **options: Any,
) -> Validation | GoodputRuns:
    """Predict every measured row of an application (``"training"``, ``"memory"``, ``"hpl"`` …) that can be.

    `data` is a table of one's own, a .csv file in the columns of the one that ships; without it, the published rows of
    the package. With `group`, only publications whose names start like that. `advance` is called after every row.
    `options` are an application's own, such as ``kind="request_logs"`` of serving or ``all_sizes=True`` of collectives.
    ``"goodput"`` holds whole jobs against runs that were reported; it takes no more than its name.
    """
    if application == GOODPUT:
        if data is not None or group is not None or options:
            raise DescriptionError("validate goodput has rows of its own and no options; leave data and others out")
        return GoodputRuns(result=validate_goodput(), figures=known_figures())
    asked = application_of(application)
    known = [option.flag.lstrip("-").replace("-", "_") for option in asked.validate_options]
    unknown = [name for name in options if name not in known]
    if unknown:
        raise UnknownNameError.among(f"option of validate {application}", unknown[0], known)
    table = asked.asked_rows(None if data is None else Path(data), **options).only((group,) if group else ())
    result = validated(asked, table, catalogue=catalogue_of(catalogue), advance=advance)
    return Validation(application=asked, result=asked.narrowed(result, **options) if options else result)
