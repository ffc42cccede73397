"""``volvelle why-unsure MODEL --on SYSTEM …``."""

import click

from volvelle.base.python_function import ask
from volvelle.cli.output import Json
from volvelle.cli.question_command import command
from volvelle.cli.waiting import waiting
from volvelle.questions.crosscheck import WhyUnsureQuestion


class _Output(Json):
    pass


def _run(question: WhyUnsureQuestion, output: _Output) -> None:
    from volvelle.verbs.why_unsure import why_unsure as answered  # noqa: PLC0415 - keeps start-up short

    with waiting("sampling every uncertain number"):
        answer = ask(answered, question)
    if output.as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415

        click.echo(json_text("why-unsure", answer))
    else:
        from volvelle.report.why_unsure_text import print_why_unsure  # noqa: PLC0415

        print_why_unsure(answer)


why_unsure = command(WhyUnsureQuestion, _Output, _run)
