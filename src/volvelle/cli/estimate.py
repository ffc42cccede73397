"""``volvelle estimate MODEL --on SYSTEM …``."""

from pathlib import Path
from typing import Any

import click

from volvelle.cli.words import COUNT, Words
from volvelle.mapping.parallelism import Recompute, Schedule
from volvelle.verbs.estimate import estimate as verb

_OFFLOADED = ("weights", "optimiser", "activations")


@click.command(short_help="How long a step takes, what fits, where the time goes.")
@click.argument("model")
@click.option("--on", required=True, metavar="SYSTEM", help="Cluster and accelerators, like dgx-a100/1024.")
@click.option("--batch", required=True, type=COUNT, help="Sequences in the global batch.")
@click.option("--tp", "tensor", default=1, type=COUNT, show_default=True, help="Tensor parallelism.")
@click.option("--pp", "pipeline", default=1, type=COUNT, show_default=True, help="Pipeline stages.")
@click.option("--dp", "data", default=None, type=COUNT, help="Replicas. [default: what is left of the chips]")
@click.option("--cp", "context", default=1, type=COUNT, show_default=True, help="Chips that share a sequence.")
@click.option("--ep", "expert", default=1, type=COUNT, show_default=True, help="Replicas that share experts.")
@click.option(
    "--expert-tensor-parallel/--no-expert-tensor-parallel",
    default=True,
    show_default=True,
    help="Split each expert over the tensor-parallel chips; or deal whole experts out over them (ETP 1).",
)
@click.option(
    "--hierarchical-dispatch", is_flag=True, help="A token crosses to a node once, however many experts it has there."
)
@click.option("--expert-load", default=1.0, show_default=True, help="Tokens of the busiest expert over the even share.")
@click.option("--ulysses", is_flag=True, help="Share a sequence by swapping positions for heads.")
@click.option("--micro-batch", default=1, type=COUNT, show_default=True, help="Sequences at a time.")
@click.option("--seq", "sequence", default=None, type=COUNT, help="Sequence length. [default: the model's own]")
@click.option("--interleave", default=1, type=COUNT, show_default=True, help="Pieces a stage is cut into.")
@click.option(
    "--schedule",
    default="1f1b",
    show_default=True,
    type=Words(Schedule),
    help="Order of forward and backward in the pipeline.",
)
@click.option("--zero", default=1, type=click.IntRange(0, 3), show_default=True, help="ZeRO stage.")
@click.option(
    "--recompute",
    default="selective",
    show_default=True,
    type=Words(Recompute),
    help="Activations computed again in the backward pass.",
)
@click.option("--recompute-every", default=1, type=COUNT, show_default=True, help="Layers between inputs kept.")
@click.option("--zero-group", default=0, type=click.IntRange(0), help="Replicas ZeRO shares out over. [default: all]")
@click.option(
    "--offload",
    multiple=True,
    type=click.Choice(_OFFLOADED),
    help="What lives in host memory (may be given several times).",
)
@click.option(
    "--sequence-parallel/--no-sequence-parallel", default=True, show_default=True, help="Split positions too."
)
@click.option("--fused-attention/--no-fused-attention", default=True, show_default=True, help="Scores stay on chip.")
@click.option("--overlap/--no-overlap", default=True, show_default=True, help="Exchange gradients while computing.")
@click.option("--element", default="bf16", show_default=True, help="Element type of weights and products.")
@click.option("--catalogue", type=click.Path(path_type=Path), help="A catalogue folder of your own.")
@click.option("--seed", default=0, show_default=True, help="Seed of the uncertainty samples.")
@click.option("--detail", is_flag=True, help="Every operation on a line of its own.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON (see: volvelle schema estimate).")
@click.pass_context
def estimate(
    ctx: click.Context, /, *, model: str, offload: tuple[str, ...], detail: bool, as_json: bool, **question: Any
) -> None:
    """How long one training step of MODEL takes, what fits, and where the time goes.

    MODEL is a name from the catalogue (volvelle catalogue models), or a Hugging Face config.json.
    """
    question |= {f"offload_{part}": part in offload for part in _OFFLOADED}
    answer = verb(model, **question)
    if as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("estimate", answer))
    else:
        from volvelle.report.estimate_text import print_estimate  # noqa: PLC0415 - not needed for JSON

        print_estimate(answer, detail=detail)
    if not answer.estimate.feasible:
        ctx.exit(1)
