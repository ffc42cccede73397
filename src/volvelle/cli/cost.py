"""``volvelle cost --on SYSTEM …``."""

import click

from volvelle.base.python_function import ask
from volvelle.cli.output import Brief, Json
from volvelle.cli.question_command import command
from volvelle.questions.cost import CostQuestion


class _Output(Brief, Json):
    pass


def _run(question: CostQuestion, output: _Output) -> None:
    from volvelle.verbs.cost import cost as answered  # noqa: PLC0415 - keeps start-up short

    account = ask(answered, question)
    if output.as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("cost", account))
    else:
        from volvelle.report.cost_text import print_cost  # noqa: PLC0415 - not needed for JSON

        print_cost(account, brief=output.brief)


cost = command(CostQuestion, _Output, _run)
