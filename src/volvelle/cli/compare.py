"""``volvelle compare A B …``."""

import click

from volvelle.base.python_function import ask
from volvelle.cli.output import Html, Json, write_page
from volvelle.cli.question_command import command
from volvelle.cli.waiting import waiting
from volvelle.questions.compare import CompareQuestion


class _Output(Html, Json):
    pass


def _run(question: CompareQuestion, output: _Output) -> int:
    from volvelle.report.documents.document import json_text  # noqa: PLC0415 - keeps start-up short
    from volvelle.verbs.compare import compare as answered  # noqa: PLC0415

    with waiting(f"comparing {len(question.alternatives)} alternatives"):
        found = ask(answered, question)
    if output.html is not None:
        from volvelle.report.page.compare import compare_page  # noqa: PLC0415 - keeps start-up short

        write_page(output.html, compare_page(found, command=question.command))
    if output.as_json:
        click.echo(json_text("compare", found))
    else:
        from volvelle.report.compare_text import print_comparison  # noqa: PLC0415 - not needed for JSON

        print_comparison(found)
    return 0 if found.feasible else 1


compare = command(CompareQuestion, _Output, _run)
