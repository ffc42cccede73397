"""Stacked bars in groups, with a hollow mark for what was logged and a filled one for ours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from volvelle.report.figures.drawing import FAINT, GRID, INK, box, line, mark, nice_ticks, svg, words

__all__ = ["Bar", "BarGroup", "BarPanel", "Slot", "bar_chart"]

_LEFT, _RIGHT, _HEAD = 62.0, 12.0, 34.0
_LINE, _LETTER = 14.0, 6.4
"""Height of a line of labels, and width of a letter of those written upwards."""
_GROUP_GAP = 0.9
"""Between groups, in widths of a slot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """Parts upon each other, and marks on the same scale."""

    parts: tuple[tuple[str, float], ...]
    """Name, which gives the colour, and value."""
    logged: float | None = None
    ours: float | None = None
    """Marked apart, where it is not the height of the bar."""
    title: str = ""
    text: str = ""
    """Written above it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A place on the axis with one bar or several side by side."""

    label: str
    """May have several lines."""
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BarGroup:
    """Slots under one name."""

    label: str
    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BarPanel:
    """One pair of axes."""

    title: str
    groups: tuple[BarGroup, ...]


def bar_chart(
    panels: Sequence[BarPanel],
    *,
    title: str,
    about: str,
    y_title: str,
    x_title: str,
    colours: Mapping[str, str],
    marks: Mapping[bool, str],
    across: int = 1,
    size: tuple[float, float] = (860.0, 300.0),
    top: float | None = None,
    percent: bool = False,
    turned: bool = False,
) -> str:
    """The picture; `marks` says what a hollow (True) and a filled mark is, `turned` writes slots' labels upwards."""
    wide, high = size
    width, down = across * wide, -(-len(panels) // across)
    keys, key_lines = _keys(colours, marks, width)
    begin = 40.0 + 20.0 * key_lines
    parts = [words(_LEFT, 24, title, size=16, bold=True), *keys]
    found = top or 1.04 * max(
        value
        for panel in panels
        for group in panel.groups
        for slot in group.slots
        for bar in slot.bars
        for value in (sum(one for _, one in bar.parts), bar.logged or 0.0, bar.ours or 0.0)
    )
    for place, panel in enumerate(panels):
        x, y = place % across * wide, begin + place // across * high
        parts += _panel(panel, x, y, wide, high, found, colours, y_title, percent=percent, turned=turned)
    height = begin + down * high + (22.0 if x_title else 4.0)
    if x_title:
        parts.append(words((width + _LEFT) / 2, height - 8, x_title, size=12.5, anchor="middle"))
    return svg(parts, width=width, height=height, title=title, about=about)


def _keys(colours: Mapping[str, str], marks: Mapping[bool, str], width: float) -> tuple[list[str], int]:
    """What colours and marks mean, in as many lines as it takes."""
    parts, x, y, lines = list[str](), _LEFT, 46.0, 1
    named = [(name, colour, None) for name, colour in colours.items()]
    for name, colour, hollow in (*named, *((said, INK, kind) for kind, said in marks.items())):
        taken = 36.0 + 6.8 * len(name)
        if x + taken > width and x > _LEFT:
            x, y, lines = _LEFT, y + 20.0, lines + 1
        if hollow is None:
            parts.append(box(x, y - 9, 11, 11, fill=colour))
        else:
            parts.append(mark(x + 5, y - 4, hollow=hollow))
        parts.append(words(x + 17, y, name, size=12))
        x += taken
    return parts, lines


def _panel(
    panel: BarPanel,
    x: float,
    y: float,
    wide: float,
    high: float,
    top: float,
    colours: Mapping[str, str],
    y_title: str,
    *,
    percent: bool,
    turned: bool,
) -> list[str]:
    left, right, head = x + _LEFT, x + wide - _RIGHT, y + (_HEAD if panel.title else 12.0)
    labels = [slot.label for group in panel.groups for slot in group.slots]
    room = _room(labels, turned=turned)
    foot = y + high - room - 30.0
    ticks = nice_ticks(top, most=5)
    scale = (foot - head) / max(top, ticks[-1] if ticks[-1] <= top * 1.1 else top)
    parts = [words(left, y + 20, panel.title, size=13, bold=True)] if panel.title else []
    for tick in ticks:
        at = foot - tick * scale
        if at < head - 1:
            continue
        parts.append(line(left, at, right, at))
        shown = f"{tick:.0%}" if percent else f"{tick:g}"
        parts.append(words(left - 7, at + 4, shown, size=11.5, anchor="end", fill=FAINT))
    parts.append(words(x + 15, (head + foot) / 2, y_title, size=12.5, anchor="middle", turn=-90))
    slots = sum(len(group.slots) for group in panel.groups) + _GROUP_GAP * len(panel.groups)
    step = (right - left) / slots
    at = left + _GROUP_GAP / 2 * step
    for group in panel.groups:
        begun = at
        for slot in group.slots:
            parts += _slot(slot, at, step, foot, scale, colours, turned=turned)
            at += step
        middle, below = (begun + at) / 2, foot + room + 4
        parts.append(line(begun + 2, below, at - 2, below, stroke=FAINT))
        parts.append(words(middle, below + 14, group.label, size=12, anchor="middle"))
        at += _GROUP_GAP * step
    parts.append(line(left, foot, right, foot, stroke=FAINT))
    return parts


def _room(labels: Sequence[str], *, turned: bool) -> float:
    """Height that the labels of slots take."""
    if turned:
        return 8.0 + _LETTER * max(len(label) for label in labels)
    return 6.0 + _LINE * max(label.count("\n") + 1 for label in labels)


def _slot(
    slot: Slot, at: float, step: float, foot: float, scale: float, colours: Mapping[str, str], *, turned: bool
) -> list[str]:
    parts, room = [], step * 0.84
    wide = room / len(slot.bars)
    for number, bar in enumerate(slot.bars):
        x, y = at + (step - room) / 2 + number * wide, foot
        for name, value in bar.parts:
            y -= value * scale
            said = f"{bar.title}: {name} {value:.4g}" if bar.title else f"{name} {value:.4g}"
            parts.append(box(x + 0.4, y, wide - 0.8, value * scale, fill=colours[name], title=said))
        middle = x + wide / 2
        size = max(2.6, min(4.2, wide * 0.36))
        if bar.logged is not None:
            parts.append(
                mark(middle, foot - bar.logged * scale, hollow=True, size=size, title=f"logged {bar.logged:.4g}")
            )
        if bar.ours is not None:
            parts.append(mark(middle, foot - bar.ours * scale, hollow=False, size=size, title=f"ours {bar.ours:.4g}"))
        if bar.text:
            above = min(y, foot - (bar.logged or 0.0) * scale)
            parts.append(words(middle, above - 9, bar.text, size=12, anchor="middle"))
    if turned:
        parts.append(words(at + step / 2 + 4, foot + 6, slot.label, size=10.5, anchor="end", fill=FAINT, turn=-90))
    else:
        parts += [
            words(at + step / 2, foot + 15 + _LINE * place, text, size=11.5, anchor="middle", fill=FAINT)
            for place, text in enumerate(slot.label.split("\n"))
        ]
    return [*parts, line(at + step / 2, foot, at + step / 2, foot + 3, stroke=GRID)]
