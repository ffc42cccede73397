"""A replayed trace, as a notebook shows it."""

from volvelle.report.notebook.shown import Presentation, Shown, itself, under
from volvelle.report.replay.text import figure_lines, range_lines, sheets, title_text
from volvelle.verbs.replay import ReplayAnswer


def _shown(answer: ReplayAnswer) -> Shown:
    first, *others = sheets(answer)
    return Shown(
        title=title_text(answer),
        figures=[*figure_lines(answer), *range_lines(answer)],
        warnings=answer.notes,
        sheets=(first,),
        details=tuple(others),
    )


REPLAY = Presentation(verb="replay", document=itself, rows=under("operations"), shown=_shown)
