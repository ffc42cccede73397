"""A whole job, as a notebook shows it."""

from collections.abc import Mapping
from typing import Any

from volvelle.report.job.text import figure_lines, sheets, title_text
from volvelle.report.notebook.shown import Presentation, Row, Shown, itself
from volvelle.verbs.job.answer import Job


def _shown(answer: Job) -> Shown:
    first, *others = sheets(answer)
    return Shown(
        title=title_text(answer),
        figures=list(figure_lines(answer)),
        warnings=answer.notes,
        sheets=(first,),
        details=others,
    )


def _rows(answer: Job, document: Mapping[str, Any]) -> list[Row]:
    """A row for every part of the wall time."""
    return [{"part": name, "days": days} for name, days in document["contributions"].items()]


JOB = Presentation(verb="job", document=itself, rows=_rows, shown=_shown)
