"""``volvelle map GRAPH --on SYSTEM …``."""

import sys
from pathlib import Path
from typing import Any, get_args

import click

from volvelle.cli.html_page import html_option, write_page
from volvelle.cli.options.shared import machine_options
from volvelle.cli.waiting import waiting
from volvelle.cli.words import BRIEF, Lower, Output, Within, Words
from volvelle.domains import DEGREE, LIMIT, SEQUENCES, WIDTH
from volvelle.economics.price_book import PriceModel
from volvelle.estimators.dataflow.on_chip import Overlap
from volvelle.mapping.axes import DATA, PIPELINE, TENSOR
from volvelle.report.documents.document import json_text
from volvelle.search.graph.sharding import Objective
from volvelle.studies.mapped.map_question import Execution, Sharding
from volvelle.verbs.map import map as verb


@click.command(short_help="The best mapping of any graph of kernels, with a proof.")
@click.argument("graph")
@click.option("--on", required=True, metavar="SYSTEM", help="Cluster and accelerators, like sn30-node/8.")
@click.option(
    "--execution",
    type=click.Choice(get_args(Execution)),
    help="Kernels one after another, or streaming tiles to each other on the chip. [default: as the chip does]",
)
@click.option(
    "--sharding",
    type=click.Choice(get_args(Sharding)),
    default="any",
    show_default=True,
    help="Of kernels one after another: operations split any dimension, or as Megatron's do.",
)
@click.option(
    "--micro-batches", default=None, type=Within(SEQUENCES), help="Runs of the graph in a step. [default: 8 a chip]"
)
@click.option("--element", type=Lower(), default="bf16", show_default=True, help="Element type of matrix products.")
@click.option(
    TENSOR.flag, TENSOR.name, multiple=True, type=Within(DEGREE), help="Tensor degrees to consider. [default: all]"
)
@click.option(
    PIPELINE.flag,
    PIPELINE.name,
    multiple=True,
    type=Within(DEGREE),
    help="Numbers of stages to consider. [default: all]",
)
@click.option(
    DATA.flag, DATA.name, multiple=True, type=Within(DEGREE), help="Numbers of replicas to consider. [default: all]"
)
@click.option(
    "--tile", "tiles", multiple=True, type=Within(WIDTH), help="Tile sizes to consider. [default: powers of two]"
)
@click.option("--forward", is_flag=True, help="Of a named model: the forward pass alone.")
@click.option("--gpt-layer-only", is_flag=True, help="Of a named model: a GPT layer of its width, as DFModel has it.")
@click.option("--fuse/--no-fuse", default=True, show_default=True, help="Kernels may run together.")
@click.option("--partitions", default=None, type=Within(WIDTH), help="Most partitions there may be.")
@click.option(
    "--overlap",
    type=Words(Overlap),
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
    "--objective", type=click.Choice(get_args(Objective)), default="time", show_default=True, help="Of the split."
)
@click.option("--limit", default=60.0, type=Within(LIMIT), show_default=True, help="Seconds the search may take.")
@click.option(
    "--prices",
    type=click.Choice(get_args(PriceModel)),
    default="market",
    show_default=True,
    help="Whose prices the machine has: accelerators as offered, their parts, or DFModel's figures.",
)
@click.option(
    "--assumptions",
    type=click.Path(path_type=Path),
    help="A YAML file that states the mapping, as assumptions of a study do. [default: it is searched]",
)
@click.option("--out", type=Output(folder=True), help="Folder to write pictures into.")
@machine_options
@BRIEF
@html_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def map(  # noqa: A001 - the verb's name
    ctx: click.Context,
    /,
    *,
    graph: str,
    out: Path | None,
    brief: bool,
    html: Path | None,
    as_json: bool,
    **question: Any,
) -> None:
    """Split, cut into stages and fuse GRAPH for SYSTEM, as fast as can be, and prove it.

    GRAPH is a YAML file of kernels, a model of the catalogue, a Hugging Face config.json, or one of DFModel's
    workloads: gpt3-1t, dlrm-793b, hpl-5m, fft-1t.
    """
    with waiting("searching for the best mapping"):
        answer = verb(graph, **question)
    if out is not None:
        from volvelle.report.figures.rendering import save  # noqa: PLC0415 - drawn only where asked for
        from volvelle.report.map_text import map_pictures  # noqa: PLC0415 - drawn only where asked for

        out.mkdir(parents=True, exist_ok=True)
        for name, picture in map_pictures(answer).items():
            save(picture, out / name)
    if html is not None:
        from volvelle.report.page.map import map_page  # noqa: PLC0415 - drawn only where asked for
        from volvelle.verbs.named import catalogue_of  # noqa: PLC0415

        references = catalogue_of(question["catalogue"]).references
        write_page(html, lambda command: map_page(answer, references=references, command=command))
    if as_json:
        click.echo(json_text("map", answer))
    else:
        from volvelle.report.map_text import print_map  # noqa: PLC0415 - rich is slow

        print_map(answer, brief=brief)
        if out is not None and sys.stderr.isatty():
            click.echo(f"pictures in {out}", err=True)
    if not answer.mapping.feasible:
        ctx.exit(1)
