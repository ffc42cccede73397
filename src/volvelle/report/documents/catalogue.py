"""What ``volvelle catalogue --json`` prints; one entry alone is printed as its file states it."""

from volvelle.catalogue import Catalogue
from volvelle.catalogue.schema import CalibrationFile, ChipFile, ClusterFile, LinkFile, ModelFile
from volvelle.report.catalogue_text import ROOMS, Entry, entry_file
from volvelle.report.documents.document import Document

__all__ = ["EntriesDocument", "RoomsDocument", "catalogue_document"]


class RoomsDocument(Document):
    """Names of all entries, by room."""

    chips: list[str]
    calibrations: list[str]
    links: list[str]
    clusters: list[str]
    models: list[str]


class EntriesDocument(Document):
    """All entries of one room, as their files state them."""

    entries: list[ChipFile] | list[CalibrationFile] | list[LinkFile] | list[ClusterFile] | list[ModelFile]


def catalogue_document(
    catalogue: Catalogue, room: str | None, name: str | None
) -> RoomsDocument | EntriesDocument | Entry:
    """All names, a room's entries, or one entry."""
    if room is None:
        return RoomsDocument.model_validate({room: catalogue.names(room) for room in ROOMS})
    if name is None:
        entries = [entry_file(catalogue, room, name) for name in catalogue.names(room)]
        return EntriesDocument.model_validate({"entries": entries})
    return entry_file(catalogue, room, name)
