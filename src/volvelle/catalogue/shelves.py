"""The catalogue's entries at hand: ``catalogue.models.llama3_70b``, found by typing a dot and the tabulator key."""

import re
from collections.abc import Callable, Iterator, Mapping
from textwrap import fill
from typing import Generic, TypeVar

from volvelle.errors import UnknownNameError

Entry_co = TypeVar("Entry_co", covariant=True)


class Shelf(Mapping[str, Entry_co], Generic[Entry_co]):
    """Entries of one kind: by their names, ``shelf["llama3-70b"]``, or as attributes, ``shelf.llama3_70b``."""

    def __init__(self, kind: str, names: tuple[str, ...], read: Callable[[str], Entry_co]) -> None:
        self._kind, self._names, self._read = kind, names, read

    def __getitem__(self, name: str) -> Entry_co:
        return self._read(name)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __getattr__(self, attribute: str) -> Entry_co:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        named = {_attribute(name): name for name in self._names}
        if attribute not in named:
            raise AttributeError(str(UnknownNameError.among(self._kind, attribute, named)), name=attribute)
        return self._read(named[attribute])

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *map(_attribute, self._names)})

    def __repr__(self) -> str:
        listed = fill(", ".join(self._names), 96, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
        return f"{len(self)} {self._kind}s of the catalogue\n{listed}"

    def __reduce__(self) -> tuple[object, ...]:
        return Shelf, (self._kind, self._names, self._read)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._names)


def _attribute(name: str) -> str:
    """A name as Python can write it."""
    written = re.sub(r"\W", "_", name)
    return f"_{written}" if written[0].isdigit() else written
