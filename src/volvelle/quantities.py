"""Quantities: text with units at the edge, plain SI floats inside.

Inside the package every number is in seconds, bytes, FLOP, bytes per second, FLOP per second,
watts, joules, dollars or hertz, and its signature says so by an alias (``Seconds``, ``Bytes`` …).
Each alias is a float or an array of them, because every law broadcasts.

At the edge a quantity is text with a unit: ``parse("3.35 TB/s", BYTES_PER_SECOND)``. A bare number
is refused, and ``GB``, ``GiB`` and ``Gb`` differ. ``format`` is the exact inverse of ``parse``;
``show`` rounds, for people.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import SupportsFloat, TypeAlias

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import UnitError, brief

Number: TypeAlias = float | NDArray[np.float64]
Seconds: TypeAlias = Number
Bytes: TypeAlias = Number
BytesPerSecond: TypeAlias = Number
Flop: TypeAlias = Number
FlopPerSecond: TypeAlias = Number
Watts: TypeAlias = Number
Joules: TypeAlias = Number
Dollars: TypeAlias = Number
Fraction: TypeAlias = Number
Count: TypeAlias = Number

DAY = 86_400.0
"""Seconds of a day."""
JULIAN_YEAR = 31_557_600.0
"""Seconds of a year of 365.25 days."""
_LARGE = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18, "Z": 1e21}
_SMALL = {"m": 1e-3, "µ": 1e-6, "u": 1e-6, "n": 1e-9, "p": 1e-12, "f": 1e-15}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50, "Ei": 2.0**60}


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A kind of quantity: its base unit, and every unit it may be written in."""

    name: str
    base: str
    units: Mapping[str, float]
    """Unit symbol → size in the base unit."""
    written: tuple[str, ...]
    """The symbols `format` and `show` choose from, largest first."""
    example: str


def _prefixed(symbol: str, *prefixes: Mapping[str, float], scale: float = 1.0) -> dict[str, float]:
    units = {symbol: scale}
    for table in prefixes:
        units |= {prefix + symbol: size * scale for prefix, size in table.items()}
    return units


def _quantity(name: str, base: str, example: str, units: dict[str, float], written: tuple[str, ...]) -> Quantity:
    return Quantity(name=name, base=base, units=units, written=written, example=example)


