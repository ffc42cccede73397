"""Numbers of the catalogue that enter as exact, because their sources state no spread."""

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import BaseModel

from volvelle.catalogue.loader import Catalogue
from volvelle.catalogue.schema import ROOMS, Datum


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactNumber:
    """A number without a spread, and where it stands."""

    room: str
    name: str
    """Of the entry."""
    number: str
    value: str
    evidence: str


def numbers_of(value: object, path: str = "") -> Iterator[tuple[str, Datum]]:
    """Every datum in an entry, with where it stands."""
    if isinstance(value, Datum):
        yield path, value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from numbers_of(getattr(value, name), f"{path}.{name}" if path else name)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from numbers_of(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from numbers_of(inner, f"{path}.{index}")


def exact_numbers(catalogue: Catalogue, room: str | None = None, name: str | None = None) -> tuple[ExactNumber, ...]:
    """All of them, those of a kind of entries, or those of one."""
    found = []
    for place in ROOMS if room is None else [kind for kind in ROOMS if kind == room]:
        for entry in catalogue.names(place) if name is None else (name,):
            found += [
                ExactNumber(room=place, name=entry, number=path, value=str(datum.value), evidence=datum.kind)
                for path, datum in numbers_of(catalogue.entry(place, entry))
                if datum.spread is None
            ]
    return tuple(found)
