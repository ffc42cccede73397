"""Pieces of a picture, as SVG written by hand: words, boxes, lines, marks, ticks."""

import math
from html import escape

__all__ = ["FAINT", "FONT", "GRID", "INK", "PAPER", "box", "line", "mark", "nice_ticks", "powers", "svg", "words"]

INK, FAINT, GRID, PAPER = "#1f2933", "#5b6770", "#e4e8eb", "#ffffff"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def svg(parts: list[str], *, width: float, height: float, title: str, about: str) -> str:
    """The whole picture on a white sheet; `about` is read out where it cannot be seen."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img" aria-label="{escape(title)}" font-family="{FONT}">'
        f"<title>{escape(title)}</title><desc>{escape(about)}</desc>"
        f'<rect width="{width:g}" height="{height:g}" fill="{PAPER}"/>'
    )
    return "\n".join([head, *parts, "</svg>"]) + "\n"


def words(
    x: float,
    y: float,
    text: str,
    *,
    size: float = 12.0,
    anchor: str = "start",
    fill: str = INK,
    bold: bool = False,
    turn: float = 0.0,
) -> str:
    """A line of text."""
    where = f'transform="translate({x:.1f} {y:.1f}) rotate({turn:g})"' if turn else f'x="{x:.1f}" y="{y:.1f}"'
    weight = ' font-weight="600"' if bold else ""
    return f'<text {where} font-size="{size:g}" text-anchor="{anchor}" fill="{fill}"{weight}>{escape(text)}</text>'


def box(
    x: float, y: float, width: float, height: float, *, fill: str, stroke: str = "", thick: float = 1.0, title: str = ""
) -> str:
    """A rectangle, with words for the pointer."""
    edge = f' stroke="{stroke}" stroke-width="{thick:g}"' if stroke else ""
    shape = f'<rect x="{x:.2f}" y="{y:.2f}" width="{max(width, 0.0):.2f}" height="{max(height, 0.0):.2f}" fill="{fill}"'
    return f"{shape}{edge}><title>{escape(title)}</title></rect>" if title else f"{shape}{edge}/>"


def line(x1: float, y1: float, x2: float, y2: float, *, stroke: str = GRID, thick: float = 1.0, dash: str = "") -> str:
    """A straight line."""
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}" '
        f'stroke-width="{thick:g}"{dashed}/>'
    )


def mark(x: float, y: float, *, hollow: bool, colour: str = INK, size: float = 4.0, title: str = "") -> str:
    """A hollow ring for what was logged, a filled dot for ours."""
    said = f"<title>{escape(title)}</title>" if title else ""
    if hollow:
        # A white ring beneath keeps it apart from whatever it lies on.
        under = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:g}" fill="none" stroke="{PAPER}" stroke-width="3.4"/>'
        ring = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:g}" fill="none" stroke="{colour}" stroke-width="1.6">'
        return f"{under}{ring}{said}</circle>"
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size * 0.62:.2f}" fill="{colour}" stroke="{PAPER}" '
        f'stroke-width="0.6">{said}</circle>'
    )


def nice_ticks(top: float, *, most: int = 6) -> list[float]:
    """From zero to at least `top`, in steps of 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(top / most))
    step = next(one * power for one in (1.0, 2.0, 2.5, 5.0, 10.0, 20.0) if top / (one * power) <= most)
    return [step * place for place in range(math.ceil(top / step - 1e-9) + 1)]


def powers(low: float, high: float) -> list[float]:
    """Powers of ten between two values."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    return [10.0**power for power in range(first, last + 1)]