SECONDS = _quantity(
    "time",
    "s",
    "20 us",
    {
        **_prefixed("s", _SMALL),
        "min": 60.0,
        "h": 3600.0,
        "d": DAY,
        "days": DAY,
        "years": JULIAN_YEAR,
    },
    ("s", "ms", "us", "ns", "ps"),
)
BYTES = _quantity(
    "data size",
    "B",
    "80 GB or 80 GiB",
    {**_prefixed("B", _LARGE, _BINARY), **_prefixed("b", _LARGE, _BINARY, scale=0.125)},
    ("EB", "PB", "TB", "GB", "MB", "kB", "B"),
)
BYTES_PER_SECOND = _quantity(
    "data rate",
    "B/s",
    "3.35 TB/s or 400 Gb/s",
    {unit + "/s": size for unit, size in BYTES.units.items()},
    ("EB/s", "PB/s", "TB/s", "GB/s", "MB/s", "kB/s", "B/s"),
)
FLOP = _quantity(
    "amount of arithmetic",
    "FLOP",
    "312 TFLOP",
    _prefixed("FLOP", _LARGE),
    ("ZFLOP", "EFLOP", "PFLOP", "TFLOP", "GFLOP", "MFLOP", "kFLOP", "FLOP"),
)
FLOP_PER_SECOND = _quantity(
    "rate of arithmetic",
    "FLOP/s",
    "312 TFLOP/s",
    {unit + "/s": size for unit, size in FLOP.units.items()},
    tuple(unit + "/s" for unit in FLOP.written),
)
CELLS_PER_SECOND = _quantity(
    "rate of cell updates",
    "cells/s",
    "100 Gcells/s",
    _prefixed("cells/s", _LARGE),
    ("Ecells/s", "Pcells/s", "Tcells/s", "Gcells/s", "Mcells/s", "kcells/s", "cells/s"),
)
WATTS = _quantity("power", "W", "700 W", _prefixed("W", _LARGE, _SMALL), ("GW", "MW", "kW", "W"))
JOULES = _quantity(
    "energy",
    "J",
    "3.6 MJ or 1 kWh",
    {**_prefixed("J", _LARGE, _SMALL), **_prefixed("Wh", _LARGE, scale=3600.0)},
    ("TJ", "GJ", "MJ", "kJ", "J"),
)
JOULES_PER_BYTE = _quantity(
    "energy per byte",
    "J/B",
    "8 pJ/b",
    {**_prefixed("J/B", _SMALL), **_prefixed("J/b", _SMALL, scale=8.0)},
    ("J/B", "nJ/B", "pJ/B"),
)
JOULES_PER_FLOP = _quantity(
    "energy per operation", "J/FLOP", "0.5 pJ/FLOP", _prefixed("J/FLOP", _SMALL), ("J/FLOP", "pJ/FLOP")
)
DOLLARS = _quantity(
    "money",
    "USD",
    "30 kUSD",
    {**_prefixed("USD", {k: _LARGE[k] for k in "kMGT"}), "$": 1.0},
    ("GUSD", "MUSD", "kUSD", "USD"),
)
TOKEN_COUNT = _quantity(
    "number of tokens",
    "tokens",
    "2T, 300B or 15e12",
    {"": 1.0, "tokens": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "G": 1e9, "T": 1e12, "P": 1e15},
    ("T", "B", "M", "k", "tokens"),
)
DOLLARS_PER_HOUR = _quantity("price per hour", "USD/h", "2.5 USD/h", {"USD/h": 1.0, "$/h": 1.0}, ("USD/h",))
DOLLARS_PER_JOULE = _quantity(
    "price of energy", "USD/J", "0.1 USD/kWh", {"USD/J": 1.0, "USD/kWh": 1 / 3.6e6}, ("USD/J", "USD/kWh")
)
DOLLARS_PER_BYTE = _quantity(
    "price of capacity", "USD/B", "40 USD/GB", {"USD/B": 1.0, "USD/GB": 1e-9, "USD/TB": 1e-12}, ("USD/B", "USD/GB")
)
DOLLARS_PER_RATE = _quantity(
    "price of a data rate",
    "USD/(B/s)",
    "2 USD/(GB/s)",
    {"USD/(B/s)": 1.0, "USD/(GB/s)": 1e-9, "USD/(Gb/s)": 8e-9},
    ("USD/(B/s)", "USD/(GB/s)"),
)
DOLLARS_PER_WATT = _quantity(
    "price of power", "USD/W", "12 USD/W", {"USD/W": 1.0, "USD/kW": 1e-3, "MUSD/MW": 1.0}, ("USD/W", "USD/kW")
)
EVENTS_PER_SECOND = _quantity(
    "rate of events",
    "1/s",
    "6.5e-3 1/d",
    {"1/s": 1.0, "1/h": 1.0 / 3600.0, "1/d": 1.0 / DAY, "1/year": 1.0 / JULIAN_YEAR, "FIT": 1e-9 / 3600.0},
    ("1/s", "1/d"),
)
HERTZ = _quantity("frequency", "Hz", "1.41 GHz", _prefixed("Hz", _LARGE), ("THz", "GHz", "MHz", "kHz", "Hz"))
FRACTION = _quantity("fraction", "", "75 %", {"%": 0.01, "ratio": 1.0}, ("%", "ratio"))

KINDS: tuple[Quantity, ...] = (
    SECONDS,
    BYTES,
    BYTES_PER_SECOND,
    FLOP,
    FLOP_PER_SECOND,
    WATTS,
    JOULES,
    JOULES_PER_BYTE,
    JOULES_PER_FLOP,
    DOLLARS,
    DOLLARS_PER_HOUR,
    DOLLARS_PER_JOULE,
    DOLLARS_PER_BYTE,
    DOLLARS_PER_RATE,
    DOLLARS_PER_WATT,
    HERTZ,
    EVENTS_PER_SECOND,
    FRACTION,
)

_TEXT = re.compile(r"\s*([+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?inf)\s*(.*?)\s*")


_PLAINLY_WRITTEN = 1e9
"""From here on a number is shown with a power of ten."""
_CASE = " (case matters: GB is 8 times Gb)"


