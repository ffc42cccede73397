"""``volvelle scale MODEL --on SYSTEM --from N --to N --strong|--weak …``."""

from pathlib import Path

import click

from volvelle.base.python_function import ask
from volvelle.base.question import option
from volvelle.cli.output import PLOT, Brief, Json
from volvelle.cli.question_command import command
from volvelle.cli.waiting import counting
from volvelle.questions.scale import ScaleQuestion


class _Output(Brief, Json):
    plot: Path | None = option(PLOT, default=None)


def _run(question: ScaleQuestion, output: _Output) -> int:
    from volvelle.verbs.scale import scale as answered  # noqa: PLC0415 - keeps start-up short

    plot = output.plot
    with counting("{:,} accelerators", quiet=output.as_json, before="searching layouts") as progress:
        answer = ask(answered, question.changed(progress=progress))
    if plot is not None and answer.first is not None:
        from volvelle.report.figures.rendering import save  # noqa: PLC0415 - pictures are slow
        from volvelle.report.scale.picture import scale_picture  # noqa: PLC0415 - pictures are slow

        save(scale_picture(answer), plot)
    if output.as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("scale", answer))
    else:
        from volvelle.report.scale.text import print_scaling  # noqa: PLC0415 - not needed for JSON

        print_scaling(answer, brief=output.brief)
    return 1 if answer.first is None else 0


scale = command(ScaleQuestion, _Output, _run)
