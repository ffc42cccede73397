"""``volvelle collective OPERATION SIZE --on SYSTEM …``."""

from pathlib import Path

import click

from volvelle.base.python_function import ask
from volvelle.base.question import option
from volvelle.cli.output import PLOT, Brief, Json
from volvelle.cli.question_command import command
from volvelle.questions.collective import CollectiveQuestion


class _Output(Brief, Json):
    plot: Path | None = option(PLOT, default=None, help="Draw the times over sizes and over groups.")


def _run(question: CollectiveQuestion, output: _Output) -> None:
    from volvelle.verbs.collective.ask import collective as answered  # noqa: PLC0415 - keeps start-up short

    answer = ask(answered, question)
    if output.plot is not None:
        from volvelle.report.collective.picture import collective_picture  # noqa: PLC0415 - pictures are slow
        from volvelle.report.figures.rendering import save  # noqa: PLC0415 - pictures are slow

        save(collective_picture(answer), output.plot)
    if output.as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("collective", answer))
    else:
        from volvelle.report.collective.text import print_collective  # noqa: PLC0415 - not needed for JSON

        print_collective(answer, brief=output.brief)


collective = command(CollectiveQuestion, _Output, _run)
