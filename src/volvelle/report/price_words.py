"""Prices and other assumptions of cost in their units, by their names in the price book."""

import re

from volvelle.catalogue.prices import price_kind
from volvelle.economics.price_book import End
from volvelle.quantities import SECONDS, show
from volvelle.spread import Figure

YEAR = 31_557_600.0
"""Seconds."""


def _price_text(name: str, value: float) -> str:
    """A figure of the price book, as a person reads it."""
    if name.endswith("_exponent"):
        return f"{value:.3g}"
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
