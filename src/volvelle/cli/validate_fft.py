"""``volvelle validate fft``."""

import json
from pathlib import Path

import click

__all__ = ["validate_fft"]


@click.command("fft", short_help="Fourier transforms against published timings.")
@click.option(
    "--data",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE.csv",
    help="Runs of your own, in the columns of the shipped table.",
)
@click.option("--worst", default=15, show_default=True, type=click.IntRange(0), help="Rows to show.")
@click.option("--markdown", is_flag=True, help="Print the tables of the documentation page.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def validate_fft(*, data: Path | None, worst: int, markdown: bool, as_json: bool) -> None:
    """Predict the time of every measured transform; held-out and calibration rows apart."""
    from volvelle.catalogue.fft_measurements import fft_measurements  # noqa: PLC0415 - short start-up
    from volvelle.quantities import SECONDS, show  # noqa: PLC0415 - short start-up
    from volvelle.report.row_scores_text import print_rows, rows_markdown  # noqa: PLC0415 - short start-up
    from volvelle.study.fft_validation import validate_fft as validate  # noqa: PLC0415 - short start-up
    from volvelle.study.row_scores import row_document  # noqa: PLC0415 - short start-up

    found = validate(fft_measurements(data))
    if as_json:
        click.echo(json.dumps(row_document(found), indent=2))
    elif markdown:
        click.echo(rows_markdown(found))
    else:
        print_rows(found, worst=worst, show=lambda value: show(value, SECONDS))
