"""``volvelle validate APPLICATION``."""

from functools import partial
from pathlib import Path

import click

from volvelle.applications.contract import AnyApplication
from volvelle.applications.validation import rows_of
from volvelle.applications.validation import validate as validated
from volvelle.base.option_kinds import Number, Switch
from volvelle.base.question import Option, Question, option
from volvelle.cli.application_commands import ApplicationGroup
from volvelle.cli.output import PLOT, Html, Json, write_page
from volvelle.cli.own_runs.validate_calibration import validate_calibration
from volvelle.cli.question_command import command
from volvelle.cli.waiting import bar, waiting
from volvelle.domains import ROWS
from volvelle.questions.applications import GoodputQuestion, IntervalsQuestion, ValidateQuestion
from volvelle.report.applications.documents import validation_document
from volvelle.report.applications.scores_text import print_validation, validation_markdown
from volvelle.report.applications.validation_page import validation_page, validation_picture
from volvelle.report.documents.document import json_text
from volvelle.report.figures.rendering import save


class _Tables(Question):
    worst: int = option(Option("--worst", "Rows to show, worst first.", kind=Number(ROWS), group="Output"), default=15)
    markdown: bool = option(
        Option("--markdown", "Print the tables of the documentation page.", kind=Switch(), group="Output"),
        default=False,
    )


class _Goodput(Json, _Tables):
    pass


class _Output(Json, Html, _Tables):
    plot: Path | None = option(PLOT, help="Draw predictions over measurements: .svg or .png.", default=None)


def _run(application: AnyApplication, question: ValidateQuestion, output: _Output) -> None:
    table = rows_of(application, question)
    with bar("predicting rows", total=len(table.rows)) as advance:
        validation = validated(application, table, advance=advance)
    if output.html is not None:
        write_page(output.html, validation_page(application, validation, command=question.command))
    if output.plot is not None:
        save(validation_picture(application, validation), output.plot)
    if output.as_json:
        click.echo(json_text("validate", validation_document(application, validation, question)))
    elif output.markdown:
        click.echo(validation_markdown(application, validation, question))
    else:
        print_validation(application, validation, question, worst=output.worst)


def _command(application: AnyApplication) -> click.Command:
    return command(application.validate_question, _Output, partial(_run, application))


@click.group(cls=ApplicationGroup, make=_command, short_help="Compare the model with measurements, worst rows first.")
def validate() -> None:
    """Compare the model, with the catalogue's frozen constants, with published measurements."""


def _run_intervals(question: IntervalsQuestion, output: Json) -> None:
    from volvelle.applications.intervals import interval_report  # noqa: PLC0415 - keeps start-up short
    from volvelle.report.applications.intervals_text import (  # noqa: PLC0415 - keeps start-up short
        intervals_document,
        print_intervals,
    )

    with bar("predicting rows", total=None) as advance:
        report = interval_report(advance=advance)
    if output.as_json:
        click.echo(json_text("validate", intervals_document(report)))
    else:
        print_intervals(report)


def _run_goodput(question: GoodputQuestion, output: _Goodput) -> None:
    from volvelle.report.job.validation_text import (  # noqa: PLC0415 - keeps start-up short
        goodput_document,
        goodput_markdown,
        print_goodput,
    )
    from volvelle.verbs.validate import GOODPUT  # noqa: PLC0415 - keeps start-up short
    from volvelle.verbs.validate import validate as answered  # noqa: PLC0415 - keeps start-up short

    with waiting("predicting reported runs"):
        answer = answered(GOODPUT)
    if output.as_json:
        click.echo(json_text("validate", goodput_document(answer.result, answer.figures)))
    elif output.markdown:
        click.echo(goodput_markdown(answer.result, answer.figures))
    else:
        print_goodput(answer.result, answer.figures, worst=output.worst)


validate.add_command(command(IntervalsQuestion, Json, _run_intervals))
validate.add_command(command(GoodputQuestion, _Goodput, _run_goodput))
validate.add_command(validate_calibration)
