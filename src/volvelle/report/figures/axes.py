"""What lies along an axis: a quantity in one unit, on a scale that is logarithmic where values are far apart."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from volvelle.quantities import FRACTION, Quantity
from volvelle.report.figures.engine import alt, marks_of
from volvelle.report.figures.theme import RUST, haloed

NUMBERS = ",.10~g"
"""How ticks are written: 0.25, 10, 25,000."""
_FAR_APART = 2.5
"""Highest over lowest value above which an axis is logarithmic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A quantity along an axis, in the unit that suits its values."""

    name: str
    low: float
    high: float
    kind: Quantity | None = None

    @classmethod
    def over(
        cls, values: Sequence[float], *, name: str, kind: Quantity | None = None, margin: float = 0.0
    ) -> "Measure":
        """One that holds some values, with a margin at both ends, a share of their span."""
        low, high = min(values), max(values)
        if low > 0 and high / low > _FAR_APART:
            grown = (high / low) ** margin
            return cls(name=name, kind=kind, low=low / grown, high=high * grown)
        room = (high - low) * margin or (abs(high) * 0.1 or 1.0 if margin else 0.0)
        return cls(name=name, kind=kind, low=low - room, high=high + room)

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

    def of(self, value: float) -> float:
        """A value in the axis' unit."""
        return value / self.unit[1]

    @property
    def ends(self) -> tuple[float, float]:
        """Lowest and highest value of the axis, in its unit."""
        return self.of(self.low), self.of(self.high)

    @property
    def logarithmic(self) -> bool:
        """Whether equal factors are equally far: where the highest is far above the lowest."""
        return self.low > 0 and self.high / self.low > _FAR_APART

    def share(self, value: float) -> float:
        """Where a value lies between the ends, for labels that need room."""
        if self.logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    @property
    def scale(self) -> Any:
        """For a chart."""
        return alt.Scale(type="log" if self.logarithmic else "linear", domain=list(self.ends), nice=False, zero=False)

    def axis(self, **more: object) -> Any:
        """Ticks and title."""
        return alt.Axis(title=self.title, format=NUMBERS, tickCount=6, **more)


def placed(across: Measure, up: Measure) -> dict[str, Any]:
    """Where marks lie whose rows have an `x` and a `y`."""
    return {
        "x": alt.X("x:Q").scale(across.scale).axis(across.axis()),
        "y": alt.Y("y:Q").scale(up.scale).axis(up.axis()),
    }


def ringed(x: float, y: float, label: str, across: Measure, up: Measure, *, size: float, dy: float) -> list[Any]:
    """A ring with its label, to the side that has room."""
    mark = marks_of([{"x": across.of(x), "y": up.of(y), "label": label}]).encode(**placed(across, up))
    side = {"align": "left", "dx": 11} if across.share(x) < 0.5 else {"align": "right", "dx": -11}
    return [
        mark.mark_point(filled=False, size=size, stroke=RUST, strokeWidth=2.2, opacity=1),
        *haloed(mark.encode(text="label:N"), colour=RUST, dy=dy, fontSize=12.5, fontWeight="bold", **side),
    ]
