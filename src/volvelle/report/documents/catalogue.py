"""What ``volvelle catalogue --json`` prints; one entry alone is printed as its file states it."""

from typing import Any

from pydantic import create_model

from volvelle.catalogue import Catalogue
from volvelle.catalogue.schema import ROOMS, CalibrationFile, ChipFile, ClusterFile, Entry, LinkFile, ModelFile
from volvelle.report.documents.document import Document

_NAMES: dict[str, Any] = dict.fromkeys(ROOMS, (list[str], ...))
RoomsDocument = create_model("RoomsDocument", __base__=Document, __doc__="Names of all entries, by room.", **_NAMES)


class EntriesDocument(Document):
    """All entries of one room, as their files state them."""

    entries: list[ChipFile] | list[CalibrationFile] | list[LinkFile] | list[ClusterFile] | list[ModelFile]


def catalogue_document(catalogue: Catalogue, room: str | None, name: str | None) -> Document | Entry:
    """All names, a room's entries, or one entry."""
    if room is None:
        return RoomsDocument.model_validate({room: catalogue.names(room) for room in ROOMS})
    if name is None:
        entries = [catalogue.entry(room, name) for name in catalogue.names(room)]
        return EntriesDocument.model_validate({"entries": entries})
    return catalogue.entry(room, name)
