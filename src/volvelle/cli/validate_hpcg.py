"""``volvelle validate hpcg``."""

import json
from pathlib import Path

import click

__all__ = ["validate_hpcg"]


@click.command("hpcg", short_help="HPCG against published runs.")
@click.option(
    "--data",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE.csv",
    help="Runs of your own, in the columns of the shipped table.",
)
@click.option("--worst", default=15, show_default=True, type=click.IntRange(0), help="Rows to show.")
@click.option("--markdown", is_flag=True, help="Print the tables of the documentation page.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def validate_hpcg(*, data: Path | None, worst: int, markdown: bool, as_json: bool) -> None:
    """Predict the rate of every measured HPCG run; held-out and calibration rows apart."""
    from volvelle.catalogue.hpcg_measurements import hpcg_measurements  # noqa: PLC0415 - short start-up
    from volvelle.quantities import FLOP_PER_SECOND, show  # noqa: PLC0415 - short start-up
    from volvelle.report.row_scores_text import print_rows, rows_markdown  # noqa: PLC0415 - short start-up
    from volvelle.study.hpcg_validation import validate_hpcg as validate  # noqa: PLC0415 - short start-up
    from volvelle.study.row_scores import row_document  # noqa: PLC0415 - short start-up

    found = validate(hpcg_measurements(data))
    if as_json:
        click.echo(json.dumps(row_document(found), indent=2))
    elif markdown:
        click.echo(rows_markdown(found))
    else:
        print_rows(found, worst=worst, show=lambda value: show(value, FLOP_PER_SECOND))
