"""``volvelle calibrate BENCHMARK``: one command for every table of measured rows."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from volvelle.applications.fitted_constants import FittedConstant

__all__ = ["Fitted", "row_calibration"]

Fitted = tuple[Sequence["FittedConstant"], Sequence[str]]
"""The constants, and what else there is to say of the fit."""


def row_calibration(word: str, found: Callable[[Path | None], Fitted], *, short: str, says: str) -> click.Command:
    """The command that fits the constants of a benchmark again; `found` loads what it needs when it is asked."""

    @click.command(word, short_help=short, help=says)
    @click.option(
        "--data",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        metavar="FILE.csv",
        help="Runs of your own, in the columns of a shipped table; all must be marked calibration in the column split.",
    )
    @click.option("--json", "as_json", is_flag=True, help="Print JSON, in SI units.")
    def command(*, data: Path | None, as_json: bool) -> None:
        from volvelle.report.applications.fitted_text import fitted_document, print_fitted  # noqa: PLC0415 - short start-up

        constants, notes = found(data)
        if as_json:
            click.echo(json.dumps(fitted_document(constants, notes), indent=2))
        else:
            print_fitted(f"constants of {word}, fitted again", constants, notes)

    return command
