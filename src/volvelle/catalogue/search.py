"""Finds entries of the catalogue by a part of a name, a title or a chip, whatever the case and punctuation."""

import re
from dataclasses import dataclass

from volvelle.catalogue.loader import Catalogue
from volvelle.catalogue.schema import ROOMS
from volvelle.catalogue.stacks import stack_entries
from volvelle.errors import plainly

STACKS = "stacks"
"""Software, which has no files of its own."""
KINDS = (*ROOMS, STACKS)
"""Rooms of the catalogue, software too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """An entry that was looked for."""

    room: str
    name: str
    title: str


def room_called(word: str) -> str | None:
    """The room that a word means, one or many of it; None: none."""
    meant = {"software": STACKS, "machine": "clusters", "machines": "clusters", "gpus": "chips", "gpu": "chips"}
    meant |= {"failures": "reliability", "hazards": "reliability"}
    plain = plainly(word)
    return meant.get(plain) or next((room for room in KINDS if plain in (room, room.removesuffix("s"))), None)


def entry_called(catalogue: Catalogue, text: str, room: str | None = None) -> Match | None:
    """The one entry of that name, a chip before what runs on it taught; None: there is none, or there are two."""
    found = [
        _match(catalogue, place, name)
        for place in ((room,) if room else KINDS)
        if (name := _name_of(catalogue, place, text)) is not None and (room or place != "calibrations")
    ]
    return found[0] if len(found) == 1 else None


def search(catalogue: Catalogue, text: str, room: str | None = None) -> tuple[Match, ...]:
    """Entries in whose name, title or chip the text occurs; of calibrations, which are called as chips, where asked."""
    wanted = plainly(text)
    found = []
    for place in (room,) if room else (kind for kind in KINDS if kind != "calibrations"):
        for name in _names(catalogue, place):
            match = _match(catalogue, place, name)
            chip = catalogue.stated(place, name, "chip") if place == "clusters" else ""
            if wanted and any(_occurs(wanted, words) for words in (match.name, match.title, chip)):
                found.append(match)
    return tuple(found)


def _occurs(wanted: str, text: str) -> bool:
    """Whether it is in a word of a text, or begins one and goes on over the next."""
    words = [plainly(word) for word in re.split(r"[^0-9A-Za-z]+", text)]
    return any(wanted in word or "".join(words[place:]).startswith(wanted) for place, word in enumerate(words))


def _names(catalogue: Catalogue, room: str) -> tuple[str, ...]:
    return tuple(stack_entries()) if room == STACKS else catalogue.names(room)


def _name_of(catalogue: Catalogue, room: str, text: str) -> str | None:
    if room != STACKS:
        return catalogue.name_of(room, text)
    return next((name for name in stack_entries() if plainly(name) == plainly(text)), None)


def _match(catalogue: Catalogue, room: str, name: str) -> Match:
    title = stack_entries()[name].title if room == STACKS else catalogue.stated(room, name, "title")
    return Match(room=room, name=name, title=title)
