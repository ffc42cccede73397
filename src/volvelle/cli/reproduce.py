"""``volvelle reproduce PAPER``: a published study, computed again from our own models."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from volvelle.base.option_kinds import OutputFile
from volvelle.base.question import option
from volvelle.cli.output import OUT, Json
from volvelle.cli.question_command import command
from volvelle.cli.waiting import bar, waiting
from volvelle.questions.reproduce import (
    COMET_PARTS,
    DFMODEL_PARTS,
    MCL_HPL_PARTS,
    PITFALLS_PARTS,
    CometQuestion,
    DFModelQuestion,
    MclHplQuestion,
    PitfallsQuestion,
)

if TYPE_CHECKING:
    from volvelle.report.sheet import Sheet
    from volvelle.reproductions.item import Item


class _Output(Json):
    out: Path | None = option(
        OUT, kind=OutputFile(folder=True), help="Write pictures, tables, pages and JSON into a folder.", default=None
    )


@click.group(short_help="Compute a published study again.")
def reproduce() -> None:
    """Compute a published study again from our own models, and compare it with what was logged."""


def _run_dfmodel(question: DFModelQuestion, output: _Output) -> None:
    names = tuple(dict.fromkeys(question.only)) or DFMODEL_PARTS
    items = _solved(names)
    _write(items, output.out)
    if output.as_json:
        documents = {item.name: item.document for item in items}
        document = documents[names[0]] if len(question.only) == 1 else documents
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        _print(items)


def _solved(names: tuple[str, ...]) -> "list[Item]":
    """The items, with a bar where somebody watches."""
    from volvelle.catalogue.published.dfmodel import dfmodel as published  # noqa: PLC0415 - short start-up
    from volvelle.reproductions.dfmodel.text import Reproduction  # noqa: PLC0415 - short start-up

    with bar("mapping", total=Reproduction.steps(names)) as advance:
        study = Reproduction(published(), advance=advance)
        return [study.item(name) for name in names]


def _run_comet(question: CometQuestion, output: _Output) -> None:
    from volvelle.catalogue.published.comet import comet as published  # noqa: PLC0415 - short start-up
    from volvelle.reproductions.comet.text import comet_document, comet_item  # noqa: PLC0415 - short start-up

    only = tuple(question.only)
    with waiting("computing the figures of COMET"):
        items = [comet_item(published(), name) for name in dict.fromkeys(only or COMET_PARTS)]
    _write(items, output.out)
    if output.as_json:
        click.echo(json.dumps(comet_document(items), indent=2, ensure_ascii=False))
    else:
        _print(items, most=100, tables=only or ("targets",))


def _run_pitfalls(question: PitfallsQuestion, output: _Output) -> None:
    from volvelle.catalogue.published.pitfalls import pitfalls_talk  # noqa: PLC0415 - short start-up
    from volvelle.reproductions.pitfalls.study import pitfalls_item  # noqa: PLC0415 - short start-up

    with waiting("computing the figures of the talk"):
        items = [pitfalls_item(pitfalls_talk(), name) for name in dict.fromkeys(question.only or PITFALLS_PARTS)]
    _write(items, output.out)
    if output.as_json:
        click.echo(json.dumps({item.name: item.document for item in items}, indent=2, ensure_ascii=False))
    else:
        _print(items)


def _run_mcl_hpl(question: MclHplQuestion, output: _Output) -> None:
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

    wanted, out = question.only or MCL_HPL_PARTS, output.out
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
    if output.as_json:
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


for _command in (
    command(DFModelQuestion, _Output, _run_dfmodel),
    command(CometQuestion, _Output, _run_comet),
    command(PitfallsQuestion, _Output, _run_pitfalls),
    command(MclHplQuestion, _Output, _run_mcl_hpl),
):
    reproduce.add_command(_command)
