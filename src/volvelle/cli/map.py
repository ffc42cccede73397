"""``volvelle map GRAPH --on SYSTEM …``."""

import sys
from pathlib import Path

import click

from volvelle.base.option_kinds import OutputFile
from volvelle.base.python_function import ask
from volvelle.base.question import option
from volvelle.cli.output import OUT, Brief, Html, Json, write_page
from volvelle.cli.question_command import command
from volvelle.cli.waiting import waiting
from volvelle.questions.map import MapQuestion


class _Output(Brief, Html, Json):
    out: Path | None = option(OUT, default=None, kind=OutputFile(folder=True), help="Folder to write pictures into.")


def _run(question: MapQuestion, output: _Output) -> int:
    from volvelle.verbs.map import map as answered  # noqa: PLC0415 - keeps start-up short

    with waiting("searching for the best mapping"):
        answer = ask(answered, question)
    if output.out is not None:
        from volvelle.report.figures.rendering import save  # noqa: PLC0415 - drawn only where asked for
        from volvelle.report.map_text import map_pictures  # noqa: PLC0415 - drawn only where asked for

        output.out.mkdir(parents=True, exist_ok=True)
        for name, picture in map_pictures(answer).items():
            save(picture, output.out / name)
    if output.html is not None:
        from volvelle.report.page.map import map_page  # noqa: PLC0415 - drawn only where asked for
        from volvelle.verbs.named import catalogue_of  # noqa: PLC0415

        references = catalogue_of(question.catalogue).references
        write_page(output.html, map_page(answer, references=references, command=question.command))
    if output.as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("map", answer))
    else:
        from volvelle.report.map_text import print_map  # noqa: PLC0415 - rich is slow

        print_map(answer, brief=output.brief)
        if output.out is not None and sys.stderr.isatty():
            click.echo(f"pictures in {output.out}", err=True)
    return 0 if answer.mapping.feasible else 1


map = command(MapQuestion, _Output, _run)  # noqa: A001 - the verb's name
