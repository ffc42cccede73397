"""``volvelle replay TRACE [PROFILE] --on SYSTEM …``."""

import click

from volvelle.base.python_function import ask
from volvelle.cli.output import Brief, Json
from volvelle.cli.question_command import command
from volvelle.cli.waiting import waiting
from volvelle.questions.replay import ReplayQuestion


class _Output(Brief, Json):
    pass


def _run(question: ReplayQuestion, output: _Output) -> None:
    from volvelle.verbs.replay import replay as answered  # noqa: PLC0415 - keeps start-up short

    with waiting("replaying the trace"):
        answer = ask(answered, question)
    if output.as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("replay", answer))
    else:
        from volvelle.report.replay.text import print_replay  # noqa: PLC0415 - not needed for JSON

        print_replay(answer, brief=output.brief)


replay = command(ReplayQuestion, _Output, _run)
