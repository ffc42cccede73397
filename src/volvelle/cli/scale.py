"""``volvelle scale MODEL --on SYSTEM --from N --to N --strong|--weak …``."""

from pathlib import Path
from typing import Any

import click

from volvelle.cli.options.layout import considered_options
from volvelle.cli.options.shared import (
    batch_options,
    expert_load_option,
    machine_options,
    margin_option,
    stack_options,
)
from volvelle.cli.options.tuning import tuning_options
from volvelle.cli.waiting import counting
from volvelle.cli.words import BRIEF, Lower, Output, Within
from volvelle.domains import ACCELERATORS


@click.command(short_help="The best layout at every count of accelerators, its efficiency, and what breaks it.")
@click.argument("model")
@click.option("--on", required=True, metavar="SYSTEM", help="Cluster without a count, like dgx-h100.")
@click.option("--from", "first", default=8, type=Within(ACCELERATORS), show_default=True, help="Fewest accelerators.")
@click.option("--to", "last", default=4096, type=Within(ACCELERATORS), show_default=True, help="Most accelerators.")
@click.option(
    "--strong/--weak",
    default=True,
    show_default=True,
    help="The same batch at every count, or one that grows with it from that of the fewest.",
)
@batch_options
@click.option("--element", type=Lower(), default="bf16", show_default=True, help="Element type of matrix products.")
@considered_options
@tuning_options
@expert_load_option
@click.option("--offload", is_flag=True, help="Consider host memory too.")
@stack_options()
@margin_option
@machine_options
@click.option("--plot", type=Output(), help="Draw efficiency and where the time goes into a .svg or .png file.")
@BRIEF
@click.option("--json", "as_json", is_flag=True, help="Print JSON (see: volvelle schema scale).")
@click.pass_context
def scale(
    ctx: click.Context, /, *, model: str, plot: Path | None, strong: bool, as_json: bool, brief: bool, **question: Any
) -> None:
    """The best layout of MODEL at every doubling of accelerators: efficiency, where the time goes, what breaks it.

    MODEL is a name from the catalogue, or a Hugging Face config.json (or the folder that holds one).
    """
    from volvelle.verbs.scale import scale as verb  # noqa: PLC0415 - keeps start-up short

    if plot is not None and plot.suffix not in (".svg", ".png"):
        raise click.BadParameter(f"{plot.name} ends neither in .svg nor in .png", param_hint="--plot")
    with counting("{:,} accelerators", quiet=as_json, before="searching layouts") as progress:
        answer = verb(model, growth="strong" if strong else "weak", progress=progress, **question)
    if plot is not None and answer.first is not None:
        from volvelle.report.figures.rendering import save  # noqa: PLC0415 - pictures are slow
        from volvelle.report.scale.picture import scale_picture  # noqa: PLC0415 - pictures are slow

        save(scale_picture(answer), plot)
    if as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("scale", answer))
    else:
        from volvelle.report.scale.text import print_scaling  # noqa: PLC0415 - not needed for JSON

        print_scaling(answer, brief=brief)
    if answer.first is None:
        ctx.exit(1)
