"""``volvelle catalogue [ROOM] [NAME]``."""

from pathlib import Path

import click

from volvelle.catalogue import Catalogue
from volvelle.catalogue.schema import ROOMS
from volvelle.report import catalogue_text
from volvelle.report.documents.catalogue import catalogue_document
from volvelle.report.documents.document import json_text


@click.command(short_help="Show chips, calibrations, links, clusters, models and their sources.")
@click.argument("room", type=click.Choice(list(ROOMS)), required=False)
@click.argument("name", required=False)
@click.option("--catalogue", "folder", type=click.Path(path_type=Path), help="A catalogue folder of your own.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def catalogue(*, room: str | None, name: str | None, folder: Path | None, as_json: bool) -> None:
    """Show what the catalogue holds: everything, one ROOM, or one entry by NAME with the source of every number."""
    known = Catalogue(*([folder] if folder else []))
    if as_json:
        click.echo(json_text("catalogue", catalogue_document(known, room, name), exclude_none=True))
    elif room is None:
        catalogue_text.print_rooms(known)
    elif name is None:
        catalogue_text.print_room(known, room)
    else:
        catalogue_text.print_entry(known, room, name)
