"""``volvelle calibrate from LOG … --on SYSTEM --save mine.yaml``."""

import click

from volvelle.base.python_function import ask
from volvelle.cli.output import Json
from volvelle.cli.question_command import command
from volvelle.cli.waiting import waiting
from volvelle.questions.own_runs import CalibrateFromQuestion


class _Output(Json):
    pass


def _run(question: CalibrateFromQuestion, output: _Output) -> None:
    from volvelle.report.own_runs.text import own_runs_document, print_own_runs  # noqa: PLC0415 - keeps start-up short
    from volvelle.verbs.own_runs.calibrate import calibrate_from as answered  # noqa: PLC0415 - keeps start-up short

    with waiting(f"reading {len(question.logs)} logs"):
        calibrated = ask(answered, question)
    if output.as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("calibrate", own_runs_document(calibrated)))
    else:
        print_own_runs(calibrated)


calibrate_from = command(CalibrateFromQuestion, _Output, _run)
