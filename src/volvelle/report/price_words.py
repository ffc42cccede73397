"""Prices and other assumptions of cost in their units, by their names in the price book."""

import re
from collections.abc import Mapping

from volvelle.economics.price_book import End
from volvelle.quantities import (
    DOLLARS,
    DOLLARS_PER_BYTE,
    DOLLARS_PER_JOULE,
    DOLLARS_PER_RATE,
    DOLLARS_PER_WATT,
    FRACTION,
    JOULES_PER_BYTE,
    SECONDS,
    WATTS,
    Quantity,
    show,
)
from volvelle.spread import Figure

__all__ = ["YEAR", "price_cells", "price_kind"]

YEAR = 31_557_600.0
"""Seconds."""
_KINDS: Mapping[str, Quantity] = {
    "capacity_price": DOLLARS_PER_BYTE,
    "rate_price": DOLLARS_PER_RATE,
    "link_price": DOLLARS_PER_RATE,
    "port_price": DOLLARS_PER_RATE,
    "energy": JOULES_PER_BYTE,
    "link_energy": JOULES_PER_BYTE,
    "port_energy": JOULES_PER_BYTE,
    "plant_price": DOLLARS_PER_WATT,
    "energy_price": DOLLARS_PER_JOULE,
    "plant_life": SECONDS,
    "interest": FRACTION,
    "maintenance": FRACTION,
}


def price_kind(name: str) -> Quantity:
    """The kind of quantity that a figure of the price book is."""
    if name.startswith("hosts."):
        return FRACTION
    if name == "chip.power":
        return WATTS
    return _KINDS.get(name.rpartition(".")[2], DOLLARS)


def _price_text(name: str, value: float) -> str:
    """A figure of the price book, as a person reads it."""
    kind = price_kind(name)
    return f"{value / YEAR:.3g} years" if kind is SECONDS else show(value, kind)


def price_cells(name: str, figure: Figure) -> tuple[str, str, str, str]:
    """A figure of the price book: its name in words, what is typical, from low to high, and when that held."""
    words = re.sub(r"^(networks|memory|site)\.", "", name).replace("_", " ").replace(".", " ")
    low, typical, high = (_short(_price_text(name, end.of(figure))) for end in (End.LOW, End.TYPICAL, End.HIGH))
    ends = "" if figure.spread is None else f"{_without_unit(low, typical)} … {_without_unit(high, typical)}"
    return words, typical, ends, figure.date


def _short(text: str) -> str:
    """A figure without the noughts at its end."""
    return re.sub(r"^([\d,]+\.\d*?)0+(?= )", r"\1", text).replace(". ", " ")


def _without_unit(text: str, typical: str) -> str:
    """A quantity without its unit where that is the unit of the typical value."""
    number, _, unit = text.partition(" ")
    return number if unit == typical.partition(" ")[2] else text