def parse(text: object, kind: Quantity) -> float:
    """Read a quantity of the given kind from text with a unit.

    >>> parse("3.35 TB/s", BYTES_PER_SECOND)
    3350000000000.0
    """
    if not isinstance(text, str):
        raise UnitError(
            f"{brief(text)} has no unit: a {kind.name} is written as text with one, for example {kind.example!r}"
        )
    match = _TEXT.fullmatch(text)
    if match is None:
        raise UnitError(f"{brief(text)} is not a {kind.name}: write it like {kind.example!r}")
    number, unit = match.groups()
    if not unit and "" in kind.units:
        return float(number)
    if not unit:
        raise UnitError(f"{brief(text)} has no unit: a {kind.name} is written like {kind.example!r}")
    if unit in kind.units:
        return float(number) * kind.units[unit]
    for other in KINDS:
        if unit in other.units:
            raise UnitError(f"{brief(text)} is a {other.name}, but a {kind.name} is wanted here, like {kind.example!r}")
    raise UnitError(
        f"{brief(text)} has the unit {brief(unit)}, which no {kind.name} is written in; use one of "
        f"{', '.join(unit for unit in kind.written if unit)}{_CASE if kind.name.startswith('data') else ''}"
    )


def is_plainly(value: Number, number: float) -> bool:
    """Whether a value is one plain number and no column, so that arithmetic with it can be left out."""
    return isinstance(value, float) and value == number


def format(value: float, kind: Quantity) -> str:  # noqa: A001 - the inverse of parse; read as quantities.format
    """Write a quantity so that `parse` gives back exactly the same number.

    >>> format(3.35e12, BYTES_PER_SECOND)
    '3.35 TB/s'
    """
    value = float(value)
    base = next(unit for unit in kind.written if kind.units[unit] == 1.0)
    for unit in kind.written:
        size = kind.units[unit]
        if size <= abs(value) and float(repr(value / size)) * size == value:
            return f"{value / size!r} {unit}".replace(".0 ", " ")
    return f"{value!r} {base}".replace(".0 ", " ")


def plain_number(value: float) -> str:
    """Write a number so that `float` gives back exactly the same number.

    >>> plain_number(12.0), plain_number(0.1)
    ('12', '0.1')
    """
    return repr(float(value)).removesuffix(".0")


def show(value: float, kind: Quantity, *, digits: int = 3) -> str:
    """Write a quantity for a person: a few significant digits and a fitting unit.

    >>> show(0.012345, SECONDS)
    '12.3 ms'
    """
    value = float(value)
    if kind is FRACTION:
        return f"{_rounded(100 * value, digits)} %"
    if value == 0 or not math.isfinite(value):
        return f"{value:g} {kind.base}"
    fitting = [unit for unit in kind.written if kind.units[unit] <= abs(value) * (1 + 10.0**-digits / 2)]
    unit = fitting[0] if fitting else kind.written[-1]
    return f"{_rounded(value / kind.units[unit], digits)} {unit}"


def brief_quantity(value: Number, kind: Quantity) -> str:
    """The same of a number or a column, of which the ends are shown.

    >>> brief_quantity(np.array([1e9, 2e9]), BYTES)
    '1.00 GB … 2.00 GB'
    """
    low, high = float(np.min(value)), float(np.max(value))
    return show(low, kind) if low == high else f"{show(low, kind)} … {show(high, kind)}"


def _rounded(value: float, digits: int) -> str:
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    rounded = float(f"{value:.{digits}g}")
    if abs(rounded) >= _PLAINLY_WRITTEN:
        return f"{rounded:.{digits - 1}e}"
    decimals = digits - 1 - math.floor(math.log10(abs(rounded)))
    return f"{rounded:,.{max(decimals, 0)}f}"


def percent(share: SupportsFloat | str | Number, decimals: int = 1, *, signed: bool = False) -> str:
    """A share for people, in the one style of all answers.

    >>> percent(0.8432), percent(0.07, 0, signed=True)
    ('84.3 %', '+7 %')
    """
    return f"{100.0 * float(share):{'+' if signed else ''},.{decimals}f} %"


def chance_text(chance: SupportsFloat) -> str:
    """A chance for people: no model is so sure that it rounds to nothing or to all.

    >>> chance_text(0.843), chance_text(0.9991), chance_text(0.0)
    ('84 %', 'above 99 %', 'below 1 %')
    """
    found = float(chance)
    if found < 0.01:
        return "below 1 %"
    return "above 99 %" if found > 0.99 else percent(found, 0)


def whole_text(value: float) -> str:
    """A number of which parts do not matter, for people; below ten they do: 1,234 and 0.0123."""
    return f"{value:,.0f}" if abs(value) >= 10.0 or value == 0.0 else f"{value:.3g}"


def numbered(count: int, noun: str) -> str:
    """So many of a thing, for people.

    >>> numbered(1, "block"), numbered(2, "block")
    ('1 block', '2 blocks')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
