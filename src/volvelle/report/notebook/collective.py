"""The time of a collective, as a notebook shows it."""

from volvelle.report.collective.text import figure_lines, inputs_sheet, sheets, title_text
from volvelle.report.figures.engine import Chart
from volvelle.report.notebook.shown import Drawing, Presentation, Shown, itself, under
from volvelle.verbs.collective.ask import CollectiveAnswer


def _shown(answer: CollectiveAnswer) -> Shown:
    first, *others = sheets(answer)
    return Shown(
        title=title_text(answer),
        figures=list(figure_lines(answer)),
        warnings=answer.notes,
        pictures=(_picture(answer),),
        sheets=(first,),
        details=(*others, inputs_sheet(answer)),
    )


def _picture(answer: CollectiveAnswer) -> Drawing:
    def drawn(width: float) -> Chart:
        from volvelle.report.collective.picture import collective_picture  # noqa: PLC0415 - pictures are slow

        return collective_picture(answer, width)

    return drawn


COLLECTIVE = Presentation(verb="collective", document=itself, rows=under("by_size"), shown=_shown)
