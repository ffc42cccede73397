"""``volvelle reproduce comet``."""

import json
from pathlib import Path

import click

__all__ = ["comet"]

_ITEMS = ("targets", "fig5", "fig7", "fig8", "fig9", "fig10", "fig11", "fig12")


@click.command(short_help="COMET: Figures 5 and 7–12, and every number in the text, with verdicts.")
@click.option("--only", multiple=True, type=click.Choice(_ITEMS), help="Which of them; may be repeated. [default: all]")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Write each as a picture (.svg), tables (.csv), a page with both (.html) and JSON.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: the targets with their verdicts, and the figures.")
def comet(*, only: tuple[str, ...], out: Path | None, as_json: bool) -> None:
    """COMET (Kadiyala and others, arXiv:2211.16648), from the tables of the paper.

    Training of Transformer-1T on DGX A100, TPU v4 and Dojo. Without --json, tables of the verdicts are printed, and
    those of figures that are asked for by name.
    """
    from volvelle.catalogue.published.comet import comet as published  # noqa: PLC0415 - short start-up
    from volvelle.report.terminal import print_sheet  # noqa: PLC0415 - short start-up
    from volvelle.reproductions.comet.text import comet_document, comet_item  # noqa: PLC0415 - short start-up
    from volvelle.reproductions.item import write_item  # noqa: PLC0415 - short start-up

    items = [comet_item(published(), name) for name in dict.fromkeys(only or _ITEMS)]
    if out is not None:
        for item in items:
            write_item(item, out)
    if as_json:
        click.echo(json.dumps(comet_document(items), indent=2, ensure_ascii=False))
        return
    for item in items:
        click.echo(f"\n{item.title}\n{item.lead}")
        if only or item.name == "targets":
            for sheet in item.sheets:
                print_sheet(sheet, most=100)
