"""What an MPI trace tells, as a notebook shows it."""

from collections.abc import Mapping, Sequence
from typing import Any

from volvelle.report.mpi.picture import matrix_picture
from volvelle.report.mpi.text import figure_lines, range_lines, sheets, title_text
from volvelle.report.notebook.shown import Presentation, Row, Shown, itself
from volvelle.verbs.mpi import MpiAnswer


def _shown(answer: MpiAnswer) -> Shown:
    first, *others = sheets(answer)
    return Shown(
        title=title_text(answer),
        figures=[*figure_lines(answer), *range_lines(answer)],
        warnings=answer.notes,
        pictures=(lambda width: matrix_picture(answer, width),) if answer.summary.messages else (),
        sheets=(first,),
        details=tuple(others),
    )


def _pairs(answer: MpiAnswer, document: Mapping[str, Any]) -> Sequence[Row]:
    """Who sends to whom."""
    return [dict(zip(("source", "target", "messages", "bytes"), pair, strict=True)) for pair in document["pairs"]]


MPI = Presentation(verb="mpi", document=itself, rows=_pairs, shown=_shown)
