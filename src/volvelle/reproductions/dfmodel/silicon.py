"""Figure 9 of the DFModel paper: power and price of silicon grow faster than what it computes."""

from dataclasses import dataclass
from itertools import combinations
from math import log
from typing import Any

import numpy as np

from volvelle.catalogue import Catalogue
from volvelle.catalogue.prices import PriceBook
from volvelle.catalogue.published.dfmodel import DfModel, PublishedAccelerator
from volvelle.laws.machine_cost import logic_power, logic_price, silicon_power
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.log_panels import LogPanel, log_panels
from volvelle.report.figures.theme import WIDE
from volvelle.reproductions.dfmodel.machine import given

_LAW, _CURVE = "line of least squares", "curve of the caption"
_PETA = 1e15
_KINDS = ("power", "price")


@dataclass(frozen=True, slots=True, kw_only=True)
class SiliconLaw:
    """A quantity of a chip that grows as a power of what the chip computes."""

    kind: str
    exponent: float
    """Of least squares through the logarithms of the points."""
    low: float
    """The least exponent of any two points, and the greatest."""
    high: float
    used: float
    """What the price book has, and studies use."""
    at_one: float
    """Dollars or watts of a chip of 1 PFLOP/s by the line through the points."""

    def at(self, rate: float) -> float:
        """Of a chip of that rate."""
        if self.kind == "price":
            return float(logic_price(1.0, chip_price=self.at_one, logic=rate / _PETA, exponent=self.exponent))
        return float(logic_power(1.0, chip_power=self.at_one, logic=rate / _PETA, exponent=self.exponent))


@dataclass(frozen=True, slots=True, kw_only=True)
class Silicon:
    """The points and both laws."""

    chips: tuple[PublishedAccelerator, ...]
    laws: tuple[SiliconLaw, ...]


def solve_silicon(data: DfModel) -> Silicon:
    """Fit the laws to the chips of the design space, each without its memory."""
    keys = dict.fromkeys(point.accelerator for point in data.design_space)
    chips = tuple(sorted((data.accelerator(key) for key in keys), key=lambda chip: chip.rate))
    book = PriceBook(Catalogue()).figures
    return Silicon(chips=chips, laws=tuple(_law(kind, chips, book[f"logic.{kind}_exponent"].value) for kind in _KINDS))


def _law(kind: str, chips: tuple[PublishedAccelerator, ...], used: float) -> SiliconLaw:
    places = [(log(chip.rate / _PETA), log(given(getattr(chip, kind)))) for chip in chips]
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in combinations(places, 2)]
    exponent, level = np.polyfit([x for x, _ in places], [y for _, y in places], 1)
    return SiliconLaw(
        kind=kind,
        exponent=float(exponent),
        low=min(slopes),
        high=max(slopes),
        used=used,
        at_one=float(np.exp(level)),
    )


def silicon_document(found: Silicon) -> dict[str, Any]:
    """What JSON says of it."""
    by_kind = {law.kind: law for law in found.laws}
    return {
        "laws": [
            {"kind": law.kind, "exponent": law.exponent, "low": law.low, "high": law.high, "used": law.used}
            for law in found.laws
        ],
        "rows": [
            {
                "accelerator": chip.title,
                "rate_flops": chip.rate,
                "power_w": given(chip.power),
                "law_power_w": by_kind["power"].at(chip.rate),
                "curve_power_w": float(silicon_power(chip.rate)),
                "price_usd": given(chip.price),
                "law_price_usd": by_kind["price"].at(chip.rate),
            }
            for chip in found.chips
        ],
    }


def silicon_picture(found: Silicon, *, width: float = WIDE) -> Chart:
    """Figure 9, and price likewise."""
    rates = np.geomspace(found.chips[0].rate / 1.3, found.chips[-1].rate * 4.0, 40)
    panels = []
    for law, unit in zip(found.laws, ("W", "USD"), strict=True):
        lines = {_LAW: [(rate / _PETA, law.at(rate)) for rate in rates]}
        if law.kind == "power":
            lines[_CURVE] = [(rate / _PETA, float(silicon_power(rate))) for rate in rates]
        points = {chip.title: (chip.rate / _PETA, given(getattr(chip, law.kind))) for chip in found.chips}
        panels.append(LogPanel(y_title=f"{law.kind} of a chip, {unit}", points=points, lines=lines))
    return log_panels(
        panels,
        title="Figure 9: silicon against what it computes",
        about="Power and price of four accelerators without their memory against their rate, with the law fitted.",
        x_title="PFLOP/s of dense products in 16 bits",
        said="; ".join(f"{law.kind} grows with the power {law.exponent:.2f}" for law in found.laws) + ".",
        width=width,
    )
