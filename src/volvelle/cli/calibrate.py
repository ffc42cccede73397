"""``volvelle calibrate APPLICATION``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from volvelle.cli.application_commands import DATA, JSON, ApplicationGroup, chosen, with_options

if TYPE_CHECKING:
    from volvelle.applications.contract import Application


def _command(application: "Application[Any, Any, Any, Any]") -> click.Command | None:
    if not application.calibrates:
        return None

    def run(*, data: Path | None, as_json: bool, **given: Any) -> None:
        from rich.console import Console  # noqa: PLC0415 - short start-up

        from volvelle.applications.measured_table import calibration_rows  # noqa: PLC0415 - short start-up
        from volvelle.catalogue import Catalogue  # noqa: PLC0415 - short start-up
        from volvelle.report.applications.documents import fit_document  # noqa: PLC0415 - short start-up
        from volvelle.report.applications.fitted_text import print_fit  # noqa: PLC0415 - short start-up
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - short start-up

        rows = calibration_rows(application.rows(data), shipped=data is None)
        with Console(stderr=True).status(f"fitting to {len(rows.rows)} calibration rows"):
            fit = application.fit(rows, Catalogue(), **chosen(application.fit_options, given))
        if as_json:
            click.echo(json_text("calibrate", fit_document(application, fit)))
        else:
            print_fit(f"constants of {application.word}, fitted again", fit)

    command = DATA(JSON(with_options(run, application.fit_options)))
    says = (
        f"{application.calibrates} Held-out rows are not read; rows of your own must be marked calibration in the "
        "column split."
    )
    return click.command(application.word, short_help=application.calibrates, help=says)(command)


@click.group(
    cls=ApplicationGroup,
    make=_command,
    short_help="Fit constants again from the measurements that ship with the package.",
)
def calibrate() -> None:
    """Fit constants again, and show them beside the catalogue's. Nothing is written."""
