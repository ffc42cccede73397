"""``volvelle validate APPLICATION``."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from volvelle.cli.application_commands import DATA, JSON, ApplicationGroup, chosen, with_options

if TYPE_CHECKING:
    from volvelle.applications.contract import Application
    from volvelle.applications.measured_table import MeasuredTable
    from volvelle.applications.scores import RowValidation

_OUTPUT = click.Path(dir_okay=False, writable=True, path_type=Path)


def _command(application: "Application[Any, Any, Any, Any]") -> click.Command:
    def run(
        *,
        data: Path | None,
        group: str | None,
        worst: int,
        html: Path | None,
        plot: Path | None,
        markdown: bool,
        as_json: bool,
        **given: Any,
    ) -> None:
        from volvelle.report.applications.documents import validation_document  # noqa: PLC0415 - short start-up
        from volvelle.report.applications.scores_text import (  # noqa: PLC0415 - short start-up
            print_validation,
            validation_markdown,
        )
        from volvelle.report.applications.validation_page import (  # noqa: PLC0415 - short start-up
            validation_page,
            validation_picture,
        )
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - short start-up
        from volvelle.report.figures.rendering import save  # noqa: PLC0415 - short start-up

        if plot is not None and plot.suffix not in (".svg", ".png"):
            raise click.BadParameter(f"{plot.name} ends neither in .svg nor in .png", param_hint="--plot")
        options = chosen(application.validate_options, given)
        validation = _validated(application, application.rows(data).only((group,) if group else ()))
        if html is not None:
            html.write_text(validation_page(application, validation), "utf-8")
        if plot is not None:
            save(validation_picture(application, validation), plot)
        if as_json:
            click.echo(json_text("validate", validation_document(application, validation, **options)))
        elif markdown:
            click.echo(validation_markdown(application, validation, **options))
        else:
            print_validation(application, validation, worst=worst, **options)

    command = with_options(run, application.validate_options)
    for option in reversed(
        (
            DATA,
            click.option("--group", metavar="NAME", help="Only publications whose names start like that."),
            click.option("--worst", default=15, show_default=True, type=click.IntRange(0), help="Rows to show."),
            click.option("--html", type=_OUTPUT, metavar="FILE", help="Write a page with a picture and all rows."),
            click.option("--plot", type=_OUTPUT, metavar="FILE", help="Write a picture, .svg or .png."),
            click.option("--markdown", is_flag=True, help="Print the tables of the documentation page."),
            JSON,
        )
    ):
        command = option(command)
    says = f"{application.about} Held-out and calibration rows apart."
    return click.command(application.word, short_help=application.about, help=says)(command)


@click.group(cls=ApplicationGroup, make=_command, short_help="Hold the model against measurements, worst rows first.")
def validate() -> None:
    """Hold the model, with the catalogue's frozen constants, against published measurements."""


def _validated(application: "Application[Any, Any, Any, Any]", table: "MeasuredTable[Any]") -> "RowValidation":
    """Predict all rows, with a bar where somebody watches."""
    from rich.console import Console  # noqa: PLC0415 - short start-up
    from rich.progress import Progress  # noqa: PLC0415 - short start-up

    from volvelle.applications.validation import validate as validated  # noqa: PLC0415 - short start-up

    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("predicting", total=len(table.rows))
        return validated(application, table, advance=lambda: bar.advance(task))
