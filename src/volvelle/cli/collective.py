"""``volvelle collective OPERATION SIZE --on SYSTEM …``."""

from pathlib import Path
from typing import Any

import click

from volvelle.cli.options.shared import machine_options
from volvelle.cli.words import BRIEF, Lower, Output, Within
from volvelle.domains import SEED, SIZE


@click.command(short_help="How long one collective takes, and what limits it.")
@click.argument("operation", type=Lower())
@click.argument("size", type=Within(SIZE))
@click.option("--on", required=True, metavar="SYSTEM", help="Cluster and accelerators, like dgx-h100/1024.")
@click.option(
    "--group",
    metavar="CHIPS",
    help="Who takes part: a count, like 64, or how many along each network dimension from the innermost, like 8x64. "
    "[default: all]",
)
@click.option(
    "--algorithm",
    type=Lower(),
    default="nested",
    show_default=True,
    help="nested (what training uses), ring, tree, halving-doubling, direct or in-network.",
)
@click.option(
    "--with",
    "estimators",
    type=click.Choice(["closed", "flows"]),
    default="closed",
    show_default=True,
    help="The closed form alone, or also as flows that share links.",
)
@click.option(
    "--placement", type=Lower(), help="Of ranks, as flows: in-order, interleaved or shuffled.  [default: in-order]"
)
@click.option(
    "--beside",
    multiple=True,
    metavar="'OPERATION SIZE'",
    help="As flows: what another job runs at the same time on as many chips, or: same. Several times for several jobs.",
)
@click.option(
    "--routing", type=Lower(), help="As flows: d-mod-k, random or adaptive, in place of what the machine states."
)
@click.option("--seed", type=Within(SEED), help="As flows: of random routes and shuffled ranks.")
@click.option("--calibrated", metavar="FILE.yaml", help="What own sweeps taught (volvelle calibrate from --save).")
@machine_options
@click.option("--plot", type=Output(), help="Draw it over sizes and over groups into a .svg or .png file.")
@BRIEF
@click.option("--json", "as_json", is_flag=True, help="Print JSON (see: volvelle schema collective).")
def collective(
    *,
    estimators: str,
    placement: str | None,
    beside: tuple[str, ...],
    routing: str | None,
    seed: int | None,
    plot: Path | None,
    as_json: bool,
    brief: bool,
    **question: Any,
) -> None:
    """How long a collective of SIZE takes on SYSTEM, where the time goes, and which algorithm would be fastest.

    OPERATION is all-reduce, all-gather, reduce-scatter, all-to-all or broadcast. SIZE is the whole tensor, like 1GB:
    what every chip holds before an all-reduce or a reduce-scatter and after an all-gather or a broadcast, and what it
    sends in an all-to-all.
    """
    from volvelle.verbs.collective.ask import collective as verb  # noqa: PLC0415 - keeps start-up short
    from volvelle.verbs.collective.flows import FlowQuestion  # noqa: PLC0415 - keeps start-up short

    said: dict[str, Any] = {"placement": placement, "beside": beside, "routing": routing, "seed": seed}
    told = {name: value for name, value in said.items() if value not in (None, ())}
    if estimators == "flows":
        question["flows"] = FlowQuestion(**told)
    elif told:
        raise click.UsageError(f"--{next(iter(told))} is of flows; add --with flows, or leave it away")
    if plot is not None and plot.suffix not in (".svg", ".png"):
        raise click.BadParameter(f"{plot.name} ends neither in .svg nor in .png", param_hint="--plot")
    answer = verb(**question)
    if plot is not None:
        from volvelle.report.collective.picture import collective_picture  # noqa: PLC0415 - pictures are slow
        from volvelle.report.figures.rendering import save  # noqa: PLC0415 - pictures are slow

        save(collective_picture(answer), plot)
    if as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("collective", answer))
    else:
        from volvelle.report.collective.text import print_collective  # noqa: PLC0415 - not needed for JSON

        print_collective(answer, brief=brief)
