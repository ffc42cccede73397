"""``volvelle replay TRACE [PROFILE] --on SYSTEM …``."""

from pathlib import Path
from typing import Any

import click

from volvelle.cli.options.shared import machine_options
from volvelle.cli.waiting import waiting
from volvelle.cli.words import BRIEF, Lower, Within
from volvelle.domains import ACCELERATORS, CLOCK, SEED


@click.command(short_help="A recorded trace on another machine, and how much of it is understood.")
@click.argument("trace", type=click.Path(path_type=Path))
@click.argument("profile", type=click.Path(path_type=Path), required=False)
@click.option("--on", metavar="SYSTEM", help="Machine to replay on, like dgx-h100/8. [default: as measured]")
@click.option(
    "--from",
    "source",
    metavar="SYSTEM",
    help="Machine on which the trace was recorded: times are then measured ones, scaled by the law.",
)
@click.option(
    "--like",
    type=click.Path(path_type=Path),
    metavar="PROFILE",
    help="A Kineto profile recorded on the machine of --from, by which operations without times are scaled.",
)
@click.option("--clock", type=Within(CLOCK), help="Cycles a second, for phases that count in cycles, like 1.6GHz.")
@click.option("--element", type=Lower(), help="Element type of all products. [default: as the trace has them]")
@click.option(
    "--group", type=Within(ACCELERATORS), help="Ranks of exchanges that do not say who takes part. [default: all]"
)
@click.option(
    "--gaps",
    type=click.Choice(["keep", "drop"]),
    default="keep",
    show_default=True,
    help="Time of the host between operations.",
)
@machine_options
@click.option("--seed", default=0, type=Within(SEED), show_default=True, help="Seed of the uncertainty samples.")
@BRIEF
@click.option("--json", "as_json", is_flag=True, help="Print JSON (see: volvelle schema replay).")
def replay(*, as_json: bool, brief: bool, **question: Any) -> None:
    """How long a recorded TRACE takes on SYSTEM, where the time goes, and how much of it is understood.

    TRACE is a Kineto profile (.json, .json.gz), an execution trace of PyTorch, a Chakra trace (.et), an exported
    program (.pt2), an ONNX model or a list of phases. An execution trace may have a Kineto PROFILE of the same run
    beside it.
    """
    from volvelle.verbs.replay import replay as verb  # noqa: PLC0415 - keeps start-up short

    with waiting("replaying the trace"):
        answer = verb(**question)
    if as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("replay", answer))
    else:
        from volvelle.report.replay.text import print_replay  # noqa: PLC0415 - not needed for JSON

        print_replay(answer, brief=brief)
