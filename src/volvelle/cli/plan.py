"""``volvelle plan MODEL --on SYSTEM …``."""

import json
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from itertools import product
from pathlib import Path

import click

from volvelle.catalogue import Catalogue
from volvelle.cli.model_argument import read_model
from volvelle.cli.plan_application import VerbOnModelOrApplication
from volvelle.errors import MappingError
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.estimators.uncertainty import UnderUncertainty
from volvelle.mapping.parallelism import Schedule
from volvelle.search.exhaustive import Ranked, search
from volvelle.search.sensitivity import sensitivity
from volvelle.search.space import Space, usual_context, usual_gaps
from volvelle.workload.families.shape import Transformer
from volvelle.workload.families.transformer import transformer
from volvelle.workload.training import TrainingStep

__all__ = ["plan"]

_TOKENS_A_CHIP = 2048
"""Of the global batch, where none is given."""


@click.command(
    cls=VerbOnModelOrApplication, short_help="The best layout for a model on a machine, or run of a benchmark."
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
    type=click.Choice(["megatron", "torchtitan", "deepspeed", "fsdp"]),
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
    emit: str | None,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Rank every layout of MODEL on SYSTEM, and say why the first is first.

    MODEL is a name from the catalogue, or a Hugging Face config.json (or the folder that holds one).
    """
    from volvelle.report.plan_text import Plan, plan_document, print_plan  # noqa: PLC0415 - keeps start-up short

    catalogue = Catalogue(*([folder] if folder else []))
    shape = read_model(model, catalogue)
    cluster = catalogue.cluster(system)
    length = seq or shape.sequence
    notes: list[str] = []
    if batch is None:
        batch = max(1, _TOKENS_A_CHIP * cluster.accelerators // length)
        notes.append(f"no --batch given: {batch} sequences, about {_TOKENS_A_CHIP} tokens a chip")
    # Accelerate exchanges gradients in the type of the products.
    gradients = element if emit == "fsdp" else "fp32"
    model_graph = transformer(shape, sequence=length)
    step = TrainingStep(
        model=model_graph, batch=batch, element=element, gradient_element=gradients, expert_load=expert_load
    )
    wanted = schedule or (("1f1b",) if emit not in (None, "torchtitan") else ("1f1b", "zero-bubble"))
    schedules = tuple(choice for choice in Schedule if choice.word in wanted)
    flat = emit in ("deepspeed", "fsdp")  # these know neither pipelines nor sequence parallelism
    space = Space(
        tensor=tp,
        pipeline=(1,) if flat else pp,
        zero=zero or ((2, 3) if emit == "fsdp" else (0, 1, 2, 3)),
        sequence_parallel=(False,) if flat else (True, False),
        context=cp or usual_context(length),
        schedules=schedules,
        recompute_every=usual_gaps,
        hierarchical_dispatch=hierarchical_dispatch,
        offload=tuple((a, b, c) for a, b, c in product((False, True), repeat=3))
        if offload
        else ((False, False, False),),
    )
    estimator = ClosedForm()
    start = time.perf_counter()
    with _bar(quiet=as_json or emit is not None) as progress:
        ranking = search(space, step, cluster, estimator, top=top if emit is None else max(top, 500), progress=progress)
    seconds = time.perf_counter() - start
    sure = UnderUncertainty(estimator=estimator)
    explained = tuple(sure.estimate(step, cluster, found.mapping) for found in ranking.best[:2])
    gains = sensitivity(step, cluster, ranking.best[0].mapping, estimator) if ranking.best else ()
    found = Plan(
        model=shape.name,
        step=step,
        cluster=cluster,
        ranking=ranking,
        explained=explained,
        sensitivity=gains,
        seconds=seconds,
        notes=tuple(notes),
    )
    if emit is not None:
        click.echo(_emitted(emit, shape, step, ranking.best))
    elif as_json:
        click.echo(json.dumps(plan_document(found), indent=2))
    else:
        print_plan(found)
    if not ranking.best:
        ctx.exit(1)


def _emitted(framework: str, shape: Transformer, step: TrainingStep, layouts: Sequence[Ranked]) -> str:
    """Launch flags of the fastest layout that a framework can express, and what that cost."""
    emit = import_module(f"volvelle.interchange.launch.{framework}").emit
    refused: list[str] = []
    for place, found in enumerate(layouts, start=1):
        try:
            flags = str(emit(shape, step, found.mapping))
        except MappingError as error:
            refused.append(str(error))
            continue
        if refused:
            slower = found.time / layouts[0].time - 1
            click.echo(
                f"note: layout {place}, {slower:.1%} slower than the first; {framework} cannot express those before it "
                f"({refused[0]})",
                err=True,
            )
        return flags
    raise MappingError(
        f"{framework} can express none of the {len(refused)} fastest layouts; the first fails because {refused[0]}"
        if refused
        else "no layout fits, so there is nothing to launch"
    )


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
