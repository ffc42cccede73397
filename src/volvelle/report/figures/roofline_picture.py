"""A hierarchical roofline as a picture: one roof for each level that feeds the chip, one mark for each level and part.

As in DFModel, figure 18: the same work has an intensity towards memory and another towards the network, and what binds
is the level whose roof its mark touches.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from volvelle.quantities import BYTES_PER_SECOND, FLOP_PER_SECOND, show

__all__ = ["Level", "Work", "roofline_picture"]

_WIDTH, _HEIGHT = 720.0, 480.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 84.0, 150.0, 70.0, 58.0
_INK, _FAINT, _GRID, _PAPER = "#1f2933", "#5b6770", "#e4e8eb", "#ffffff"
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
_COLOURS = ("#2f6ea5", "#b8690f", "#3b8132", "#b23a48")


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """Something that feeds the chip: its memory, a network."""

    name: str
    rate: float
    """Bytes a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A part of the work, as one level sees it."""

    name: str
    level: str
    flops: float
    bytes: float
    time: float

    @property
    def intensity(self) -> float:
        """FLOP a byte."""
        return self.flops / self.bytes

    @property
    def rate(self) -> float:
        """FLOP a second."""
        return self.flops / self.time


class _Log:
    """From values to pixels, logarithmically."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self.low, self.high = low, high
        self._start, self._each = start, (end - start) / (math.log10(high) - math.log10(low))

    def __call__(self, value: float) -> float:
        return self._start + self._each * (math.log10(value) - math.log10(self.low))

    def decades(self) -> list[float]:
        return [10.0**n for n in range(math.ceil(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)]


def roofline_picture(works: Sequence[Work], levels: Sequence[Level], *, peak: float, title: str) -> str:
    """Both axes logarithmic; work that moves nothing through a level has no mark there."""
    shown = [work for work in works if work.bytes > 0 and work.flops > 0 and work.time > 0]
    ridges = [peak / level.rate for level in levels]
    intensities = [work.intensity for work in shown] + ridges
    across = _Log(min(intensities) / 4, max(intensities) * 4, _LEFT, _WIDTH - _RIGHT)
    rates = [work.rate for work in shown] + [peak, *(level.rate * across.low for level in levels)]
    up = _Log(max(min(rates) / 2, peak / 1e6), peak * 2.5, _HEIGHT - _BOTTOM, _TOP)
    colour = {level.name: _COLOURS[at % len(_COLOURS)] for at, level in enumerate(levels)}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" width="{_WIDTH:g}" '
        f'height="{_HEIGHT:g}" role="img" aria-labelledby="roofline-title roofline-words" font-family="{_FONT}">',
        f'<title id="roofline-title">{escape(title)}</title>',
        f'<desc id="roofline-words">Rate against FLOP a byte, both logarithmic, with a roof for each of '
        f"{escape(', '.join(level.name for level in levels))} and the peak.</desc>",
        f'<rect width="{_WIDTH:g}" height="{_HEIGHT:g}" fill="{_PAPER}"/>',
        f'<text x="{_LEFT:g}" y="28" font-size="17" font-weight="600" fill="{_INK}">{escape(title)}</text>',
        *_axes(across, up),
        *(_roof(level, across, up, peak, colour[level.name]) for level in levels),
        f'<text x="{_WIDTH - _RIGHT + 6:g}" y="{up(peak) + 4:.1f}" font-size="11.5" fill="{_INK}">'
        f"peak {escape(show(peak, FLOP_PER_SECOND))}</text>",
        *_legend(levels, colour),
        *(_mark(work, across, up, colour[work.level]) for work in shown),
    ]
    return "\n".join([*parts, "</svg>"])


def _axes(across: _Log, up: _Log) -> list[str]:
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    parts = []
    for value in across.decades():
        x = across(value)
        parts.append(f'<line x1="{x:.1f}" y1="{_TOP:g}" x2="{x:.1f}" y2="{bottom:g}" stroke="{_GRID}"/>')
        parts.append(
            f'<text x="{x:.1f}" y="{bottom + 18:g}" font-size="11.5" text-anchor="middle" fill="{_FAINT}">'
            f"{value:,.10g}</text>"
        )
    for value in up.decades():
        y = up(value)
        parts.append(f'<line x1="{_LEFT:g}" y1="{y:.1f}" x2="{right:g}" y2="{y:.1f}" stroke="{_GRID}"/>')
        parts.append(
            f'<text x="{_LEFT - 8:g}" y="{y + 4:.1f}" font-size="11.5" text-anchor="end" fill="{_FAINT}">'
            f"{escape(show(value, FLOP_PER_SECOND))}</text>"
        )
    middle = (_LEFT + right) / 2
    parts.append(
        f'<text x="{middle:g}" y="{_HEIGHT - 16:g}" font-size="13" text-anchor="middle" fill="{_INK}">'
        "intensity, FLOP a byte</text>"
    )
    parts.append(
        f'<rect x="{_LEFT:g}" y="{_TOP:g}" width="{right - _LEFT:g}" height="{bottom - _TOP:g}" fill="none" '
        f'stroke="{_FAINT}"/>'
    )
    return parts


def _roof(level: Level, across: _Log, up: _Log, peak: float, colour: str) -> str:
    start = max(across.low, up.low / level.rate)
    ridge = min(max(peak / level.rate, start), across.high)
    return (
        f'<path d="M{across(start):.1f} {up(start * level.rate):.1f}L{across(ridge):.1f} {up(ridge * level.rate):.1f}'
        f'L{across(across.high):.1f} {up(min(peak, level.rate * across.high)):.1f}" fill="none" stroke="{colour}" '
        'stroke-width="1.8"/>'
    )


def _legend(levels: Sequence[Level], colour: dict[str, str]) -> list[str]:
    parts, x = [], _LEFT
    for level in levels:
        words = f"{level.name}, {show(level.rate, BYTES_PER_SECOND)}"
        parts.append(
            f'<line x1="{x:g}" y1="49" x2="{x + 18:g}" y2="49" stroke="{colour[level.name]}" stroke-width="2.4"/>'
        )
        parts.append(f'<text x="{x + 24:g}" y="53" font-size="12" fill="{_INK}">{escape(words)}</text>')
        x += 44.0 + 6.8 * len(words)
    return parts


def _mark(work: Work, across: _Log, up: _Log, colour: str) -> str:
    x, y = across(work.intensity), up(work.rate)
    return (
        f"<g><title>{escape(work.name)} towards {escape(work.level)}: {work.intensity:.3g} FLOP a byte, "
        f"{escape(show(work.rate, FLOP_PER_SECOND))}</title>"
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="8" fill="{colour}" fill-opacity="0.85" stroke="{_PAPER}"/>'
        f'<text x="{x:.1f}" y="{y + 3.6:.1f}" font-size="10" font-weight="700" text-anchor="middle" fill="{_PAPER}">'
        f"{escape(work.name)}</text></g>"
    )
