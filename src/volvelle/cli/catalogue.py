"""``volvelle catalogue [KIND] [NAME]``."""

import click

from volvelle.catalogue.exact import exact_numbers
from volvelle.catalogue.search import KINDS, entry_called, room_called, search
from volvelle.cli.output import Json
from volvelle.cli.question_command import command
from volvelle.errors import UnknownNameError
from volvelle.questions.catalogue import CatalogueQuestion
from volvelle.report import catalogue_text
from volvelle.report.documents.catalogue import catalogue_document, exact_document, matches_document
from volvelle.report.documents.document import json_text
from volvelle.verbs.named import catalogue_of


class _Output(Json):
    pass


def _run(question: CatalogueQuestion, output: _Output) -> None:
    words, as_json = question.words, output.as_json
    known = catalogue_of(question.catalogue)
    room = room_called(words[0]) if words else None
    text = _without_count(" ".join(words[1:] if room else words))
    name: str | None = None
    if text:
        entry = entry_called(known, text, room)
        if entry is None:
            matches = search(known, text, room)
            if not matches:
                names = {name for place in ((room,) if room else KINDS) for name in catalogue_text.names(known, place)}
                kind = (room or "entry").removesuffix("s")
                raise UnknownNameError.among(kind, text, names, listed_by=f"volvelle catalogue {room or 'KIND'}")
            if as_json:
                click.echo(json_text("catalogue", matches_document(matches)))
            else:
                catalogue_text.print_matches(matches)
            return
        room, name = entry.room, entry.name
    if question.exact:
        found = exact_numbers(known, room, name)
        if as_json:
            click.echo(json_text("catalogue", exact_document(found)))
        else:
            catalogue_text.print_exact(found)
    elif as_json:
        click.echo(json_text("catalogue", catalogue_document(known, room, name), exclude_none=True))
    elif room is None:
        catalogue_text.print_rooms(known)
    elif name is None:
        catalogue_text.print_room(known, room)
    else:
        catalogue_text.print_entry(known, room, name)


def _without_count(text: str) -> str:
    """A name without the number of accelerators that may follow a slash."""
    name, _, count = text.rpartition("/")
    return name if count.isdecimal() else text


catalogue = command(CatalogueQuestion, _Output, _run)
