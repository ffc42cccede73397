"""``volvelle mpi TRACE… [--on SYSTEM] [--ranks N] …``."""

from pathlib import Path
from typing import Any

import click

from volvelle.cli.words import BRIEF, Output, Within
from volvelle.domains import NO_SIZE, SEED
from volvelle.verbs.mpi import COMPUTE_RATIO, INTENSITY
from volvelle.workload.message_passing.trace import RANKS


@click.command(short_help="What an MPI trace tells, how long it takes on another machine, and on more ranks.")
@click.argument("traces", nargs=-1, required=True, metavar="TRACE...", type=click.Path(path_type=Path))
@click.option("--on", metavar="SYSTEM", help="Replay it on this machine, rank r on chip r, like dgx-h100/32.")
@click.option(
    "--ranks",
    type=Within(RANKS),
    help="The same program on so many ranks, from traces of at least two counts of ranks.",
)
@click.option(
    "--compute-ratio",
    type=Within(COMPUTE_RATIO),
    help="Computation takes so many times as long as recorded. [default: 1]",
)
@click.option("--recorded-on", metavar="SYSTEM", help="The machine it was recorded on: computation by the roofline.")
@click.option("--intensity", type=Within(INTENSITY), help="Of that computation, in FLOP a byte of memory traffic.")
@click.option(
    "--eager",
    default="64KiB",
    type=Within(NO_SIZE),
    show_default=True,
    help="Messages up to so many bytes do not wait for their receivers.",
)
@click.option(
    "--with",
    "sharing",
    type=click.Choice(["auto", "flows", "laws"]),
    default="auto",
    show_default=True,
    help="Messages share links as flows, or each has the network to itself by laws; auto: flows up to 200,000.",
)
@click.option("--seed", default=0, type=Within(SEED), show_default=True, help="Seed of the uncertainty samples.")
@click.option("--catalogue", type=click.Path(path_type=Path), help="A catalogue folder of your own.")
@click.option("--matrix", type=Output(), help="Draw who talks to whom into a .svg or .png file.")
@click.option("--out", type=Output(), help="Write the trace with its new times or ranks to a .csv or .csv.gz file.")
@BRIEF
@click.option("--json", "as_json", is_flag=True, help="Print JSON (see: volvelle schema mpi).")
def mpi(
    *, traces: tuple[Path, ...], matrix: Path | None, out: Path | None, as_json: bool, brief: bool, **question: Any
) -> None:
    """Who talks to whom in an MPI program, how even it is, its collectives, phases and loops.

    TRACE is a CSV of events, compressed by gzip or not, or the anchor file of an OTF2 archive. Of several, which must
    be of the same program on different counts of ranks, the largest is told, or with --ranks what they say of more.
    """
    from volvelle.verbs.mpi import mpi as verb  # noqa: PLC0415 - keeps start-up short

    if matrix is not None and matrix.suffix not in (".svg", ".png"):
        raise click.BadParameter(f"{matrix.name} ends neither in .svg nor in .png", param_hint="--matrix")
    if out is not None and not out.name.endswith((".csv", ".csv.gz")):
        raise click.BadParameter(f"{out.name} ends neither in .csv nor in .csv.gz", param_hint="--out")
    answer = verb(traces, **question)
    if out is not None:
        from volvelle.interchange.mpi_traces.csv_file import write_events  # noqa: PLC0415 - keeps start-up short

        write_events(answer.trace, out)
    if matrix is not None:
        from volvelle.report.figures.rendering import save  # noqa: PLC0415 - pictures are slow
        from volvelle.report.mpi.picture import matrix_picture  # noqa: PLC0415 - pictures are slow

        save(matrix_picture(answer), matrix)
    if as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("mpi", answer))
    else:
        from volvelle.report.mpi.text import print_mpi  # noqa: PLC0415 - not needed for JSON

        print_mpi(answer, brief=brief)
