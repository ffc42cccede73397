"""``volvelle job MODEL --on SYSTEM --tokens N …``."""

import click

from volvelle.base.python_function import ask
from volvelle.cli.output import Brief, Json
from volvelle.cli.question_command import command
from volvelle.cli.waiting import waiting
from volvelle.questions.job import JobQuestion


class _Output(Brief, Json):
    pass


def _run(question: JobQuestion, output: _Output) -> int:
    from volvelle.verbs.job.job import job as answered  # noqa: PLC0415 - keeps start-up short

    with waiting("timing the step and its failures"):
        answer = ask(answered, question)
    if output.as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("job", answer))
    else:
        from volvelle.report.job.text import print_job  # noqa: PLC0415 - not needed for JSON

        print_job(answer, brief=output.brief)
    return 0 if answer.feasible else 1


job = command(JobQuestion, _Output, _run)
