"""What ``volvelle catalogue --json`` prints; one entry alone is printed as its file states it."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import create_model

from volvelle.catalogue import Catalogue
from volvelle.catalogue.exact import ExactNumber
from volvelle.catalogue.schema import (
    ROOMS,
    CalibrationFile,
    ChipFile,
    ClusterFile,
    Entry,
    LinkFile,
    ModelFile,
    ReliabilityFile,
)
from volvelle.catalogue.search import KINDS, STACKS, Match
from volvelle.catalogue.stacks import runs_of_stack, stack_entries
from volvelle.report.documents.document import Document

_NAMES: dict[str, Any] = dict.fromkeys(KINDS, (list[str], ...))
RoomsDocument = create_model("RoomsDocument", __base__=Document, __doc__="Names of all entries, by room.", **_NAMES)


class StackDocument(Document):
    """Software that trains, and the chips it was timed on."""

    name: str
    title: str
    parent: str
    usual_for: tuple[str, ...]
    timed_on: Mapping[str, int]


class MatchEntry(Document):
    """An entry that was looked for."""

    room: str
    name: str
    title: str


class MatchesDocument(Document):
    """Entries in which a text occurs."""

    matches: list[MatchEntry]


class ExactEntry(Document):
    """A number that is taken as exact: its source states no spread."""

    room: str
    name: str
    number: str
    value: str
    evidence: str


class ExactDocument(Document):
    """Numbers that are taken as exact."""

    exact: list[ExactEntry]


class EntriesDocument(Document):
    """All entries of one room, as their files state them."""

    entries: (
        list[ChipFile]
        | list[CalibrationFile]
        | list[LinkFile]
        | list[ClusterFile]
        | list[ModelFile]
        | list[ReliabilityFile]
        | list[StackDocument]
    )


def matches_document(matches: Sequence[Match]) -> MatchesDocument:
    """What a search found."""
    return MatchesDocument.model_validate({"matches": matches})


def exact_document(found: Sequence[ExactNumber]) -> ExactDocument:
    """Numbers without a spread."""
    return ExactDocument.model_validate({"exact": found})


def _stack(name: str) -> StackDocument:
    entry = stack_entries()[name]
    return StackDocument(
        name=name, title=entry.title, parent=entry.parent, usual_for=entry.usual_for, timed_on=runs_of_stack(name)
    )


def catalogue_document(catalogue: Catalogue, room: str | None, name: str | None) -> Document | Entry:
    """All names, a room's entries, or one entry."""
    if room is None:
        return RoomsDocument.model_validate(
            {**{room: catalogue.names(room) for room in ROOMS}, STACKS: list(stack_entries())}
        )
    if room == STACKS:
        return _stack(name) if name else EntriesDocument.model_validate({"entries": [*map(_stack, stack_entries())]})
    if name is None:
        entries = [catalogue.entry(room, name) for name in catalogue.names(room)]
        return EntriesDocument.model_validate({"entries": entries})
    return catalogue.entry(room, name)
