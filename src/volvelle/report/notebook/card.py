"""An answer as a piece of HTML: figures, pictures and tables, in the colours of the notebook around it, no script."""

import re
from collections.abc import Iterable
from html import escape
from typing import cast

from volvelle.errors import MissingExtraError
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.rendering import svg
from volvelle.report.figures.theme import NARROW, WIDE, recoloured
from volvelle.report.notebook.shown import Drawing, Shown
from volvelle.report.sheet import Sheet

_ROWS = 40
"""Rows of a table at the most; a frame has all."""
# Notebooks style tables, some by the number of a row; a doubled class outweighs them.
_STYLE = """
.volvelle.volvelle{max-width:760px;font:14px/1.5 system-ui,sans-serif}
.volvelle.volvelle p{margin:.15em 0}
.volvelle.volvelle .title{font-size:1.15em;font-weight:600}
.volvelle.volvelle .warning{font-weight:600}
.volvelle.volvelle .note{opacity:.75;font-size:.9em}
.volvelle.volvelle figure{margin:.8em 0}
.volvelle.volvelle svg{max-width:100%;height:auto;display:block}
.volvelle.volvelle .narrow{display:none}
.volvelle.volvelle .scroll{overflow-x:auto;margin:.6em 0}
.volvelle.volvelle table{border-collapse:collapse;margin:0;font-size:.93em;border:0;width:auto}
.volvelle.volvelle caption{caption-side:top;text-align:left;font-weight:600;padding:.2em 0;color:inherit}
.volvelle.volvelle tbody tr:nth-child(n){background:none}
.volvelle.volvelle th,.volvelle.volvelle td{text-align:left;vertical-align:top;padding:.15em 1.1em .15em 0;border:0;
border-bottom:1px solid rgba(127,127,127,.3);white-space:normal;max-width:26em}
.volvelle.volvelle .n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.volvelle.volvelle summary{cursor:pointer;margin:.4em 0}
@media screen and (max-width:640px){.volvelle.volvelle .wide{display:none}.volvelle.volvelle .narrow{display:block}
.volvelle.volvelle td,.volvelle.volvelle th{white-space:nowrap;max-width:none}}
"""
_DARK = ':is([data-jp-theme-light="false"],.vscode-dark,html[theme="dark"]) .volvelle '
"""Inside a dark JupyterLab, VS Code or Colab."""
_UNSAID = 'html:not([theme]) body:not([data-jp-theme-light],[class*="vscode-"]) .volvelle '
"""Where no notebook says whether it is dark, the screen does."""


def card(shown: Shown) -> str:
    """The answer as one element."""
    drawn, missing = _drawn(shown.pictures)
    screen = f"@media screen and (prefers-color-scheme:dark){{{recoloured(drawn, within=_UNSAID)}}}"
    dark = recoloured(drawn, within=_DARK) + screen
    pieces = [
        f"<style>{_STYLE}{dark if drawn else ''}</style>",
        f'<p class="title">{escape(shown.title)}</p>',
        *(f"<p>{escape(text)}</p>" for text in shown.figures),
        *(f'<p class="warning">{escape(text)}</p>' for text in shown.warnings),
        drawn,
        f'<p class="note">{escape(missing)}</p>' if missing else "",
        *(_table(sheet) for sheet in shown.sheets if sheet.rows),
        *(
            f"<details><summary>{escape(sheet.title)}</summary>{_table(sheet, titled=False)}</details>"
            for sheet in shown.details
            if sheet.rows
        ),
    ]
    return f'<div class="volvelle">{"".join(pieces)}</div>'


def _drawn(pictures: Iterable[Drawing]) -> tuple[str, str]:
    """Figures, or what to install for them."""
    figures = []
    try:
        for draw in pictures:
            wide = draw(WIDE)
            if wide is not None:
                figures.append(_figure(wide, cast(Chart, draw(NARROW))))
    except MissingExtraError as error:
        return "", str(error)
    return "".join(figures), ""


def _figure(wide: Chart, narrow: Chart) -> str:
    """A picture drawn for a desk and for a telephone, which has no pointer to rest on a mark."""
    small = re.sub(r"<title>.*?</title>", "", svg(narrow, themed=False), flags=re.DOTALL)
    drawn = f'<div class="wide">{svg(wide, themed=False)}</div><div class="narrow" aria-hidden="true">{small}</div>'
    return f"<figure>{drawn}</figure>"


def _table(sheet: Sheet, *, titled: bool = True) -> str:
    kinds = [' class="n"' if name in sheet.numbers else "" for name in sheet.columns]
    head = "".join(f"<th{kind}>{escape(name)}</th>" for kind, name in zip(kinds, sheet.columns, strict=True))
    body = "".join(
        f"<tr>{''.join(f'<td{kind}>{escape(cell)}</td>' for kind, cell in zip(kinds, row, strict=True))}</tr>"
        for row in sheet.rows[:_ROWS]
    )
    title = f"<caption>{escape(sheet.title)}</caption>" if titled else ""
    more = f"{len(sheet.rows) - _ROWS:,} more: .to_frame(). " if len(sheet.rows) > _ROWS else ""
    note = f'<p class="note">{escape(more + sheet.note)}</p>' if more or sheet.note else ""
    return f'<div class="scroll"><table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}</div>'
