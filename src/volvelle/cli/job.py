"""``volvelle job MODEL --on SYSTEM --tokens N …``."""

from pathlib import Path
from typing import Any

import click

from volvelle.cli.options.layout import layout_values, values_given
from volvelle.cli.options.shared import batch_options, machine_options, stack_options
from volvelle.cli.waiting import waiting
from volvelle.cli.words import BRIEF, Lower, Within
from volvelle.domains import (
    ACCELERATORS,
    EVENTS,
    GAP,
    LOST_SHARE,
    NO_SHARE,
    PART_DAYS,
    RECOVERY,
    SEED,
    SPARES,
    STEP_TIME,
    TOKENS,
    YEAR,
)


@click.command(short_help="How long a run really takes, failures included, and what it costs and burns.")
@click.argument("model")
@click.option("--on", required=True, metavar="SYSTEM", help="Cluster and accelerators, like dgx-h100/1024.")
@click.option("--tokens", type=Within(TOKENS), help="Tokens to train on in all, like 15T or 15e12.")
@click.option(
    "--phases",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Or phases with tokens of each, and what differs: batch, sequence, layout, step.",
)
@batch_options
@layout_values
@click.option("--element", type=Lower(), default="bf16", show_default=True, help="Element type of matrix products.")
@stack_options()
@click.option("--step", type=Within(STEP_TIME), metavar="TIME", help="Time of a step as measured, like '6.3 s'.")
@click.option(
    "--recovery",
    type=click.Choice(["asynchronous", "synchronous", "memory", "two-tier", "elastic"]),
    default="asynchronous",
    show_default=True,
    help="Checkpoints written behind the job, with it standing, kept by peers, or by peers and in storage; or replicas "
    "that restart alone.",
)
@click.option("--restart", type=Within(RECOVERY), metavar="TIME", help="From a fault to the next step, like '12 min'.")
@click.option("--stall", type=Within(RECOVERY), metavar="TIME", help="That a checkpoint stops the job, like '5 s'.")
@click.option("--write", type=Within(RECOVERY), metavar="TIME", help="That a checkpoint is in flight, like '60 s'.")
@click.option("--interval", type=Within(RECOVERY), metavar="TIME", help="Work between checkpoints. [default: the best]")
@click.option("--replicas", default=1, type=Within(ACCELERATORS), help="That restart alone, with --recovery elastic.")
@click.option("--survived", type=Within(NO_SHARE), help="Share of failures that two tiers survive in memory.")
@click.option("--storage-stall", type=Within(RECOVERY), metavar="TIME", help="With two tiers: stall for storage.")
@click.option("--storage-restart", type=Within(RECOVERY), metavar="TIME", help="With two tiers: restart from storage.")
@click.option(
    "--common", default="0 %", type=Within(NO_SHARE), help="Share of failures that stop all elastic replicas."
)
@click.option("--spares", type=Within(SPARES), help="Spare nodes. [default: a pool that others fill]")
@click.option(
    "--hazard",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Failure rates of your own: part, what_counts, rate.",
)
@click.option("--events", type=Within(EVENTS), help="Interruptions that you have seen …")
@click.option("--node-days", type=Within(PART_DAYS), help="… in so many days of a node.")
@click.option("--preempted-every", type=Within(GAP), metavar="TIME", help="That capacity is taken away, like '12 h'.")
@click.option("--capacity-wait", type=Within(RECOVERY), metavar="TIME", help="Until it is back, like '20 min'.")
@click.option("--spot", is_flag=True, help="Pay the spot price of the cloud in --rent.")
@click.option(
    "--planned", default="0 %", type=Within(LOST_SHARE), help="Share of time of planned stops and evaluation."
)
@click.option("--slow-nodes", default="0 %", type=Within(NO_SHARE), help="Share of nodes that are slow.")
@click.option("--slower", default="10 %", type=Within(NO_SHARE), show_default=True, help="By how much these are.")
@click.option("--rent", metavar="CLOUD|USD/h", help="A cloud, like lambda, or '3 USD/h' of an accelerator.")
@click.option("--own", is_flag=True, help="What owning the machine costs.")
@click.option("--region", help="Whose grid: a region of a cloud or a country, like europe-north1.")
@click.option("--year", type=Within(YEAR), help="Of that grid. [default: the last that is known]")
@click.option("--check", type=click.Choice(["simulate"]), help="Run it failure by failure too, and print both.")
@click.option("--seed", default=0, type=Within(SEED), show_default=True, help="Seed of samples and simulated runs.")
@machine_options
@BRIEF
@click.option("--json", "as_json", is_flag=True, help="Print JSON (see: volvelle schema job).")
@click.pass_context
def job(ctx: click.Context, /, *, model: str, brief: bool, as_json: bool, check: Any, **question: Any) -> None:
    """Days of training MODEL on SYSTEM, interruptions included, with what certainty, and money, energy and carbon.

    Give a layout by its flags, as to estimate; without any, the best is planned; or give the time of a --step.
    """
    from volvelle.verbs.job.job import job as verb  # noqa: PLC0415 - keeps start-up short

    with waiting("timing the step and its failures"):
        answer = verb(model, check=check or "", **values_given(question))
    if as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("job", answer))
    else:
        from volvelle.report.job.text import print_job  # noqa: PLC0415 - not needed for JSON

        print_job(answer, brief=brief)
    if not answer.feasible:
        ctx.exit(1)
