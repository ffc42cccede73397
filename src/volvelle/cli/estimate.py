"""``volvelle estimate MODEL --on SYSTEM …``."""

from pathlib import Path
from typing import Any

import click

from volvelle.cli.html_page import html_option, write_page
from volvelle.cli.options.layout import layout_options, unlisted
from volvelle.cli.options.shared import (
    anyway_option,
    batch_options,
    expert_load_option,
    machine_options,
    margin_option,
    run_options,
)
from volvelle.cli.options.tuning import tuning_options
from volvelle.cli.waiting import waiting
from volvelle.cli.words import BRIEF, Lower, Output, Within
from volvelle.domains import REPLAYS, SEED
from volvelle.errors import MappingError


class _Stragglers(click.Option):
    """``--straggler STAGE:SPEED``, any number of times; gives the verb a table of them."""

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """Stage → speed; None: there are none."""
        texts: tuple[str, ...] = super().process_value(ctx, value)
        if not texts:
            return None
        from volvelle.verbs.stragglers import read_stragglers  # noqa: PLC0415 - keeps start-up short

        return read_stragglers(texts)


@click.command(short_help="How long a step takes, what fits, where the time goes.")
@click.argument("model")
@click.option("--on", required=True, metavar="SYSTEM", help="Cluster and accelerators, like dgx-a100/1024.")
@batch_options
@layout_options
@tuning_options
@expert_load_option
@click.option("--element", type=Lower(), default="bf16", show_default=True, help="Element type of matrix products.")
@run_options
@margin_option
@machine_options
@anyway_option
@click.option("--seed", default=0, type=Within(SEED), show_default=True, help="Seed of the uncertainty samples.")
@click.option("--detail", is_flag=True, help="Every operation on a line of its own, and layer by layer in every phase.")
@click.option(
    "--workload",
    type=Output(),
    metavar="FILE",
    help="Write FLOP, bytes and collectives of every layer and phase: .csv, or .txt as ASTRA-sim 1 reads it.",
)
@click.option(
    "--estimator",
    type=click.Choice(["closed", "event"]),
    default="closed",
    show_default=True,
    help="How the step is timed: by formulas, or by a replay of every kernel and transfer.",
)
@click.option(
    "--straggler",
    "stragglers",
    cls=_Stragglers,
    multiple=True,
    metavar="STAGE:SPEED",
    help="A pipeline stage with a slower chip, which all others wait for, like 2:80%. Needs --estimator event.",
)
@click.option(
    "--replays",
    type=Within(REPLAYS),
    default=0,
    help="Sampled machines to replay too, at most 64, for the range. Needs --estimator event.",
)
@click.option(
    "--timeline",
    type=Output(),
    metavar="FILE",
    help="Write the replayed step for Perfetto (ui.perfetto.dev): .json or .json.gz.",
)
@click.option(
    "--trace",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Write the replayed step for another simulator, into a new folder.",
)
@click.option(
    "--trace-format",
    type=click.Choice(["chakra", "astra-sim"]),
    default="chakra",
    show_default=True,
    help="Chakra execution traces, or the same with files for ASTRA-sim 2.",
)
@click.option("--every-rank", is_flag=True, help="A Chakra trace of every rank, not one for each pipeline stage.")
@BRIEF
@html_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON (see: volvelle schema estimate).")
@click.pass_context
def estimate(
    ctx: click.Context,
    /,
    *,
    model: str,
    detail: bool,
    workload: Path | None,
    timeline: Path | None,
    trace: Path | None,
    trace_format: str,
    every_rank: bool,
    brief: bool,
    html: Path | None,
    as_json: bool,
    **question: Any,
) -> None:
    """How long one training step of MODEL takes, what fits, and where the time goes.

    MODEL is a name from the catalogue (volvelle catalogue models), or a Hugging Face config.json.
    """
    from volvelle.verbs.estimate import estimate as verb  # noqa: PLC0415 - keeps completion of options short

    answer = verb(model, **unlisted(question))
    if workload is not None:
        from volvelle.interchange.layer_workload import write_layer_workload  # noqa: PLC0415 - keeps start-up short

        if answer.speed is None:
            raise MappingError("there is no such layout, so no layers to write; --workload needs one that can exist")
        write_layer_workload(answer.layer_phases, answer.estimate.mapping, workload)
        click.echo(f"written: {workload}", err=True)
    if timeline is not None:
        from volvelle.interchange.perfetto import write_timeline  # noqa: PLC0415 - keeps start-up short

        left_out = write_timeline(answer.replayed, timeline)
        click.echo(f"written: {timeline}" + (f", {left_out:,} tasks left out" if left_out else ""), err=True)
    if trace is not None:
        from volvelle.interchange.step_traces.write import write_step_trace  # noqa: PLC0415 - keeps start-up short

        with waiting(f"writing {trace}"):
            written = write_step_trace(answer.replayed, trace, form=trace_format, every_rank=every_rank)
        click.echo(
            f"written: {trace}: {written.nodes:,} nodes of {written.ranks:,} ranks in {written.files:,} files", err=True
        )
        for said in written.unsaid:
            click.echo(f"  not in this format: {said}", err=True)
    if html is not None:
        from volvelle.report.page.estimate import estimate_page  # noqa: PLC0415 - keeps start-up short

        write_page(html, lambda command: estimate_page(answer, command=command))
    if as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("estimate", answer))
    elif brief:
        from volvelle.report.brief_text import print_brief_estimate  # noqa: PLC0415 - not needed for JSON

        print_brief_estimate(answer)
    else:
        from volvelle.report.estimate_text import print_estimate  # noqa: PLC0415 - not needed for JSON

        print_estimate(answer, detail=detail)
    if not answer.estimate.feasible:
        ctx.exit(1)
