"""One HTML file that needs no other: a picture and tables, light and dark, for paper and for a telephone."""

import re
from collections.abc import Callable, Sequence
from html import escape

from volvelle.report.figures.engine import Chart
from volvelle.report.figures.rendering import svg
from volvelle.report.figures.theme import BLUE, FAINT, GRID, INK, NARROW, PAIRS, PAPER, RUST, WIDE, dark_rules
from volvelle.report.sheet import Sheet

Drawing = Callable[[float], Chart]
"""Draws a picture so many pixels wide."""

STYLE = f"""
:root {{ color-scheme: light dark; --ink: {INK}; --faint: {FAINT}; --rule: {GRID}; --paper: {PAPER}; --card: #f6f8f9;
  --deep: {BLUE}; --mark: {RUST}; }}
* {{ box-sizing: border-box; }}
body {{ margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }}
figure {{ margin: 1.2rem 0; }} figure svg {{ max-width: 100%; height: auto; display: block; }}
figure .narrow {{ display: none; }} figcaption {{ color: var(--faint); font-size: .88rem; }}
@media screen and (max-width: 640px) {{ figure .wide {{ display: none; }} figure .narrow {{ display: block; }} }}
@media screen and (prefers-color-scheme: dark) {{
  :root {{ --ink: {PAIRS[INK]}; --faint: {PAIRS[FAINT]}; --rule: {PAIRS[GRID]}; --paper: {PAIRS[PAPER]};
    --card: #1a2026; --deep: {PAIRS[BLUE]}; --mark: {PAIRS[RUST]}; }}
}}
@media print {{ figure, tr {{ break-inside: avoid; }} h2 {{ break-after: avoid; }} }}
"""
"""What all pages have in common: colours, letters, pictures."""
_STYLE = """
main { max-width: 76rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .5rem; }
p.lead { color: var(--faint); margin: 0 0 1.25rem; max-width: 48rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; }
th, td { text-align: left; padding: .35rem .7rem; border-bottom: 1px solid var(--rule); vertical-align: top; }
th { background: var(--card); font-weight: 600; white-space: nowrap; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tbody tr:hover { background: var(--card); }
p.note { color: var(--faint); font-size: .875rem; }
@media print { main { max-width: none; padding: 0; } body { font-size: 10pt; } .scroll { overflow: visible; } }
"""


def figure(draw: Drawing) -> str:
    """A picture for a page, drawn once for a desk and once for a telephone, which has no pointer to rest on a mark."""
    wide, narrow = svg(draw(WIDE), themed=False), svg(draw(NARROW), themed=False)
    narrow = re.sub(r"<title>.*?</title>", "", narrow, flags=re.DOTALL)
    return f'<div class="wide">{wide}</div><div class="narrow" aria-hidden="true">{narrow}</div>'


def page(*, title: str, lead: str, picture: Drawing | None, sheets: Sequence[Sheet]) -> str:
    """The file."""
    drawn = "" if picture is None else f"<figure>\n{figure(picture)}\n</figure>"
    parts = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title>\n<style>{STYLE}{_STYLE}{dark_rules(drawn, within='figure ')}</style>\n</head>",
        f'<body>\n<main>\n<h1>{escape(title)}</h1>\n<p class="lead">{escape(lead)}</p>',
        drawn,
        *(_table(sheet) for sheet in sheets),
        "</main>\n</body>\n</html>\n",
    ]
    return "\n".join(part for part in parts if part)


def _table(sheet: Sheet) -> str:
    kinds = [' class="n"' if name in sheet.numbers else "" for name in sheet.columns]
    head = "".join(
        f'<th scope="col"{kind}>{escape(name)}</th>' for kind, name in zip(kinds, sheet.columns, strict=True)
    )
    body = "\n".join(
        "<tr>" + "".join(f"<td{kind}>{escape(cell)}</td>" for kind, cell in zip(kinds, row, strict=True)) + "</tr>"
        for row in sheet.rows
    )
    note = f'<p class="note">{escape(sheet.note)}</p>\n' if sheet.note else ""
    return (
        f'<h2>{escape(sheet.title)}</h2>\n{note}<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table></div>"
    )
