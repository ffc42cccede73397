"""``volvelle plan MODEL --on SYSTEM …``."""

import sys
from pathlib import Path

import click

from volvelle.cli.benchmark_words import VerbOnModelOrBenchmark
from volvelle.mapping.parallelism import Schedule
from volvelle.verbs.plan import FRAMEWORKS, Framework, launch
from volvelle.verbs.plan import plan as verb

__all__ = ["plan"]


@click.command(
    cls=VerbOnModelOrBenchmark, short_help="The best layout for a model on a machine, or run of a benchmark."
)
@click.argument("model")
@click.option("--on", "system", required=True, metavar="SYSTEM", help="Cluster and accelerators, like dgx-h100/2048.")
@click.option("--batch", default=None, type=click.IntRange(1), help="Sequences in the global batch.")
@click.option("--seq", default=None, type=click.IntRange(1), help="Sequence length. [default: the model's own]")
@click.option("--element", default="bf16", show_default=True, help="Element type of matrix products.")
@click.option("--top", default=8, type=click.IntRange(1, 100), show_default=True, help="Layouts to show.")
@click.option("--tp", multiple=True, type=click.IntRange(1), help="Tensor degrees to consider. [default: all]")
@click.option("--pp", multiple=True, type=click.IntRange(1), help="Pipeline degrees to consider. [default: all]")
@click.option("--zero", multiple=True, type=click.IntRange(0, 3), help="ZeRO stages to consider. [default: all]")
@click.option(
    "--schedule",
    multiple=True,
    type=click.Choice([choice.word for choice in Schedule]),
    help="Schedules to consider. [default: 1f1b and zero-bubble; 1f1b alone to emit Megatron flags]",
)
@click.option("--cp", multiple=True, type=click.IntRange(1), help="Context degrees to consider. [default: 1 2 4 8 16]")
@click.option(
    "--hierarchical-dispatch", is_flag=True, help="Send a token to a node once, however many experts it has there."
)
@click.option("--expert-load", default=1.0, show_default=True, help="Tokens of the busiest expert over the even share.")
@click.option("--offload", is_flag=True, help="Consider host memory too.")
@click.option(
    "--emit",
    type=click.Choice(FRAMEWORKS),
    help="Print the best layout's launch flags instead.",
)
@click.option("--catalogue", "folder", type=click.Path(path_type=Path), help="A catalogue folder of your own.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def plan(
    ctx: click.Context,
    *,
    model: str,
    system: str,
    batch: int | None,
    seq: int | None,
    element: str,
    top: int,
    tp: tuple[int, ...],
    pp: tuple[int, ...],
    zero: tuple[int, ...],
    schedule: tuple[str, ...],
    cp: tuple[int, ...],
    hierarchical_dispatch: bool,
    expert_load: float,
    offload: bool,
    emit: Framework | None,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Rank every layout of MODEL on SYSTEM, and say why the first is first.

    MODEL is a name from the catalogue, or a Hugging Face config.json (or the folder that holds one).
    """
    with _bar(quiet=as_json or emit is not None) as progress:
        ranked = verb(
            model,
            on=system,
            batch=batch,
            sequence=seq,
            element=element,
            expert_load=expert_load,
            tensor=tp,
            pipeline=pp,
            context=cp,
            zero=zero,
            schedules=tuple(choice for choice in Schedule if choice.word in schedule),
            hierarchical_dispatch=hierarchical_dispatch,
            offload=offload,
            framework=emit,
            top=top,
            catalogue=folder,
            progress=progress,
        )
    if emit is not None:
        written = launch(ranked, emit)
        if written.note:
            click.echo(f"note: {written.note}", err=True)
        click.echo(written.flags)
    elif as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - keeps start-up short
        from volvelle.report.documents.plan import PlanDocument  # noqa: PLC0415

        click.echo(json_text("plan", PlanDocument.model_validate(ranked)))
    else:
        from volvelle.report.plan_text import print_plan  # noqa: PLC0415 - keeps start-up short

        print_plan(ranked)
    if not ranked.layouts:
        ctx.exit(1)


class _bar:  # noqa: N801 - used as a context manager, like a function
    """A progress line on standard error for searches that take longer than a moment."""

    def __init__(self, *, quiet: bool) -> None:
        self._shown = not quiet and sys.stderr.isatty()

    def __enter__(self) -> "_bar":
        return self

    def __call__(self, done: int) -> None:
        if self._shown:
            click.echo(f"\r{done:,} layouts", nl=False, err=True)

    def __exit__(self, *_: object) -> None:
        if self._shown:
            click.echo("\r" + " " * 30 + "\r", nl=False, err=True)
