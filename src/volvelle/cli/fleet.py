"""``volvelle fleet FILE.yaml``, or ``volvelle fleet MODEL --on SYSTEM --load LOAD --slo LIMITS``."""

from pathlib import Path

import click

from volvelle.base.python_function import ask
from volvelle.base.question import option
from volvelle.cli.output import PLOT, Brief, Json
from volvelle.cli.question_command import command
from volvelle.cli.waiting import waiting
from volvelle.questions.serving import FleetQuestion


class _Output(Brief, Json):
    plot: Path | None = option(PLOT, default=None, help="Draw GPUs and load, hour by hour.")


def _run(question: FleetQuestion, output: _Output) -> int:
    from volvelle.verbs.fleet.size import fleet as answered  # noqa: PLC0415 - keeps completion of options short

    with waiting("following requests at one rate after the other") as progress:
        answer = ask(answered, question.changed(progress=progress))
    if output.plot is not None and answer.services:
        from volvelle.report.figures.rendering import save  # noqa: PLC0415 - pictures are slow
        from volvelle.report.fleet.picture import fleet_picture  # noqa: PLC0415 - pictures are slow

        save(fleet_picture(answer), output.plot)
    if output.as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("fleet", answer))
    else:
        from volvelle.report.fleet.text import print_fleet  # noqa: PLC0415 - not needed for JSON

        print_fleet(answer, brief=output.brief)
    return 0 if answer.feasible else 1


fleet = command(FleetQuestion, _Output, _run)
