"""``volvelle estimate MODEL --on SYSTEM …``."""

from pathlib import Path

import click

from volvelle.base.option_kinds import OutputFile, Switch, Words
from volvelle.base.python_function import ask
from volvelle.base.question import Option, option
from volvelle.cli.output import Brief, Html, Json, write_page
from volvelle.cli.question_command import command
from volvelle.cli.waiting import waiting
from volvelle.errors import MappingError
from volvelle.questions.estimate import EstimateQuestion
from volvelle.questions.shared import TIMELINE


class _Output(Brief, Html, Json):
    detail: bool = option(
        Option("--detail", "Print every operation, and every layer in every phase.", kind=Switch(), group="Output"),
        default=False,
    )
    workload: Path | None = option(
        Option(
            "--workload",
            "Write FLOP, bytes and collectives by layer and phase: .csv, or .txt for ASTRA-sim 1.",
            kind=OutputFile(),
            group="Files",
        ),
        default=None,
    )
    timeline: Path | None = option(
        TIMELINE, default=None, help="Write the replayed step for ui.perfetto.dev: .json or .json.gz."
    )
    trace: Path | None = option(
        Option(
            "--trace",
            "Write the replayed step for another simulator into a new folder.",
            kind=OutputFile(folder=True, new=True),
            group="Files",
        ),
        default=None,
    )
    trace_format: str = option(
        Option(
            "--trace-format",
            "Format of --trace: Chakra, or Chakra with the files of ASTRA-sim 2.",
            kind=Words(("chakra", "astra-sim")),
            group="Files",
        ),
        default="chakra",
    )
    every_rank: bool = option(
        Option(
            "--every-rank",
            "Write a Chakra trace of every rank, not one per pipeline stage.",
            kind=Switch(),
            group="Files",
        ),
        default=False,
    )


def _run(question: EstimateQuestion, output: _Output) -> int:
    from volvelle.verbs.estimate import estimate as answered  # noqa: PLC0415 - keeps completion of options short

    answer = ask(answered, question)
    if output.workload is not None:
        from volvelle.interchange.layer_workload import write_layer_workload  # noqa: PLC0415 - keeps start-up short

        if answer.speed is None:
            raise MappingError("there is no such layout, so no layers to write; --workload needs one that can exist")
        write_layer_workload(answer.layer_phases, answer.estimate.mapping, output.workload)
        click.echo(f"written: {output.workload}", err=True)
    if output.timeline is not None:
        from volvelle.interchange.perfetto import write_timeline  # noqa: PLC0415 - keeps start-up short

        left_out = write_timeline(answer.replayed, output.timeline)
        click.echo(f"written: {output.timeline}" + (f", {left_out:,} tasks left out" if left_out else ""), err=True)
    if output.trace is not None:
        from volvelle.interchange.step_traces.write import write_step_trace  # noqa: PLC0415 - keeps start-up short

        with waiting(f"writing {output.trace}"):
            written = write_step_trace(
                answer.replayed, output.trace, form=output.trace_format, every_rank=output.every_rank
            )
        click.echo(
            f"written: {output.trace}: {written.nodes:,} nodes of {written.ranks:,} ranks in {written.files:,} files",
            err=True,
        )
        for missing in written.unsaid:
            click.echo(f"  not in this format: {missing}", err=True)
    if output.html is not None:
        from volvelle.report.page.estimate import estimate_page  # noqa: PLC0415 - keeps start-up short

        write_page(output.html, estimate_page(answer, command=question.command))
    if output.as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("estimate", answer))
    elif output.brief:
        from volvelle.report.brief_text import print_brief_estimate  # noqa: PLC0415 - not needed for JSON

        print_brief_estimate(answer)
    else:
        from volvelle.report.estimate_text import print_estimate  # noqa: PLC0415 - not needed for JSON

        print_estimate(answer, detail=output.detail)
    return 0 if answer.estimate.feasible else 1


estimate = command(EstimateQuestion, _Output, _run)
