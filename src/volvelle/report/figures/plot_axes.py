"""Axes of a plot: a range of one quantity onto a range of pixels, linear or logarithmic, with ticks in one unit."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from volvelle.quantities import FRACTION, Quantity
from volvelle.report.figures.drawing import FAINT, INK, line, words

__all__ = ["PlotAxis", "frame"]

_WIDE = 2.5
"""Highest over lowest value above which an axis is logarithmic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotAxis:
    """One axis; `start` and `end` are pixels of its lowest and highest value."""

    name: str
    kind: Quantity | None
    low: float
    high: float
    start: float
    end: float

    @classmethod
    def over(
        cls,
        values: Sequence[float],
        *,
        name: str,
        kind: Quantity | None,
        start: float,
        end: float,
        margin: float = 0.06,
    ) -> "PlotAxis":
        """An axis that holds some values, with a margin at both ends."""
        low, high = min(values), max(values)
        if low > 0 and high / low > _WIDE:
            grown = (high / low) ** margin
            return cls(name=name, kind=kind, low=low / grown, high=high * grown, start=start, end=end)
        room = (high - low) * margin or abs(high) * 0.1 or 1.0
        return cls(name=name, kind=kind, low=low - room, high=high + room, start=start, end=end)

    @property
    def logarithmic(self) -> bool:
        """Whether equal factors are equally far."""
        return self.low > 0 and self.high / self.low > _WIDE

    def at(self, value: float) -> float:
        """Where a value lies."""
        if self.logarithmic:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    @property
    def unit(self) -> tuple[str, float]:
        """Unit of the ticks and its size."""
        if self.kind is None:
            return "", 1.0
        if self.kind is FRACTION:
            return "%", 0.01
        reach = max(abs(self.low), abs(self.high))
        fitting = [unit for unit in self.kind.written if self.kind.units[unit] <= reach / 2]
        unit = fitting[0] if fitting else self.kind.written[-1]
        return unit, self.kind.units[unit]

    @property
    def title(self) -> str:
        """Name and unit."""
        unit, _ = self.unit
        return f"{self.name}, {unit}" if unit else self.name

    def ticks(self) -> list[tuple[float, str]]:
        """Values to mark, and how they are written."""
        _, size = self.unit
        low, high = self.low / size, self.high / size
        found = _log_ticks(low, high) if self.logarithmic else _linear_ticks(low, high)
        return [(tick * size, f"{tick:,.10g}") for tick in found]


def _linear_ticks(low: float, high: float, *, most: int = 6) -> list[float]:
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(one * power for one in (1.0, 2.0, 2.5, 5.0, 10.0, 20.0) if (high - low) / (one * power) <= most)
    first = math.ceil(low / step - 1e-9)
    return [round(step * place, 12) for place in range(first, math.floor(high / step + 1e-9) + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for heads in ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)):
        found = [head * 10.0**decade for decade in decades for head in heads]
        inside = [float(f"{tick:.6g}") for tick in found if low <= tick <= high]
        if len(inside) >= 4:
            return inside
    return inside or _linear_ticks(low, high)


def frame(across: PlotAxis, up: PlotAxis) -> list[str]:
    """Grid, ticks and titles of two axes."""
    parts = []
    bottom, top = up.start, up.end
    for value, text in across.ticks():
        x = across.at(value)
        parts.append(line(x, top, x, bottom))
        parts.append(words(x, bottom + 17, text, size=12, anchor="middle", fill=FAINT))
    for value, text in up.ticks():
        y = up.at(value)
        parts.append(line(across.start, y, across.end, y))
        parts.append(words(across.start - 8, y + 4, text, size=12, anchor="end", fill=FAINT))
    middle = (across.start + across.end) / 2
    parts.append(words(middle, bottom + 38, across.title, size=13, anchor="middle", fill=INK))
    parts.append(words(across.start - 54, (top + bottom) / 2, up.title, size=13, anchor="middle", turn=-90))
    parts.append(line(across.start, bottom, across.end, bottom, stroke=FAINT))
    parts.append(line(across.start, top, across.start, bottom, stroke=FAINT))
    return parts
