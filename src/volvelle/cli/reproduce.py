"""``volvelle reproduce dfmodel``: a published study, computed again from our own models."""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from volvelle.report.sheet import Sheet
    from volvelle.reproductions.item import Item

__all__ = ["reproduce"]

_PAPERS = {
    "comet": ("volvelle.cli.reproduce_comet", "comet"),
    "mcl-hpl": ("volvelle.cli.reproduce_mcl_hpl", "mcl_hpl"),
}
"""Papers whose command is in a module of its own, and where."""
_ITEMS = ("table6", "dse", "ratios", "fig7", "fig8", *(f"fig{number}" for number in range(10, 20)), "fig22")


class _Papers(click.Group):
    """Loads the command of another paper only when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *_PAPERS})

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _PAPERS:
            return super().get_command(ctx, name)
        command = getattr(import_module(_PAPERS[name][0]), _PAPERS[name][1])
        assert isinstance(command, click.Command)
        return command


@click.group(cls=_Papers, short_help="Compute a published study again.")
def reproduce() -> None:
    """Compute a published study again from our own models, and hold it against what was logged."""


@reproduce.command(short_help="DFModel: Table VI, Figures 7, 8, 10–19 and 22, and the ratios in the text.")
@click.option("--only", multiple=True, type=click.Choice(_ITEMS), help="Which of them; may be repeated. [default: all]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Write each as a picture (.svg), tables (.csv), a page with both (.html) and JSON.",
)
def dfmodel(*, only: tuple[str, ...], as_json: bool, out: Path | None) -> None:
    """DFModel (Ko and others, arXiv:2412.16432), from the inputs in the authors' repository kosho2013/DFModel.

    Each workload is built by its family, sharded, fused to a proven optimum and priced by the laws; nothing of the
    results is stored. Beside each stands what the authors logged, and which constants were used.
    """
    from volvelle.report.terminal import print_sheet  # noqa: PLC0415 - short start-up
    from volvelle.reproductions.item import write_item  # noqa: PLC0415 - short start-up

    names = tuple(dict.fromkeys(only)) or _ITEMS
    items = _solved(names)
    if out is not None:
        for item in items:
            write_item(item, out)
    if as_json:
        documents = {item.name: item.document for item in items}
        click.echo(json.dumps(documents[names[0]] if len(only) == 1 else documents, indent=2, ensure_ascii=False))
        return
    shown: set[Sheet] = set()
    for item in items:
        click.echo(f"\n{item.title}\n{item.lead}")
        for sheet in item.sheets:
            # Figures of one study share their constants, which are told once.
            if sheet not in shown:
                print_sheet(sheet)
                shown.add(sheet)


def _solved(names: tuple[str, ...]) -> "list[Item]":
    """The items, with a bar where somebody watches."""
    from rich.console import Console  # noqa: PLC0415 - short start-up
    from rich.progress import Progress  # noqa: PLC0415 - short start-up

    from volvelle.catalogue.published.dfmodel import dfmodel as published  # noqa: PLC0415 - short start-up
    from volvelle.reproductions.dfmodel.text import Reproduction  # noqa: PLC0415 - short start-up

    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("mapping", total=Reproduction.steps(names))
        found = Reproduction(published(), advance=lambda: bar.advance(task))
        return [found.item(name) for name in names]
