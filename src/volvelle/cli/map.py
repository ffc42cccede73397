"""``volvelle map GRAPH --on SYSTEM …``."""

import json
import sys
from pathlib import Path

import click

from volvelle.catalogue import Catalogue
from volvelle.cli.graph_argument import read_graph_argument
from volvelle.estimators.dataflow.on_chip import FusionChoices, Overlap
from volvelle.quantities import numbered
from volvelle.search.graph.joint import map_graph
from volvelle.search.graph.network import factorisations
from volvelle.workload.operations import Phase

__all__ = ["map"]


@click.command(short_help="The best mapping of any graph of kernels, with a proof.")
@click.argument("graph")
@click.option("--on", "system", required=True, metavar="SYSTEM", help="Cluster and accelerators, like sn30-node/8.")
@click.option(
    "--micro-batches", default=None, type=click.IntRange(1), help="Runs of the graph in a step. [default: 8 a chip]"
)
@click.option("--element", default="bf16", show_default=True, help="Element type of matrix products.")
@click.option("--tp", multiple=True, type=click.IntRange(1), help="Tensor degrees to consider. [default: all]")
@click.option("--pp", multiple=True, type=click.IntRange(1), help="Numbers of stages to consider. [default: all]")
@click.option("--dp", multiple=True, type=click.IntRange(1), help="Numbers of replicas to consider. [default: all]")
@click.option("--tile", multiple=True, type=click.IntRange(1), help="Tile sizes to consider. [default: powers of two]")
@click.option("--forward", is_flag=True, help="Of a named model: the forward pass alone.")
@click.option("--fuse/--no-fuse", default=True, show_default=True, help="Kernels may run together.")
@click.option("--partitions", default=None, type=click.IntRange(1), help="Most partitions there may be.")
@click.option(
    "--overlap",
    type=click.Choice([one.value for one in Overlap]),
    default=Overlap.ALL.value,
    show_default=True,
    help="What runs at once: compute, memory and network; the first two; nothing.",
)
@click.option(
    "--stream-weights/--amortise-weights",
    default=True,
    show_default=True,
    help="Read weights from memory for every micro-batch, or count them as read once for many.",
)
@click.option(
    "--tile-weights/--whole-weights",
    default=True,
    show_default=True,
    help="A kernel by itself may take its weights in pieces.",
)
@click.option(
    "--objective", type=click.Choice(["time", "bytes"]), default="time", show_default=True, help="Of the split."
)
@click.option("--limit", default=60.0, show_default=True, help="Seconds the search may take.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder to write pictures into.")
@click.option("--catalogue", "folder", type=click.Path(path_type=Path), help="A catalogue folder of your own.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def map(  # noqa: A001 - the verb's name
    ctx: click.Context,
    *,
    graph: str,
    system: str,
    micro_batches: int | None,
    element: str,
    tp: tuple[int, ...],
    pp: tuple[int, ...],
    dp: tuple[int, ...],
    tile: tuple[int, ...],
    forward: bool,
    fuse: bool,
    partitions: int | None,
    overlap: str,
    stream_weights: bool,
    tile_weights: bool,
    objective: str,
    limit: float,
    out: Path | None,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Split, cut into stages and fuse GRAPH for SYSTEM, as fast as can be, and prove it.

    GRAPH is a YAML file of kernels, a model of the catalogue (its layer as DFModel draws it), or one of DFModel's
    workloads: gpt3-1t, dlrm-793b, hpl-5m, fft-1t.
    """
    from volvelle.report.figures.rendering import save  # noqa: PLC0415 - short start-up
    from volvelle.report.map_text import MapAnswer, map_document, map_pictures, print_map  # noqa: PLC0415 - rich is slow

    catalogue = Catalogue(*([folder] if folder else []))
    asked = read_graph_argument(graph, catalogue, forward=forward)
    cluster = catalogue.cluster(system)
    choices = FusionChoices(
        overlap=Overlap(overlap),
        stream_weights=stream_weights,
        tile_weights=tile_weights,
        fuse=fuse,
        partitions=partitions,
        forward_first=any(op.phase is Phase.BACKWARD for block in asked.workload.blocks for op in block.operations),
    )
    found = map_graph(
        asked.workload,
        cluster,
        stream=asked.stream,
        pins=asked.pins,
        micro_batches=micro_batches or 8 * cluster.accelerators,
        degrees=factorisations(cluster.accelerators, tensor=tp, pipeline=pp, data=dp) if tp or pp or dp else None,
        tiles=tile or None,
        choices=choices,
        objective="bytes" if objective == "bytes" else "time",
        element=element,
        time_limit=limit,
        ends=True,
    )
    kernels = sum(len(block.operations) for block in asked.workload.blocks)
    answer = MapAnswer(
        mapping=found,
        cluster=cluster,
        graph=f"{numbered(kernels, 'kernel')} in {numbered(len(asked.workload.blocks), 'block')}",
    )
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        for name, picture in map_pictures(answer).items():
            save(picture, out / name)
    if as_json:
        click.echo(json.dumps(map_document(answer), indent=2))
    else:
        print_map(answer)
        if out is not None and sys.stderr.isatty():
            click.echo(f"pictures in {out}", err=True)
    if not found.feasible:
        ctx.exit(1)
