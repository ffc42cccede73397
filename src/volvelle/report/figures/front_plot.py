"""A Pareto front as a picture: the cloud of points that run, the front as a stair, the chosen designs marked."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from volvelle.quantities import Quantity
from volvelle.report.figures.drawing import FAINT, INK, PAPER, svg, words
from volvelle.report.figures.plot_axes import PlotAxis, frame

__all__ = ["FrontAxis", "FrontMark", "front_plot"]

_WIDTH, _HEIGHT = 760.0, 480.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 78.0, 26.0, 74.0, 56.0
_FRONT, _CLOUD, _CHOSEN = "#0f5c8c", "#aebbc5", "#c2410c"


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontAxis:
    """An objective on an axis."""

    name: str
    kind: Quantity | None
    less: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMark:
    """A design that is pointed out."""

    label: str
    x: float
    y: float
    title: str = ""


def front_plot(
    cloud: Sequence[tuple[float, float]],
    front: Sequence[tuple[float, float, str]],
    marks: Sequence[FrontMark],
    *,
    x: FrontAxis,
    y: FrontAxis,
    title: str,
    about: str,
    stair: bool = True,
) -> str:
    """The picture; `front` points have words for the pointer, `stair` joins them where there are two objectives."""
    seen = [*cloud, *((one[0], one[1]) for one in front)]
    across = PlotAxis.over([one[0] for one in seen], name=x.name, kind=x.kind, start=_LEFT, end=_WIDTH - _RIGHT)
    up = PlotAxis.over([one[1] for one in seen], name=y.name, kind=y.kind, start=_HEIGHT - _BOTTOM, end=_TOP)
    parts = [words(_LEFT, 24, title, size=16, bold=True), *_legend(x, y, stair=stair), *frame(across, up)]
    dots = "".join(f"M{across.at(a):.1f} {up.at(b):.1f}h0" for a, b in cloud)
    if dots:
        parts.append(
            f'<path d="{dots}" fill="none" stroke="{_CLOUD}" stroke-width="3.2" stroke-linecap="round" opacity="0.55"/>'
        )
    if stair and len(front) > 1:
        parts.append(_stair(front, across, up, x))
    for a, b, said in front:
        parts.append(
            f'<circle cx="{across.at(a):.1f}" cy="{up.at(b):.1f}" r="3.1" fill="{_FRONT}" stroke="{PAPER}" '
            f'stroke-width="0.7"><title>{escape(said)}</title></circle>'
        )
    for place, mark in enumerate(marks):
        parts += _mark(mark, across, up, place)
    return svg(parts, width=_WIDTH, height=_HEIGHT, title=title, about=about)


def _stair(front: Sequence[tuple[float, float, str]], across: PlotAxis, up: PlotAxis, x: FrontAxis) -> str:
    """Every corner is what the front guarantees: no point lies on its better side."""
    ordered = sorted(((one[0], one[1]) for one in front), reverse=not x.less)
    first, *others = ordered
    path = f"M{across.at(first[0]):.1f} {up.at(first[1]):.1f}"
    for a, b in others:
        path += f"H{across.at(a):.1f}V{up.at(b):.1f}"
    return f'<path d="{path}" fill="none" stroke="{_FRONT}" stroke-width="1.6" stroke-linejoin="round"/>'


def _mark(mark: FrontMark, across: PlotAxis, up: PlotAxis, place: int) -> list[str]:
    x, y = across.at(mark.x), up.at(mark.y)
    right = x < (_LEFT + _WIDTH) * 0.55
    anchor, step = ("start", 12.0) if right else ("end", -12.0)
    # The first label above its point, the second below, so that neighbours do not meet.
    lift = -10.0 if place % 2 == 0 and y > _TOP + 24 else 20.0
    ring = (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="7" fill="none" stroke="{_CHOSEN}" stroke-width="2.2">'
        f"<title>{escape(mark.title or mark.label)}</title></circle>"
    )
    halo = words(x + step, y + lift, mark.label, size=12.5, anchor=anchor, bold=True, fill=_CHOSEN)
    under = halo.replace("<text ", f'<text stroke="{PAPER}" stroke-width="4" stroke-linejoin="round" ', 1)
    return [ring, under, halo]


def _legend(x: FrontAxis, y: FrontAxis, *, stair: bool) -> list[str]:
    better = f"better is {'down' if y.less else 'up'} and to the {'left' if x.less else 'right'}"
    second = _LEFT + (181 if stair else 231)
    return [
        f'<circle cx="{_LEFT + 5:g}" cy="46" r="3.1" fill="{_FRONT}"/>',
        words(_LEFT + 15, 50, "on the front" + ("" if stair else " (of all objectives)"), size=12.5),
        f'<circle cx="{second:g}" cy="46" r="2" fill="{_CLOUD}"/>',
        words(second + 10, 50, "other points (some of them)", size=12.5, fill=INK),
        words(_WIDTH - _RIGHT, 50, better, size=12.5, anchor="end", fill=FAINT),
    ]
