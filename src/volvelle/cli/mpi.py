"""``volvelle mpi TRACE… [--on SYSTEM] [--ranks N] …``."""

from pathlib import Path

import click

from volvelle.base.option_kinds import OutputFile
from volvelle.base.python_function import ask
from volvelle.base.question import option
from volvelle.cli.output import OUT, PLOT, Brief, Json
from volvelle.cli.question_command import command
from volvelle.questions.mpi import MpiQuestion


class _Output(Brief, Json):
    matrix: Path | None = option(PLOT, flag="--matrix", default=None, help="Draw the bytes between ranks.")
    out: Path | None = option(
        OUT,
        default=None,
        kind=OutputFile(endings=(".csv", ".csv.gz")),
        help="Write the trace with its new times or ranks, as .csv or .csv.gz.",
    )


def _run(question: MpiQuestion, output: _Output) -> None:
    from volvelle.verbs.mpi import mpi as answered  # noqa: PLC0415 - keeps start-up short

    answer = ask(answered, question)
    if output.out is not None:
        from volvelle.interchange.mpi_traces.csv_file import write_events  # noqa: PLC0415 - keeps start-up short

        write_events(answer.trace, output.out)
    if output.matrix is not None:
        from volvelle.report.figures.rendering import save  # noqa: PLC0415 - pictures are slow
        from volvelle.report.mpi.picture import matrix_picture  # noqa: PLC0415 - pictures are slow

        save(matrix_picture(answer), output.matrix)
    if output.as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("mpi", answer))
    else:
        from volvelle.report.mpi.text import print_mpi  # noqa: PLC0415 - not needed for JSON

        print_mpi(answer, brief=output.brief)


mpi = command(MpiQuestion, _Output, _run)
