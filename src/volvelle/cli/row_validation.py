"""``volvelle validate BENCHMARK``: one command for every table of measured rows."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from volvelle.applications.scores import RowValidation
    from volvelle.quantities import Quantity

__all__ = ["row_validation"]

Answer = tuple["RowValidation", dict[str, object], "Quantity"]
"""What was found, the same for JSON, and what its values are."""


def row_validation(word: str, found: Callable[[Path | None], Answer], *, short: str, says: str) -> click.Command:
    """The command that predicts every row of a table; `found` loads what it needs when it is asked."""

    @click.command(word, short_help=short, help=says)
    @click.option(
        "--data",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        metavar="FILE.csv",
        help="Runs of your own, in the columns of a shipped table.",
    )
    @click.option("--worst", default=15, show_default=True, type=click.IntRange(0), help="Rows to show.")
    @click.option("--markdown", is_flag=True, help="Print the tables of the documentation page.")
    @click.option("--json", "as_json", is_flag=True, help="Print JSON.")
    def command(*, data: Path | None, worst: int, markdown: bool, as_json: bool) -> None:
        from volvelle.quantities import show  # noqa: PLC0415 - short start-up
        from volvelle.report.applications.scores_text import print_rows, rows_markdown  # noqa: PLC0415 - short start-up

        rows, document, kind = found(data)
        if as_json:
            click.echo(json.dumps(document, indent=2))
        elif markdown:
            click.echo(rows_markdown(rows))
        else:
            print_rows(rows, worst=worst, show=lambda value: show(value, kind))

    return command
