"""Prices and other assumptions of cost in their units, by their names in the price book."""

from collections.abc import Mapping

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

__all__ = ["YEAR", "price_kind", "price_text", "without_unit"]

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


def price_text(name: str, value: float) -> str:
    """A figure of the price book, as a person reads it."""
    kind = price_kind(name)
    return f"{value / YEAR:.3g} years" if kind is SECONDS else show(value, kind)


def without_unit(text: str, typical: str) -> str:
    """A quantity without its unit where that is the unit of the typical value."""
    number, _, unit = text.partition(" ")
    return number if unit == typical.partition(" ")[2] else text
