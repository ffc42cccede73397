"""From a datum in a file to a figure: units read, spread understood, source known."""

from collections.abc import Callable, Collection
from typing import cast

from volvelle.catalogue.schema import Datum, Kind, SpreadFile
from volvelle.domains import NumberDomain
from volvelle.errors import DescriptionError, SourceError, brief
from volvelle.quantities import Quantity, parse
from volvelle.spread import AbstractSpread, Evidence, Figure, Interval, LogNormal, Normal

_MOST = 0.8
"""Share of a spread without ends that must lie inside the domain of its number; samples beyond are moved inside."""


def read_figure(datum: Datum, domain: NumberDomain, *, where: str, sources: Collection[str]) -> Figure:
    """The figure that a datum states, which lies in its domain with its spread."""
    if datum.source not in sources:
        raise SourceError(
            f"{where} cites {brief(datum.source)}, which is in no references file; add it (title, authors, year, place)"
        )
    read = _reader(domain, where)
    value = read(datum.value)
    domain.check(value, where)
    figure = Figure(
        value=value,
        evidence=Evidence[datum.kind.upper()],
        source=datum.source,
        spread=_spread(datum, value, read, where),
        note=datum.note,
        date=datum.date or "",
    )
    if isinstance(figure.spread, Interval | Normal):
        for end in figure.bounds(1.0 if isinstance(figure.spread, Interval) else _MOST):
            domain.check(end, f"{where}: an end of its spread")
    return figure


def as_datum(figure: Figure, kind: Quantity) -> Datum:
    """Return a figure as a file would state it, in the unit of its kind."""
    unit, spread = kind.base, figure.spread
    stated = None
    if isinstance(spread, Interval):
        stated = SpreadFile(interval=(f"{spread.low!r} {unit}", f"{spread.high!r} {unit}"))
    elif isinstance(spread, LogNormal):
        stated = SpreadFile(lognormal=spread.factor)
    return Datum(
        value=f"{figure.value!r} {unit}",
        kind=cast("Kind", figure.evidence.name.lower()),
        source=figure.source,
        spread=stated,
        note=figure.note,
        date=figure.date or None,
    )


def _reader(domain: NumberDomain, where: str) -> Callable[[str | int | float], float]:
    kind = domain.kind

    def read(text: str | int | float) -> float:
        if kind is None:
            if isinstance(text, str):
                raise DescriptionError(f"{where} is {brief(text)}; a bare number is wanted here")
            domain.check(text, where)
            return float(text)
        try:
            return parse(text, kind)
        except DescriptionError as error:
            raise type(error)(f"{where}: {error}") from None

    return read


def _spread(
    datum: Datum, value: float, read: Callable[[str | int | float], float], where: str
) -> AbstractSpread | None:
    stated = datum.spread
    if stated is None:
        return None
    given = [name for name in ("interval", "normal", "lognormal") if getattr(stated, name) is not None]
    if len(given) != 1:
        raise DescriptionError(
            f"{where} has a spread with {given or 'nothing'}; state one of interval, normal, lognormal"
        )
    if stated.interval is not None:
        low, high = (read(end) for end in stated.interval)
        return Interval(low, high)
    if stated.normal is not None:
        return Normal(value, read(stated.normal))
    assert stated.lognormal is not None
    return LogNormal(value, stated.lognormal)
