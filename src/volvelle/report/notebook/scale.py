"""How training scales, as a notebook shows it."""

from collections.abc import Mapping
from typing import Any

from volvelle.report.figures.engine import Chart
from volvelle.report.notebook.shown import Drawing, Presentation, Row, Shown, itself
from volvelle.report.scale.text import figure_lines, sheets, title_text
from volvelle.verbs.scale import Scaling


def _shown(answer: Scaling) -> Shown:
    first, *others = sheets(answer)
    return Shown(
        title=title_text(answer),
        figures=list(figure_lines(answer)),
        warnings=answer.notes,
        pictures=(_picture(answer),) if answer.first is not None else (),
        sheets=(first,),
        details=others,
    )


def _picture(answer: Scaling) -> Drawing:
    def drawn(width: float) -> Chart:
        from volvelle.report.scale.picture import scale_picture  # noqa: PLC0415 - pictures are slow

        return scale_picture(answer, width)

    return drawn


def _rows(answer: Scaling, document: Mapping[str, Any]) -> list[Row]:
    """A row for every count; of the step, what is a number or a word."""
    return [
        {
            **{key: value for key, value in point.items() if key != "step"},
            **{key: None if point["step"] is None else point["step"][key] for key in ("seconds", "utilisation")},
        }
        for point in document["points"]
    ]


SCALING = Presentation(verb="scale", document=itself, rows=_rows, shown=_shown)
