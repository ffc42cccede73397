"""``volvelle validate hpl``."""

import json
from pathlib import Path

import click

__all__ = ["validate_hpl"]


@click.command("hpl", short_help="High-Performance Linpack against published runs and the TOP500.")
@click.option(
    "--data",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE.csv",
    help="Runs of your own, in the columns of one of the shipped tables.",
)
@click.option("--worst", default=15, show_default=True, type=click.IntRange(0), help="Rows to show.")
@click.option("--markdown", is_flag=True, help="Print the tables of the documentation page.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def validate_hpl(*, data: Path | None, worst: int, markdown: bool, as_json: bool) -> None:
    """Predict the rate of every measured run, panel by panel; held-out and calibration rows apart."""
    from volvelle.catalogue.hpl_measurements import hpl_measurements  # noqa: PLC0415 - short start-up
    from volvelle.quantities import FLOP_PER_SECOND, show  # noqa: PLC0415 - short start-up
    from volvelle.report.row_scores_text import print_rows, rows_markdown  # noqa: PLC0415 - short start-up
    from volvelle.study.hpl_validation import hpl_document  # noqa: PLC0415 - short start-up
    from volvelle.study.hpl_validation import validate_hpl as validate  # noqa: PLC0415 - short start-up

    found = validate(hpl_measurements(data))
    if as_json:
        click.echo(json.dumps(hpl_document(found), indent=2))
    elif markdown:
        click.echo(rows_markdown(found))
    else:
        print_rows(found, worst=worst, show=lambda value: show(value, FLOP_PER_SECOND))
