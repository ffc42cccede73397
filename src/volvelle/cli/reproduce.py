"""``volvelle reproduce PAPER``: a published study, computed again from our own models."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from volvelle.cli.waiting import bar, waiting
from volvelle.cli.words import Output

if TYPE_CHECKING:
    from volvelle.report.sheet import Sheet
    from volvelle.reproductions.item import Item

_DFMODEL = ("table6", "dse", "ratios", *(f"fig{number}" for number in range(7, 23)))
_COMET = ("targets", "fig5", "fig7", "fig8", "fig9", "fig10", "fig11", "fig12")
_MCL_HPL = ("table-1", "table-2-single", "table-2", "table-5", "figure-3", "figure-6", "figure-7", "readings")
_PITFALLS = ("training", "hpcg", "hpcg-uq", "hpl")
_EACH = "Write each as a picture (.svg), tables (.csv), a page with both (.html) and JSON."
Command = Callable[..., None]


def _options(items: tuple[str, ...], *, out: str = _EACH, as_json: str = "Print JSON.") -> Callable[[Command], Command]:
    """Options that all papers have."""
    folder = Output(folder=True)

    def added(command: Command) -> Command:
        command = click.option("--json", "as_json", is_flag=True, help=as_json)(command)
        command = click.option("--out", type=folder, metavar="FOLDER", help=out)(command)
        which = "Which of them; may be repeated. [default: all]"
        return click.option("--only", multiple=True, type=click.Choice(items), help=which)(command)

    return added


@click.group(short_help="Compute a published study again.")
def reproduce() -> None:
    """Compute a published study again from our own models, and hold it against what was logged."""


@reproduce.command(short_help="DFModel: Table VI, Figures 7, 8 and 10–22, and the ratios in the text.")
@_options(_DFMODEL)
def dfmodel(*, only: tuple[str, ...], as_json: bool, out: Path | None) -> None:
    """DFModel (Ko and others, arXiv:2412.16432), from the inputs in the authors' repository kosho2013/DFModel.

    Each workload is built by its family, sharded, fused to a proven optimum and timed by the model; nothing of the
    results is stored. Beside each stands what the authors logged, and which constants were used.
    """
    names = tuple(dict.fromkeys(only)) or _DFMODEL
    items = _solved(names)
    _write(items, out)
    if as_json:
        documents = {item.name: item.document for item in items}
        click.echo(json.dumps(documents[names[0]] if len(only) == 1 else documents, indent=2, ensure_ascii=False))
    else:
        _print(items)


def _solved(names: tuple[str, ...]) -> "list[Item]":
    """The items, with a bar where somebody watches."""
    from volvelle.catalogue.published.dfmodel import dfmodel as published  # noqa: PLC0415 - short start-up
    from volvelle.reproductions.dfmodel.text import Reproduction  # noqa: PLC0415 - short start-up

    with bar("mapping", total=Reproduction.steps(names)) as advance:
        study = Reproduction(published(), advance=advance)
        return [study.item(name) for name in names]


@reproduce.command(short_help="COMET: Figures 5 and 7–12, and every number in the text, with verdicts.")
@_options(_COMET, as_json="Print JSON: the targets with their verdicts, and the figures.")
def comet(*, only: tuple[str, ...], out: Path | None, as_json: bool) -> None:
    """COMET (Kadiyala and others, arXiv:2211.16648), from the tables of the paper.

    Training of Transformer-1T on DGX A100, TPU v4 and Dojo. Without --json, tables of the verdicts are printed, and
    those of figures that are asked for by name.
    """
    from volvelle.catalogue.published.comet import comet as published  # noqa: PLC0415 - short start-up
    from volvelle.reproductions.comet.text import comet_document, comet_item  # noqa: PLC0415 - short start-up

    with waiting("computing the figures of COMET"):
        items = [comet_item(published(), name) for name in dict.fromkeys(only or _COMET)]
    _write(items, out)
    if as_json:
        click.echo(json.dumps(comet_document(items), indent=2, ensure_ascii=False))
    else:
        _print(items, most=100, tables=only or ("targets",))


@reproduce.command(short_help="The talk on pitfalls: its table of a 1.46 B model, HPCG and HPL of Aurora.")
@_options(_PITFALLS)
def pitfalls(*, only: tuple[str, ...], out: Path | None, as_json: bool) -> None:
    """Pitfalls and learnings in performance modeling (Thierry and others, Intel), what its slides print.

    A Llama of 1.46 B parameters on one stack of Ponte Vecchio, HPCG and HPL of Aurora: the talk's model, its run and
    ours, with what the slides leave open and what stands for it here.
    """
    from volvelle.catalogue.published.pitfalls import pitfalls_talk  # noqa: PLC0415 - short start-up
    from volvelle.reproductions.pitfalls.study import pitfalls_item  # noqa: PLC0415 - short start-up

    with waiting("computing the figures of the talk"):
        items = [pitfalls_item(pitfalls_talk(), name) for name in dict.fromkeys(only or _PITFALLS)]
    _write(items, out)
    if as_json:
        click.echo(json.dumps({item.name: item.document for item in items}, indent=2, ensure_ascii=False))
    else:
        _print(items)


@reproduce.command("mcl-hpl", short_help="Tables 1, 2, 5 and figures 3, 6, 7 of the multi-layered model of Linpack.")
@_options(_MCL_HPL, out="Write pictures and JSON.")
def mcl_hpl(*, only: tuple[str, ...], out: Path | None, as_json: bool) -> None:
    """Compute Kim et al. (ETRI Journal 2021) again, beside what they print and what was measured."""
    from volvelle.report.figures.rendering import save  # noqa: PLC0415 - short start-up
    from volvelle.reproductions.mcl_hpl import text  # noqa: PLC0415 - short start-up
    from volvelle.reproductions.mcl_hpl.readings import readings  # noqa: PLC0415 - short start-up
    from volvelle.reproductions.mcl_hpl.study import (  # noqa: PLC0415 - short start-up
        FIGURE_6,
        FIGURE_7,
        figure_3,
        over_sizes,
        reproduce_mcl_hpl,
    )

    wanted = only or _MCL_HPL
    tables = [table for table in reproduce_mcl_hpl() if table.key in wanted]
    curves = figure_3() if "figure-3" in wanted else ()
    clusters = {
        name: over_sizes(configurations)
        for name, configurations in (("figure-6", FIGURE_6), ("figure-7", FIGURE_7))
        if name in wanted
    }
    found = readings() if "readings" in wanted else ()
    document = text.mcl_hpl_document(tables, curves) | text.clusters_document(clusters)
    if found:
        document["readings"] = text.readings_document(found)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        for name, picture in text.mcl_hpl_pictures(tables, curves).items():
            save(picture, out / name)
        for name, (lines, measured) in clusters.items():
            title = f"{name.capitalize().replace('-', ' ')}: the P100 cluster"
            save(text.figure_over_sizes(title, lines, measured), out / f"{name}.svg")
        (out / "mcl-hpl.json").write_text(json.dumps(document, indent=2), "utf-8")
    if as_json:
        click.echo(json.dumps(document, indent=2))
    else:
        text.print_mcl_hpl(tables, curves)
        text.print_clusters(clusters)
        if found:
            text.print_readings(found)


def _write(items: "list[Item]", folder: Path | None) -> None:
    from volvelle.reproductions.item import write_item  # noqa: PLC0415 - short start-up

    if folder is not None:
        for item in items:
            write_item(item, folder)


def _print(items: "list[Item]", *, most: int = 120, tables: tuple[str, ...] = ()) -> None:
    """Words of every item, and its tables: of all, or of some."""
    from volvelle.report.terminal import print_sheet  # noqa: PLC0415 - short start-up

    shown: set[Sheet] = set()
    for item in items:
        click.echo(f"\n{item.title}\n{item.lead}")
        for sheet in item.sheets if not tables or item.name in tables else ():
            # Figures of one study share their constants, which are told once.
            if sheet not in shown:
                print_sheet(sheet, most=most)
                shown.add(sheet)
