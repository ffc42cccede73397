"""``volvelle estimate MODEL --on SYSTEM …``."""

from pathlib import Path

import click

from volvelle.catalogue import Catalogue
from volvelle.cli.model_argument import read_model
from volvelle.economics.step_cost import step_costs
from volvelle.errors import MappingError
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.estimators.uncertainty import UnderUncertainty
from volvelle.mapping.parallelism import ParallelMapping, Recompute, Schedule
from volvelle.report.answer import Answer
from volvelle.workload.families.transformer import transformer
from volvelle.workload.training import TrainingStep

__all__ = ["estimate"]


@click.command(short_help="How long a step takes, what fits, where the time goes.")
@click.argument("model")
@click.option("--on", "system", required=True, metavar="SYSTEM", help="Cluster and accelerators, like dgx-a100/1024.")
@click.option("--batch", required=True, type=click.IntRange(1), help="Sequences in the global batch.")
@click.option("--tp", default=1, type=click.IntRange(1), show_default=True, help="Tensor parallelism.")
@click.option("--pp", default=1, type=click.IntRange(1), show_default=True, help="Pipeline stages.")
@click.option("--dp", default=None, type=click.IntRange(1), help="Replicas. [default: what is left of the chips]")
@click.option("--cp", default=1, type=click.IntRange(1), show_default=True, help="Chips that share a sequence.")
@click.option("--ep", default=1, type=click.IntRange(1), show_default=True, help="Replicas that share experts.")
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
@click.option("--micro-batch", default=1, type=click.IntRange(1), show_default=True, help="Sequences at a time.")
@click.option("--seq", default=None, type=click.IntRange(1), help="Sequence length. [default: the model's own]")
@click.option("--interleave", default=1, type=click.IntRange(1), show_default=True, help="Pieces a stage is cut into.")
@click.option(
    "--schedule",
    default="1f1b",
    show_default=True,
    type=click.Choice([choice.word for choice in Schedule]),
    help="Order of forward and backward in the pipeline.",
)
@click.option("--zero", default=1, type=click.IntRange(0, 3), show_default=True, help="ZeRO stage.")
@click.option(
    "--recompute",
    default="selective",
    show_default=True,
    type=click.Choice([choice.word for choice in Recompute]),
    help="Activations computed again in the backward pass.",
)
@click.option(
    "--recompute-every", default=1, type=click.IntRange(1), show_default=True, help="Layers between inputs kept."
)
@click.option("--zero-group", default=0, type=click.IntRange(0), help="Replicas ZeRO shares out over. [default: all]")
@click.option(
    "--offload",
    multiple=True,
    type=click.Choice(["weights", "optimiser", "activations"]),
    help="What lives in host memory (may be given several times).",
)
@click.option(
    "--sequence-parallel/--no-sequence-parallel", default=True, show_default=True, help="Split positions too."
)
@click.option("--fused-attention/--no-fused-attention", default=True, show_default=True, help="Scores stay on chip.")
@click.option("--overlap/--no-overlap", default=True, show_default=True, help="Exchange gradients while computing.")
@click.option("--element", default="bf16", show_default=True, help="Element type of weights and products.")
@click.option("--catalogue", "folder", type=click.Path(path_type=Path), help="A catalogue folder of your own.")
@click.option("--seed", default=0, show_default=True, help="Seed of the uncertainty samples.")
@click.option("--detail", is_flag=True, help="Every operation on a line of its own.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON (see: volvelle schema estimate).")
@click.pass_context
def estimate(
    ctx: click.Context,
    *,
    model: str,
    system: str,
    batch: int,
    tp: int,
    pp: int,
    dp: int | None,
    cp: int,
    ep: int,
    expert_tensor_parallel: bool,
    hierarchical_dispatch: bool,
    expert_load: float,
    ulysses: bool,
    micro_batch: int,
    seq: int | None,
    interleave: int,
    schedule: str,
    zero: int,
    zero_group: int,
    recompute: str,
    recompute_every: int,
    offload: tuple[str, ...],
    sequence_parallel: bool,
    fused_attention: bool,
    overlap: bool,
    element: str,
    folder: Path | None,
    seed: int,
    detail: bool,
    as_json: bool,
) -> None:
    """How long one training step of MODEL takes, what fits, and where the time goes.

    MODEL is a name from the catalogue (volvelle catalogue models), or a Hugging Face config.json.
    """
    catalogue = Catalogue(*([folder] if folder else []))
    cluster = catalogue.cluster(system)
    shape = read_model(model, catalogue)
    if dp is None:
        others = tp * pp * cp
        if others > cluster.accelerators:
            raise MappingError(
                f"tensor {tp} × pipeline {pp} × context {cp} needs {others} accelerators, but {cluster.name} has "
                f"{cluster.accelerators}; lower --tp or --pp, or ask for {system.partition('/')[0]}/{others}"
            )
        dp = cluster.accelerators // others
    step = TrainingStep(model=transformer(shape, sequence=seq), batch=batch, element=element, expert_load=expert_load)
    mapping = ParallelMapping(
        tensor=tp,
        pipeline=pp,
        data=dp,
        context=cp,
        expert=ep,
        expert_tensor_parallel=expert_tensor_parallel,
        hierarchical_dispatch=hierarchical_dispatch,
        ulysses=ulysses and cp > 1,
        micro_batch=micro_batch,
        interleave=interleave,
        schedule=next(choice for choice in Schedule if choice.word == schedule),
        zero=zero,
        zero_group=zero_group,
        overlap=overlap,
        sequence_parallel=sequence_parallel and tp > 1,
        recompute=Recompute[recompute.upper()],
        recompute_every=recompute_every,
        fused_attention=fused_attention,
        offload_weights="weights" in offload,
        offload_optimiser="optimiser" in offload,
        offload_activations="activations" in offload,
    )
    found, samples = UnderUncertainty(estimator=ClosedForm(), seed=seed).with_samples(step, cluster, mapping)
    answer = Answer(
        model=shape.name,
        step=step,
        cluster=cluster,
        estimate=found,
        costs=step_costs(found, cluster, samples=samples),
        references=catalogue.references,
    )
    if as_json:
        from volvelle.report.estimate_json import estimate_json  # noqa: PLC0415 - not needed for text

        click.echo(estimate_json(answer))
    else:
        from volvelle.report.estimate_text import print_estimate  # noqa: PLC0415 - not needed for JSON

        print_estimate(answer, detail=detail)
    if not found.feasible:
        ctx.exit(1)
