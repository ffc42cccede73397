"""``volvelle catalogue [ROOM] [NAME]``."""

from pathlib import Path

import click

from volvelle.catalogue import Catalogue

__all__ = ["catalogue"]


@click.command(short_help="Show chips, calibrations, links, clusters, models and their sources.")
@click.argument("room", type=click.Choice(["chips", "calibrations", "links", "clusters", "models"]), required=False)
@click.argument("name", required=False)
@click.option("--catalogue", "folder", type=click.Path(path_type=Path), help="A catalogue folder of your own.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def catalogue(*, room: str | None, name: str | None, folder: Path | None, as_json: bool) -> None:
    """Show what the catalogue holds: everything, one ROOM, or one entry by NAME with the source of every number."""
    from volvelle.report.catalogue_text import (  # noqa: PLC0415 - keeps start-up short
        catalogue_json,
        print_entry,
        print_room,
        print_rooms,
    )

    found = Catalogue(*([folder] if folder else []))
    if as_json:
        click.echo(catalogue_json(found, room, name))
    elif room is None:
        print_rooms(found)
    elif name is None:
        print_room(found, room)
    else:
        print_entry(found, room, name)
