"""``volvelle catalogue [KIND] [NAME]``."""

from pathlib import Path

import click

from volvelle.catalogue import Catalogue
from volvelle.catalogue.exact import exact_numbers
from volvelle.catalogue.search import KINDS, entry_called, room_called, search
from volvelle.errors import UnknownNameError
from volvelle.report import catalogue_text
from volvelle.report.documents.catalogue import catalogue_document, exact_document, matches_document
from volvelle.report.documents.document import json_text


@click.command(short_help="Show chips, clusters, models, software and the source of every number.")
@click.argument("words", nargs=-1, metavar="[KIND] [NAME]")
@click.option("--catalogue", "folder", type=click.Path(path_type=Path), help="A catalogue folder of your own.")
@click.option("--exact", is_flag=True, help="Only numbers that are taken as exact: no source states their spread.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def catalogue(*, words: tuple[str, ...], folder: Path | None, exact: bool, as_json: bool) -> None:
    """Show what the catalogue holds, or search it.

    KIND is chips, clusters, links, models, calibrations, reliability (failures, recovery, power) or stacks (software):
    one line an entry. With a NAME, every number of that entry with its source; with a part of one, like h100, all
    entries in which it occurs. Case and punctuation do not count.
    """
    known = Catalogue(*([folder] if folder else []))
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
    if exact:
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
