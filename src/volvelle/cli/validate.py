"""``volvelle validate APPLICATION``."""

from pathlib import Path
from typing import Any

import click

from volvelle.applications.contract import AnyApplication
from volvelle.applications.validation import validate as validated
from volvelle.cli.application_commands import DATA, JSON, ApplicationGroup, chosen, own_options
from volvelle.cli.html_page import html_option, write_page
from volvelle.cli.own_runs.validate_calibration import validate_calibration
from volvelle.cli.waiting import bar, waiting
from volvelle.cli.words import Output, Within
from volvelle.domains import ROWS
from volvelle.report.applications.documents import validation_document
from volvelle.report.applications.scores_text import print_validation, validation_markdown
from volvelle.report.applications.validation_page import validation_page, validation_picture
from volvelle.report.documents.document import json_text
from volvelle.report.figures.rendering import save

_OUTPUT = Output()


def _command(application: AnyApplication) -> click.Command:
    says = f"{application.about} Held-out and calibration rows apart."

    @click.command(application.word, short_help=application.about, help=says)
    @DATA
    @click.option("--group", metavar="NAME", help="Only publications whose names start like that.")
    @click.option("--worst", default=15, show_default=True, type=Within(ROWS), help="Rows to show.")
    @html_option
    @click.option("--plot", type=_OUTPUT, metavar="FILE", help="Write a picture, .svg or .png.")
    @click.option("--markdown", is_flag=True, help="Print the tables of the documentation page.")
    @JSON
    @own_options(application.validate_options)
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
        if plot is not None and plot.suffix not in (".svg", ".png"):
            raise click.BadParameter(f"{plot.name} ends neither in .svg nor in .png", param_hint="--plot")
        options = chosen(application.validate_options, given)
        table = application.asked_rows(data, **options).only((group,) if group else ())
        with bar("predicting rows", total=len(table.rows)) as advance:
            validation = validated(application, table, advance=advance)
        write_page(html, lambda command: validation_page(application, validation, command=command))
        if plot is not None:
            save(validation_picture(application, validation), plot)
        if as_json:
            click.echo(json_text("validate", validation_document(application, validation, **options)))
        elif markdown:
            click.echo(validation_markdown(application, validation, **options))
        else:
            print_validation(application, validation, worst=worst, **options)

    return run


@click.group(cls=ApplicationGroup, make=_command, short_help="Hold the model against measurements, worst rows first.")
def validate() -> None:
    """Hold the model, with the catalogue's frozen constants, against published measurements."""


@validate.command(short_help="Whether ranges hold what they promise.")
@JSON
def intervals(*, as_json: bool) -> None:
    """Whether ranges hold what they promise: shares of held-out rows within those of 50, 80 and 95 %.

    By application, and by publication left out of the fit, beside what a plain ± 35 % holds. Takes a minute.
    """
    from volvelle.applications.intervals import interval_report  # noqa: PLC0415 - keeps start-up short
    from volvelle.report.applications.intervals_text import (  # noqa: PLC0415 - keeps start-up short
        intervals_document,
        print_intervals,
    )

    with bar("predicting rows", total=None) as advance:
        report = interval_report(advance=advance)
    if as_json:
        click.echo(json_text("validate", intervals_document(report)))
    else:
        print_intervals(report)


@validate.command(short_help="Effective training time against runs that were reported, all held out.")
@click.option("--worst", default=15, show_default=True, type=Within(ROWS), help="Rows to show.")
@click.option("--markdown", is_flag=True, help="Print the tables of the documentation page.")
@JSON
def goodput(*, worst: int, markdown: bool, as_json: bool) -> None:
    """Effective training time against runs that were reported, from other systems alone; and single figures.

    Intervals are scored, and what is reported as "more than" or "up to" as a bound. The last line has the scores.
    """
    from volvelle.report.job.validation_text import (  # noqa: PLC0415 - keeps start-up short
        goodput_document,
        goodput_markdown,
        print_goodput,
    )
    from volvelle.verbs.validate import validate as verb  # noqa: PLC0415 - keeps start-up short

    with waiting("predicting reported runs"):
        answer = verb("goodput")
    if as_json:
        click.echo(json_text("validate", goodput_document(answer.result, answer.figures)))
    elif markdown:
        click.echo(goodput_markdown(answer.result, answer.figures))
    else:
        print_goodput(answer.result, answer.figures, worst=worst)


validate.add_command(validate_calibration)
