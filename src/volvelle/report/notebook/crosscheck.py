"""Estimators held against each other, as a notebook shows them."""

from volvelle.report.crosscheck.text import (
    figure_lines,
    range_lines,
    sheets,
    suite_lines,
    suite_sheets,
    suite_title,
    title_text,
)
from volvelle.report.documents.crosscheck import SuiteDocument
from volvelle.report.notebook.shown import Presentation, Shown, itself, under
from volvelle.verbs.crosscheck.answers import CrossCheck
from volvelle.verbs.crosscheck.suite_check import SuiteCheck


def _shown(answer: CrossCheck) -> Shown:
    found = tuple(sheets(answer))
    return Shown(
        title=title_text(answer),
        figures=[*figure_lines(answer), *range_lines(answer)],
        warnings=answer.notes,
        sheets=found[:1],
        details=found[1:],
    )


def _suite_shown(found: SuiteCheck) -> Shown:
    first, *others = suite_sheets(found)
    return Shown(title=suite_title(found), figures=list(suite_lines(found)), sheets=(first,), details=tuple(others))


CROSSCHECK = Presentation(verb="crosscheck", document=itself, rows=under("answers"), shown=_shown)
SUITE = Presentation(
    verb="crosscheck", document=SuiteDocument.model_validate, rows=under("results"), shown=_suite_shown
)
