"""``volvelle calibrate APPLICATION``."""

from functools import partial
from pathlib import Path

import click

from volvelle.applications.contract import AnyApplication
from volvelle.applications.measured_table import calibration_rows
from volvelle.catalogue import Catalogue
from volvelle.cli.application_commands import ApplicationGroup
from volvelle.cli.output import Json
from volvelle.cli.own_runs.calibrate_from import calibrate_from
from volvelle.cli.question_command import command
from volvelle.cli.serving.calibrate import fit_to_benchmark
from volvelle.cli.waiting import waiting
from volvelle.questions.applications import CalibrateQuestion
from volvelle.questions.serving_benchmarks import CalibrateServing
from volvelle.report.applications.documents import fit_document
from volvelle.report.applications.fitted_text import print_fit
from volvelle.report.documents.document import json_text


class _Output(Json):
    pass


def _run(application: AnyApplication, question: CalibrateQuestion, output: _Output) -> None:
    if isinstance(question, CalibrateServing) and question.own:
        fit_to_benchmark(question, output)
        return
    file = None if question.data is None else Path(question.data)
    rows = calibration_rows(application.rows(file), shipped=file is None)
    with waiting(f"fitting to {len(rows.rows)} calibration rows"):
        fit = application.fit(rows, Catalogue(), question)
    if output.as_json:
        click.echo(json_text("calibrate", fit_document(application, fit)))
    else:
        print_fit(f"constants of {application.word}, fitted again", fit)


def _command(application: AnyApplication) -> click.Command | None:
    if not application.calibrates:
        return None
    return command(application.fit_question, _Output, partial(_run, application))


@click.group(
    cls=ApplicationGroup,
    make=_command,
    short_help="Fit constants again, from measurements of the package or from logs of your own.",
)
def calibrate() -> None:
    """Fit constants again, and show them next to those of the catalogue. Only --save writes a file."""


calibrate.add_command(calibrate_from)
