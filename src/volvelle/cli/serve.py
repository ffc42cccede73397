"""``volvelle serve MODEL --on SYSTEM …``."""

from contextlib import nullcontext

import click

from volvelle.base.python_function import ask
from volvelle.cli.output import Brief, Json
from volvelle.cli.question_command import command
from volvelle.cli.waiting import waiting
from volvelle.questions.serving import ServeQuestion

_FOLLOWING = "following requests"


class _Output(Brief, Json):
    pass


def _run(question: ServeQuestion, output: _Output) -> int:
    if question.splits:
        return _split(question, output)
    from volvelle.verbs.serving.serve import serve as answered  # noqa: PLC0415 - keeps completion of options short

    with nullcontext() if question.load is None else waiting(_FOLLOWING):
        answer = ask(answered, question)
    if output.as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("serve", answer))
    else:
        from volvelle.report.serving.text import print_serving  # noqa: PLC0415 - not needed for JSON

        print_serving(answer, brief=output.brief)
    return 0 if answer.feasible else 1


def _split(question: ServeQuestion, output: _Output) -> int:
    """Answer for two pools."""
    from volvelle.verbs.serving.split import serve_split, split_of  # noqa: PLC0415 - slow

    split = split_of(question)
    with waiting(_FOLLOWING):
        answer = ask(serve_split, split)
    if output.as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text
        from volvelle.report.documents.serve_split import ServeSplitDocument  # noqa: PLC0415 - not needed for text

        click.echo(json_text("serve", ServeSplitDocument.model_validate(answer)))
    else:
        from volvelle.report.serving.split_text import print_split  # noqa: PLC0415 - not needed for JSON

        print_split(answer, brief=output.brief)
    return 0 if answer.feasible else 1


serve = command(ServeQuestion, _Output, _run)
