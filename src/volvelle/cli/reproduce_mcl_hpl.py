"""``volvelle reproduce mcl-hpl``."""

import json
from pathlib import Path

import click

__all__ = ["mcl_hpl"]

_PARTS = ("table-1", "table-2-single", "table-2", "table-5", "figure-3")


@click.command("mcl-hpl", short_help="Tables 1, 2 and 5 and figure 3 of the multi-layered model of Linpack.")
@click.option("--only", multiple=True, type=click.Choice(_PARTS), help="Parts to compute. [default: all]")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Write pictures and JSON.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def mcl_hpl(*, only: tuple[str, ...], out: Path | None, as_json: bool) -> None:
    """Compute Kim et al. (ETRI Journal 2021) again, beside what they print and what was measured."""
    from volvelle.report.figures.rendering import save  # noqa: PLC0415 - short start-up
    from volvelle.reproductions.mcl_hpl.study import figure_3, reproduce_mcl_hpl  # noqa: PLC0415 - short start-up
    from volvelle.reproductions.mcl_hpl.text import (  # noqa: PLC0415 - short start-up
        mcl_hpl_document,
        mcl_hpl_pictures,
        print_mcl_hpl,
    )

    wanted = only or _PARTS
    tables = [table for table in reproduce_mcl_hpl() if table.key in wanted]
    curves = figure_3() if "figure-3" in wanted else ()
    document = mcl_hpl_document(tables, curves)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        for name, picture in mcl_hpl_pictures(tables, curves).items():
            save(picture, out / name)
        (out / "mcl-hpl.json").write_text(json.dumps(document, indent=2), "utf-8")
    if as_json:
        click.echo(json.dumps(document, indent=2))
    else:
        print_mcl_hpl(tables, curves)
