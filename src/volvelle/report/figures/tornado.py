"""A tornado: how far each axis alone moves an objective from the chosen design, the widest on top."""

from collections.abc import Sequence
from dataclasses import dataclass

from volvelle.quantities import Quantity
from volvelle.report.figures.drawing import FAINT, INK, box, line, svg, words
from volvelle.report.figures.plot_axes import PlotAxis

__all__ = ["TornadoBar", "tornado_plot"]

_WIDTH, _LEFT, _RIGHT, _TOP = 760.0, 190.0, 30.0, 88.0
_ROW, _BAR = 40.0, 19.0
_BETTER, _WORSE = "#2f7d5b", "#c8733a"


@dataclass(frozen=True, slots=True, kw_only=True)
class TornadoBar:
    """One axis: the objective's lowest and highest value along it, and the axis's values that give them."""

    name: str
    low: float
    high: float
    low_text: str
    high_text: str
    note: str = ""
    """Said below the name, such as where it cannot run."""


def tornado_plot(
    bars: Sequence[TornadoBar],
    *,
    at: float,
    at_text: str,
    name: str,
    kind: Quantity | None,
    less: bool,
    title: str,
    about: str,
) -> str:
    """The picture around the objective `at` the chosen design."""
    height = _TOP + len(bars) * _ROW + 58.0
    seen = [at, *(bar.low for bar in bars), *(bar.high for bar in bars)]
    axis = PlotAxis.over(seen, name=name, kind=kind, start=_LEFT, end=_WIDTH - _RIGHT, margin=0.14)
    bottom = height - 50.0
    parts = [words(16, 24, title, size=16, bold=True)]
    for x, colour, said in ((16.0, _BETTER, "better than chosen"), (168.0, _WORSE, "worse than chosen")):
        parts += [box(x, 37, 11, 11, fill=colour), words(x + 17, 47, said, size=12.5)]
    for value, text in axis.ticks():
        parts.append(line(axis.at(value), _TOP - 6, axis.at(value), bottom))
        parts.append(words(axis.at(value), bottom + 17, text, size=12, anchor="middle", fill=FAINT))
    middle = axis.at(at)
    for place, bar in enumerate(bars):
        y = _TOP + place * _ROW
        left, right = axis.at(bar.low), axis.at(bar.high)
        parts.append(words(_LEFT - 14, y + (_BAR - 1 if not bar.note else 9), bar.name, size=12.5, anchor="end"))
        if bar.note:
            parts.append(words(_LEFT - 14, y + 23, bar.note, size=10.5, anchor="end", fill=FAINT))
        lower, upper = (_BETTER, _WORSE) if less else (_WORSE, _BETTER)
        parts.append(box(left, y + 4, middle - left, _BAR, fill=lower, title=f"{bar.name}: {bar.low_text}"))
        parts.append(box(middle, y + 4, right - middle, _BAR, fill=upper, title=f"{bar.name}: {bar.high_text}"))
        if middle - left > 0.8:
            parts.append(words(left - 5, y + _BAR - 1, bar.low_text, size=11.5, anchor="end", fill=INK))
        if right - middle > 0.8:
            parts.append(_right_label(right, y, bar.high_text))
        if right - left <= 1.6:
            parts.append(words(middle + 8, y + _BAR - 1, "makes no difference", size=11.5, fill=FAINT))
    parts.append(line(middle, _TOP - 10, middle, bottom, stroke=INK, thick=1.4))
    anchor = "end" if middle > 0.7 * _WIDTH else "middle" if middle > _LEFT + 60 else "start"
    parts.append(words(middle, _TOP - 15, at_text, size=12, anchor=anchor, bold=True))
    parts.append(words((_LEFT + _WIDTH - _RIGHT) / 2, bottom + 39, axis.title, size=13, anchor="middle"))
    return svg(parts, width=_WIDTH, height=height, title=title, about=about)


def _right_label(right: float, y: float, text: str) -> str:
    """Beside the bar, or on its end where there is no room."""
    room = _WIDTH - right - 8.0
    if 6.3 * len(text) <= room:
        return words(right + 5, y + _BAR - 1, text, size=11.5)
    return words(right - 5, y + _BAR - 1, text, size=11.5, anchor="end", fill="#ffffff")
