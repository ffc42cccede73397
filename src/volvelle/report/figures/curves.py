"""A line chart as SVG, written by hand: a few named curves over one axis, and measured points."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["ChartLine", "ChartPoint", "line_chart"]

_WIDTH, _HEIGHT = 760.0, 480.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 78.0, 24.0, 92.0, 62.0
_INK, _FAINT, _GRID, _PAPER = "#1f2933", "#5b6770", "#e4e8eb", "#ffffff"
_COLOURS = ("#7a8f9c", "#1d6fa5", "#c2410c", "#6d3fb0")
_DASHES = ("6 4", "", "2 3", "8 3 2 3")
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartLine:
    """A curve."""

    name: str
    xs: tuple[float, ...]
    ys: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartPoint:
    """A measured point."""

    name: str
    x: float
    y: float


def line_chart(lines: Sequence[ChartLine], points: Sequence[ChartPoint], *, title: str, across: str, up: str) -> str:
    """An SVG picture with both axes from zero; curves differ in dashes as well as in colour."""
    right = max([x for line in lines for x in line.xs] + [point.x for point in points])
    top = max([y for line in lines for y in line.ys] + [point.y for point in points]) * 1.08
    wide, high = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def at(x: float, y: float) -> tuple[float, float]:
        return _LEFT + wide * x / right, _HEIGHT - _BOTTOM - high * y / top

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" width="{_WIDTH:g}" '
        f'height="{_HEIGHT:g}" role="img" aria-labelledby="chart-title" font-family="{_FONT}">',
        f'<title id="chart-title">{escape(title)}</title>',
        f'<rect width="{_WIDTH:g}" height="{_HEIGHT:g}" fill="{_PAPER}"/>',
        f'<text x="{_LEFT:g}" y="28" font-size="17" font-weight="600" fill="{_INK}">{escape(title)}</text>',
    ]
    for tick in _ticks(right):
        x, bottom = at(tick, 0.0)
        parts.append(
            f'<path d="M{x:.1f} {_TOP:g}V{bottom:g}" stroke="{_GRID}"/>'
            f'<text x="{x:.1f}" y="{bottom + 18:g}" font-size="12" text-anchor="middle" fill="{_FAINT}">{tick:g}</text>'
        )
    for tick in _ticks(top):
        left, y = at(0.0, tick)
        parts.append(
            f'<path d="M{left:g} {y:.1f}H{_WIDTH - _RIGHT:g}" stroke="{_GRID}"/>'
            f'<text x="{left - 8:g}" y="{y + 4:.1f}" font-size="12" text-anchor="end" fill="{_FAINT}">{tick:g}</text>'
        )
    legend = _LEFT
    for index, line in enumerate(lines):
        colour, dash = _COLOURS[index % len(_COLOURS)], _DASHES[index % len(_DASHES)]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in (at(*pair) for pair in zip(line.xs, line.ys, strict=True)))
        stroke = f'fill="none" stroke="{colour}" stroke-width="2.2" stroke-dasharray="{dash}"'
        parts.append(f'<path d="M{path}" {stroke}><title>{escape(line.name)}</title></path>')
        parts.append(f'<path d="M{legend:g} 54H{legend + 30:g}" {stroke}/>')
        parts.append(f'<text x="{legend + 36:g}" y="58.5" font-size="12.5" fill="{_INK}">{escape(line.name)}</text>')
        legend += 60.0 + 6.8 * len(line.name)
    legend = _LEFT
    for point in points:
        x, y = at(point.x, point.y)
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{_INK}"><title>{escape(point.name)}</title></circle>'
            f'<circle cx="{legend + 15:g}" cy="76" r="5" fill="{_INK}"/>'
            f'<text x="{legend + 36:g}" y="80.5" font-size="12.5" fill="{_INK}">{escape(point.name)}</text>'
        )
        legend += 60.0 + 6.8 * len(point.name)
    parts += [
        f'<path d="M{_LEFT:g} {_TOP:g}V{_HEIGHT - _BOTTOM:g}H{_WIDTH - _RIGHT:g}" fill="none" stroke="{_FAINT}"/>',
        f'<text x="{_LEFT + wide / 2:g}" y="{_HEIGHT - 16:g}" font-size="13" text-anchor="middle" '
        f'fill="{_INK}">{escape(across)}</text>',
        f'<text transform="translate(20 {_TOP + high / 2:g}) rotate(-90)" font-size="13" text-anchor="middle" '
        f'fill="{_INK}">{escape(up)}</text>',
        "</svg>",
    ]
    return "\n".join(parts)


def _ticks(end: float) -> list[float]:
    """Round steps from zero, six or so."""
    step = 10.0 ** len(str(int(end / 6))) / 10.0 if end >= 6 else 1.0
    step = next(step * factor for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if end / (step * factor) <= 8)
    return [step * index for index in range(int(end / step) + 1)]
