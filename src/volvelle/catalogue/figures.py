"""From a datum in a file to a figure: units read, spread understood, source known."""

from collections.abc import Callable, Collection

from volvelle.catalogue.schema import Datum
from volvelle.errors import DescriptionError, SourceError
from volvelle.quantities import Quantity, parse
from volvelle.spread import AbstractSpread, Evidence, Figure, Interval, LogNormal, Normal


def read_figure(datum: Datum, kind: Quantity | None, *, where: str, sources: Collection[str]) -> Figure:
    """The figure that a datum states; `kind` None is for ratios that are written as bare numbers."""
    if datum.source not in sources:
        raise SourceError(
            f"{where} cites {datum.source!r}, which is in no references file; add it (title, authors, year, place)"
        )
    read = _reader(kind, where)
    value = read(datum.value)
    return Figure(
        value=value,
        evidence=Evidence[datum.kind.upper()],
        source=datum.source,
        spread=_spread(datum, value, read, where),
        note=datum.note,
        date=datum.date or "",
    )


def _reader(kind: Quantity | None, where: str) -> Callable[[str | int | float], float]:
    def read(text: str | int | float) -> float:
        if kind is None:
            if isinstance(text, str):
                raise DescriptionError(f"{where} is {text!r}; a bare number is wanted here")
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
