"""A fleet, as a notebook shows it."""

from volvelle.report.figures.engine import Chart
from volvelle.report.fleet.text import figure_lines, service_line, sheets, title_text
from volvelle.report.notebook.shown import Drawing, Presentation, Shown, itself, under
from volvelle.report.sheet import Sheet
from volvelle.report.violations_text import violation_warnings
from volvelle.verbs.fleet.answer import Fleet


def _shown(answer: Fleet) -> Shown:
    return Shown(
        title=title_text(answer),
        figures=[*figure_lines(answer), *(service_line(one) for one in answer.services)],
        warnings=[*answer.warnings, *violation_warnings(answer.violations)],
        pictures=(_picture(answer),) if answer.services else (),
        sheets=tuple(sheets(answer)),
        details=(Sheet(title="Notes", columns=("note",), rows=tuple((note,) for note in answer.notes)),),
    )


def _picture(answer: Fleet) -> Drawing:
    def drawn(width: float) -> Chart:
        from volvelle.report.fleet.picture import fleet_picture  # noqa: PLC0415 - pictures are slow

        return fleet_picture(answer, width)

    return drawn


FLEET = Presentation(verb="fleet", document=itself, rows=under("fleet_hours"), shown=_shown)
