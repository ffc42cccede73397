"""``volvelle calibrate APPLICATION``."""

from pathlib import Path
from typing import Any

import click

from volvelle.applications.contract import AnyApplication
from volvelle.applications.measured_table import calibration_rows
from volvelle.catalogue import Catalogue
from volvelle.cli.application_commands import DATA, JSON, ApplicationGroup, chosen, own_options
from volvelle.cli.own_runs.calibrate_from import calibrate_from
from volvelle.cli.serving.calibrate import with_bench
from volvelle.cli.waiting import waiting
from volvelle.report.applications.documents import fit_document
from volvelle.report.applications.fitted_text import print_fit
from volvelle.report.documents.document import json_text


def _command(application: AnyApplication) -> click.Command | None:
    if not application.calibrates:
        return None
    says = (
        f"{application.calibrates} Held-out rows are not read; rows of your own must be marked calibration in the "
        "column split."
    )

    @click.command(application.word, short_help=application.calibrates, help=says)
    @DATA
    @JSON
    @own_options(application.fit_options)
    def run(*, data: Path | None, as_json: bool, **given: Any) -> None:
        rows = calibration_rows(application.rows(data), shipped=data is None)
        with waiting(f"fitting to {len(rows.rows)} calibration rows"):
            fit = application.fit(rows, Catalogue(), **chosen(application.fit_options, given))
        if as_json:
            click.echo(json_text("calibrate", fit_document(application, fit)))
        else:
            print_fit(f"constants of {application.word}, fitted again", fit)

    return with_bench(run) if application.word == "serving" else run


@click.group(
    cls=ApplicationGroup,
    make=_command,
    short_help="Fit constants again, from measurements of the package or from logs of your own.",
)
def calibrate() -> None:
    """Fit constants again, and show them beside the catalogue's. Nothing is written but what --save names."""


calibrate.add_command(calibrate_from)
