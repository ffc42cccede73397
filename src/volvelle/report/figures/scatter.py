"""Predicted against measured as a picture, and a self-contained page around it: SVG and HTML written by hand."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["Mark", "Point", "Sheet", "page", "scatter"]

_WIDTH, _HEIGHT = 760.0, 640.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 74.0, 24.0, 78.0, 62.0
_INK, _FAINT, _GRID, _PAPER = "#1f2933", "#5b6770", "#e4e8eb", "#ffffff"
_BANDS = ((0.2, "#e7ecf0"), (0.1, "#d2dae1"))
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """How one kind of points is drawn; kinds differ in shape as well as in colour."""

    name: str
    colour: str
    shape: str
    """``circle``, ``diamond``, ``square`` or ``triangle``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One measured figure and its prediction."""

    measured: float
    predicted: float
    mark: Mark
    label: str
    """Shown by a browser when the pointer rests on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A table of a page; columns whose cells are numbers are aligned to the right."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[str] = frozenset()
    """Names of the columns that hold numbers."""
    note: str = ""


class _Scale:
    """Logarithmic, from a range of values to a range of pixels."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self._low, self._span = math.log10(low), math.log10(high) - math.log10(low)
        self._start, self._length = start, end - start

    def __call__(self, value: float) -> float:
        return self._start + self._length * (math.log10(value) - self._low) / self._span


def scatter(points: Sequence[Point], *, title: str, quantity: str, unit: str, above: str = "too slow") -> str:
    """An SVG picture: both axes logarithmic, the diagonal, and bands of 10 % and 20 % around it."""
    values = [value for point in points for value in (point.measured, point.predicted)] or [0.1, 10.0]
    low, high = min(values) / 1.25, max(values) * 1.25
    across = _Scale(low, high, _LEFT, _WIDTH - _RIGHT)
    up = _Scale(low, high, _HEIGHT - _BOTTOM, _TOP)
    marks = list(dict.fromkeys(point.mark for point in points))
    said = ", ".join(f"{sum(point.mark == mark for point in points)} {mark.name}" for mark in marks)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" width="{_WIDTH:g}" '
        f'height="{_HEIGHT:g}" role="img" aria-labelledby="scatter-title scatter-words" font-family="{_FONT}">',
        f'<title id="scatter-title">{escape(title)}</title>',
        f'<desc id="scatter-words">Predicted against measured {escape(quantity)} in {escape(unit)}, both axes '
        f"logarithmic: {escape(said)}. Points on the diagonal are predicted exactly; above it the prediction is "
        f"{escape(above)}. Bands show 10 % and 20 %.</desc>",
        f'<rect width="{_WIDTH:g}" height="{_HEIGHT:g}" fill="{_PAPER}"/>',
        f'<text x="{_LEFT:g}" y="28" font-size="17" font-weight="600" fill="{_INK}">{escape(title)}</text>',
        _legend(marks, points),
        f'<clipPath id="scatter-frame"><rect x="{_LEFT:g}" y="{_TOP:g}" width="{_WIDTH - _LEFT - _RIGHT:g}" '
        f'height="{_HEIGHT - _TOP - _BOTTOM:g}"/></clipPath>',
        '<g clip-path="url(#scatter-frame)">',
        *(_band(low, high, width, colour, across, up) for width, colour in _BANDS),
        "</g>",
        *_axes(low, high, across, up),
        f'<line x1="{across(low):.1f}" y1="{up(low):.1f}" x2="{across(high):.1f}" y2="{up(high):.1f}" '
        f'stroke="{_INK}" stroke-width="1.2"/>',
        f'<text x="{(_LEFT + _WIDTH - _RIGHT) / 2:g}" y="{_HEIGHT - 16:g}" font-size="13" text-anchor="middle" '
        f'fill="{_INK}">measured {escape(quantity)}, {escape(unit)}</text>',
        f'<text transform="translate(20 {(_TOP + _HEIGHT - _BOTTOM) / 2:g}) rotate(-90)" font-size="13" '
        f'text-anchor="middle" fill="{_INK}">predicted {escape(quantity)}, {escape(unit)}</text>',
    ]
    for mark in marks:
        parts.append(f'<g fill="{mark.colour}" fill-opacity="0.62" stroke="{_PAPER}" stroke-width="0.5">')
        parts += [
            f"{_shape(mark, across(point.measured), up(point.predicted))[:-2]}><title>{escape(point.label)}</title>"
            f"</{'circle' if mark.shape == 'circle' else 'path'}>"
            for point in points
            if point.mark == mark
        ]
        parts.append("</g>")
    return "\n".join([*parts, "</svg>"])


def _shape(mark: Mark, x: float, y: float, size: float = 3.6) -> str:
    """A closed element, such as ``<circle …/>``."""
    if mark.shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:g}"/>'
    corners = {
        "diamond": ((0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0)),
        "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
        "triangle": ((0, -1.3), (1.2, 0.9), (-1.2, 0.9)),
    }[mark.shape]
    path = "L".join(f"{x + size * dx:.1f} {y + size * dy:.1f}" for dx, dy in corners)
    return f'<path d="M{path}Z"/>'


def _legend(marks: Sequence[Mark], points: Sequence[Point]) -> str:
    parts, x = [], _LEFT + 5.0
    for mark in marks:
        words = f"{mark.name} ({sum(point.mark == mark for point in points)})"
        parts.append(f'<g fill="{mark.colour}">{_shape(mark, x, 50.0, 4.6)}</g>')
        parts.append(f'<text x="{x + 11:g}" y="54.5" font-size="12.5" fill="{_INK}">{escape(words)}</text>')
        x += 30.0 + 6.7 * len(words)
    for width, colour in reversed(_BANDS):
        parts.append(
            f'<rect x="{x - 5:g}" y="45" width="14" height="10" fill="{colour}" stroke="{_FAINT}" '
            'stroke-width="0.4"/>'
            f'<text x="{x + 13:g}" y="54.5" font-size="12.5" fill="{_FAINT}">±{width:.0%}</text>'
        )
        x += 62.0
    return "".join(parts)


def _band(low: float, high: float, width: float, colour: str, across: _Scale, up: _Scale) -> str:
    corners = [
        (low, low * (1 - width)),
        (high, high * (1 - width)),
        (high, high * (1 + width)),
        (low, low * (1 + width)),
    ]
    path = "L".join(f"{across(x):.1f} {up(y):.1f}" for x, y in corners)
    return f'<path d="M{path}Z" fill="{colour}"><title>within {width:.0%}</title></path>'


def _ticks(low: float, high: float) -> list[float]:
    """Powers of ten, with 2 and 5 between them where there is room."""
    decades = math.log10(high / low)
    steps = (1.0, 2.0, 5.0) if decades < 3.5 else (1.0,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]


def _axes(low: float, high: float, across: _Scale, up: _Scale) -> list[str]:
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    parts = []
    for tick in _ticks(low, high):
        x, y = across(tick), up(tick)
        parts.append(
            f'<path d="M{x:.1f} {_TOP:g}V{bottom:g}M{_LEFT:g} {y:.1f}H{right:g}" stroke="{_GRID}" stroke-width="1"/>'
            f'<text x="{x:.1f}" y="{bottom + 18:g}" font-size="12" text-anchor="middle" fill="{_FAINT}">{tick:g}</text>'
            f'<text x="{_LEFT - 8:g}" y="{y + 4:.1f}" font-size="12" text-anchor="end" fill="{_FAINT}">{tick:g}</text>'
        )
    frame = f'<path d="M{_LEFT:g} {_TOP:g}V{bottom:g}H{right:g}" fill="none" stroke="{_FAINT}" stroke-width="1"/>'
    return [*parts, frame]


_STYLE = f"""
:root {{ color-scheme: light; }}
body {{ font: 15px/1.5 {_FONT}; color: {_INK}; background: #f6f7f8; margin: 0; }}
main {{ max-width: 76rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }}
h1 {{ font-size: 1.6rem; margin: 0 0 .25rem; }}
h2 {{ font-size: 1.15rem; margin: 2.2rem 0 .5rem; }}
p.lead {{ color: {_FAINT}; margin: 0 0 1.25rem; max-width: 48rem; }}
figure {{ margin: 0; background: {_PAPER}; border: 1px solid {_GRID}; border-radius: 8px; padding: .5rem; }}
figure svg {{ display: block; width: 100%; height: auto; max-width: 52rem; margin: 0 auto; }}
.wide {{ overflow-x: auto; background: {_PAPER}; border: 1px solid {_GRID}; border-radius: 8px; }}
table {{ border-collapse: collapse; width: 100%; font-size: .875rem; }}
th, td {{ text-align: left; padding: .35rem .7rem; border-bottom: 1px solid {_GRID}; vertical-align: top; }}
th {{ position: sticky; top: 0; background: #eef1f4; font-weight: 600; white-space: nowrap; }}
td.n, th.n {{ text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }}
tbody tr:hover {{ background: #f6f8fa; }}
p.note {{ color: {_FAINT}; font-size: .875rem; }}
"""


def page(*, title: str, lead: str, picture: str, sheets: Sequence[Sheet]) -> str:
    """One HTML file that needs no other: a picture and tables."""
    parts = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>",
        f'<h1>{escape(title)}</h1>\n<p class="lead">{escape(lead)}</p>',
        f"<figure>\n{picture}\n</figure>",
        *(_table(sheet) for sheet in sheets),
        "</main>\n</body>\n</html>\n",
    ]
    return "\n".join(parts)


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
        f'<h2>{escape(sheet.title)}</h2>\n{note}<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table></div>"
    )
