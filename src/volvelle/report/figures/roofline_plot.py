"""A hierarchical roofline: one roof for each resource, every mapping at its intensity to each, logged and ours."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from volvelle.report.figures.drawing import FAINT, INK, PAPER, line, powers, svg, words

__all__ = ["Roof", "RoofPoint", "roofline"]

_WIDTH, _HEIGHT = 720.0, 500.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 70.0, 34.0, 40.0, 54.0
_COLOURS = ("#1d6fa5", "#c2410c", "#5f8d2e", "#6d3fb0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Roof:
    """A resource: bytes a second, by which the rate is bounded at low intensity."""

    name: str
    rate: float
    square: bool
    """Whether points at its intensities are squares; else they are circles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoofPoint:
    """A mapping: rate achieved, and FLOP for every byte of each resource, in the order of the roofs."""

    name: str
    rate: float
    intensities: tuple[float, ...]
    logged_rate: float
    logged_intensities: tuple[float, ...]


class _Axes:
    def __init__(self, low: tuple[float, float], high: tuple[float, float]) -> None:
        self.low, self.high = low, high

    def x(self, value: float) -> float:
        share = math.log(value / self.low[0]) / math.log(self.high[0] / self.low[0])
        return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        share = math.log(value / self.low[1]) / math.log(self.high[1] / self.low[1])
        return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)


def roofline(points: Sequence[RoofPoint], roofs: Sequence[Roof], *, peak: float, title: str, about: str) -> str:
    """The picture; rates in FLOP/s are shown in TFLOP/s."""
    axes = _Axes((100.0, 10e12), (100_000.0, 1000e12))
    parts = [words(_LEFT, 24, title, size=16, bold=True), *_grid(axes)]
    for roof in roofs:
        parts += _roof(roof, peak, axes)
    ridge = min(peak / roof.rate for roof in roofs)
    parts.append(line(axes.x(ridge), axes.y(peak), axes.x(axes.high[0]), axes.y(peak), stroke=INK, thick=1.8))
    said = f"peak {peak / 1e12:.1f} TFLOP/s"
    parts.append(words(axes.x(axes.high[0]) - 4, axes.y(peak) - 7, said, size=12, anchor="end"))
    for number, point in enumerate(points, 1):
        parts += _point(point, roofs, number, axes)
    parts += _legend(points, roofs)
    return svg(parts, width=_WIDTH, height=_HEIGHT, title=title, about=about)


def _grid(axes: _Axes) -> list[str]:
    parts = []
    bottom = _HEIGHT - _BOTTOM
    for tick in powers(axes.low[0], axes.high[0]):
        parts.append(line(axes.x(tick), _TOP, axes.x(tick), bottom))
        parts.append(words(axes.x(tick), bottom + 17, f"{tick:,.0f}", size=12, anchor="middle", fill=FAINT))
    for tick in (10e12, 20e12, 50e12, 100e12, 200e12, 500e12, 1000e12):
        parts.append(line(_LEFT, axes.y(tick), _WIDTH - _RIGHT, axes.y(tick)))
        parts.append(words(_LEFT - 8, axes.y(tick) + 4, f"{tick / 1e12:g}", size=12, anchor="end", fill=FAINT))
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(words(middle, _HEIGHT - 12, "operational intensity, FLOP per byte", size=13, anchor="middle"))
    parts.append(words(20, (_TOP + bottom) / 2, "rate of a chip, TFLOP/s", size=13, anchor="middle", turn=-90))
    return parts


def _roof(roof: Roof, peak: float, axes: _Axes) -> list[str]:
    low = max(axes.low[0], axes.low[1] / roof.rate)
    ridge = peak / roof.rate
    x1, y1, x2, y2 = axes.x(low), axes.y(low * roof.rate), axes.x(ridge), axes.y(peak)
    turn = math.degrees(math.atan2(y2 - y1, x2 - x1))
    at = low * (ridge / low) ** 0.62
    label = f"{roof.name}, {roof.rate / 1e9:g} GB/s"
    return [
        line(x1, y1, x2, y2, stroke=INK, thick=1.8),
        words(axes.x(at) - 6, axes.y(at * roof.rate) - 7, label, size=12, anchor="middle", turn=turn),
    ]


def _shape(x: float, y: float, colour: str, *, square: bool, hollow: bool) -> str:
    size = 6.2 if hollow else 3.8
    fill, edge = ("none", colour) if hollow else (colour, PAPER)
    thick = 1.7 if hollow else 0.7
    if square:
        side = 2 * size * 0.9
        return (
            f'<rect x="{x - side / 2:.1f}" y="{y - side / 2:.1f}" width="{side:.1f}" height="{side:.1f}" '
            f'fill="{fill}" stroke="{edge}" stroke-width="{thick}"/>'
        )
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" fill="{fill}" stroke="{edge}" stroke-width="{thick}"/>'


def _point(point: RoofPoint, roofs: Sequence[Roof], number: int, axes: _Axes) -> list[str]:
    colour, parts = _COLOURS[(number - 1) % len(_COLOURS)], []
    ends = [axes.x(one) for one in point.intensities]
    # Both intensities of a mapping lie at one rate; a thin line says that they belong together.
    parts.append(line(min(ends), axes.y(point.rate), max(ends), axes.y(point.rate), stroke=colour, dash="2 4"))
    for place, roof in enumerate(roofs):
        x, y = axes.x(point.intensities[place]), axes.y(point.rate)
        logged = axes.x(point.logged_intensities[place]), axes.y(point.logged_rate)
        parts.append(_shape(*logged, colour, square=roof.square, hollow=True))
        parts.append(_shape(x, y, colour, square=roof.square, hollow=False))
        right = max(x, logged[0]) + 10
        parts.append(words(right, y + 14, str(number), size=12, fill=colour, bold=True))
    return parts


def _legend(points: Sequence[RoofPoint], roofs: Sequence[Roof]) -> list[str]:
    lines = len(points) + len(roofs)
    wide, high = 244.0, 18.0 * lines + 12
    x, y = _LEFT + 8, _TOP + 8
    parts = [
        f'<rect x="{x:g}" y="{y:g}" width="{wide:g}" height="{high:g}" fill="{PAPER}" stroke="{FAINT}" '
        'stroke-width="0.6"/>'
    ]
    y += 18
    for number, point in enumerate(points, 1):
        colour = _COLOURS[(number - 1) % len(_COLOURS)]
        parts.append(words(x + 14, y, str(number), size=12, fill=colour, bold=True))
        parts.append(words(x + 34, y, point.name, size=12))
        y += 18
    for roof in roofs:
        parts.append(_shape(x + 12, y - 4, FAINT, square=roof.square, hollow=True))
        parts.append(_shape(x + 28, y - 4, FAINT, square=roof.square, hollow=False))
        parts.append(words(x + 42, y, f"by {roof.name}: logged, ours", size=12))
        y += 18
    return parts
