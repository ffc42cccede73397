"""The question of ``volvelle map``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from volvelle.base.option_kinds import InputFile, Number, Switch, Words
from volvelle.base.question import Option, Question, option
from volvelle.domains import LIMIT, SEQUENCES, WIDTH
from volvelle.economics.price_book import PriceModel
from volvelle.estimators.dataflow.on_chip import Overlap
from volvelle.mapping.axes import DATA, PIPELINE, TENSOR
from volvelle.mapping.sharding import Objective
from volvelle.questions.cost import PRICE_MODEL
from volvelle.questions.layout import LAYOUT
from volvelle.questions.machine import SYSTEM, OtherMachine
from volvelle.questions.training import ELEMENT, MODEL

if TYPE_CHECKING:
    from volvelle.system.cluster import Cluster
    from volvelle.workload.families.shape import Transformer
    from volvelle.workload.graph import Workload

Execution = Literal["kernels", "dataflow"]
"""Kernels run one after another, or side by side on the chip and stream tiles to each other."""
Sharding = Literal["any", "megatron"]
"""Operations may be split by any dimension, or only as Megatron splits them."""
FORWARD = Option("--forward", "Map only the forward pass of a named model.", kind=Switch())
GPT_LAYER_ONLY = Option("--gpt-layer-only", "Map one GPT layer as wide as the model, like DFModel.", kind=Switch())
FORWARD_FIRST = Option(
    "",
    "Keep kernels of the backward pass apart from forward ones.",
    kind=Switch(),
    group="Layout",
    usually="if there is a backward pass",
)


class MapFields(Question):
    """How a graph may be mapped: several degrees and tile sizes are the ones to consider, none are all."""

    execution: Execution | None = option(
        Option(
            "--execution",
            "Run kernels one after another, or stream tiles between them on chip.",
            kind=Words(get_args(Execution)),
            group="Layout",
            usually="as the chip does",
        ),
        default=None,
    )
    sharding: Sharding = option(
        Option(
            "--sharding",
            "Kernel by kernel: split operations by any dimension, or like Megatron.",
            kind=Words(get_args(Sharding)),
            group="Layout",
        ),
        default="any",
    )
    micro_batches: int | None = option(
        Option("--micro-batches", "Runs of the graph per step.", kind=Number(SEQUENCES), usually="8 per GPU"),
        default=None,
    )
    tensor: Sequence[int] = option(
        LAYOUT[TENSOR.name], default=(), several=True, help="Tensor parallelism to consider. Repeatable.", usually="all"
    )
    pipeline: Sequence[int] = option(
        LAYOUT[PIPELINE.name], default=(), several=True, help="Pipeline stages to consider. Repeatable.", usually="all"
    )
    data: Sequence[int] = option(
        LAYOUT[DATA.name], default=(), several=True, help="Replicas to consider. Repeatable.", usually="all"
    )
    tiles: Sequence[int] = option(
        Option(
            "--tile",
            "Tile sizes to consider. Repeatable.",
            kind=Number(WIDTH),
            group="Layout",
            several=True,
            usually="powers of two",
        ),
        default=(),
    )
    fuse: bool = option(
        Option("--fuse", "Allow kernels to run together.", kind=Switch(), group="Layout", opposite=True), default=True
    )
    partitions: int | None = option(
        Option("--partitions", "Largest number of partitions.", kind=Number(WIDTH), group="Layout"), default=None
    )
    overlap: Overlap = option(
        Option(
            "--overlap",
            "Overlap of compute, memory and network; compute and memory; or none.",
            kind=Words.of(Overlap),
            group="Method",
        ),
        default=Overlap.ALL,
    )
    stream_weights: bool = option(
        Option(
            "--stream-weights",
            "Read weights for every micro-batch, or count them as read once.",
            kind=Switch(),
            group="Method",
            opposite="--amortise-weights",
        ),
        default=True,
    )
    tile_weights: bool = option(
        Option(
            "--tile-weights",
            "Allow a kernel that runs alone to read its weights in pieces.",
            kind=Switch(),
            group="Layout",
            opposite="--whole-weights",
        ),
        default=True,
    )
    objective: Objective = option(
        Option(
            "--objective",
            "Quantity that the split minimises: time, or bytes sent.",
            kind=Words(get_args(Objective)),
            group="Search",
        ),
        default="time",
    )
    element: str = option(ELEMENT, default="bf16")
    limit: float = option(
        Option("--limit", "Seconds that the search may take.", kind=Number(LIMIT), group="Search"), default=60.0
    )
    if TYPE_CHECKING:  # the names of the command, which are turned into names of fields before a question is made
        tp: Sequence[int] = ()
        pp: Sequence[int] = ()
        dp: Sequence[int] = ()


class MapQuestion(MapFields, OtherMachine):
    """Split, cut into stages and fuse GRAPH for SYSTEM so that a step is as fast as possible, and prove it.

    GRAPH is a YAML file of kernels, a model of the catalogue, a Hugging Face config.json, or a workload of DFModel:
    gpt3-1t, dlrm-793b, hpl-5m or fft-1t.
    """

    subcommand = "map"
    summary = "The best mapping of any graph of kernels, with a proof."
    examples = (
        "examples/graphs/unet.yaml --on dgx-a100/8 --execution dataflow",
        "gpt2 --on sn30-node/8 --tp 8 --limit 10",
    )

    graph: "Transformer | Workload | Path | str" = option(
        MODEL, flag="GRAPH", metavar="GRAPH", help="Graph of kernels, or a model.", kw_only=False
    )
    on: "Cluster | str" = option(SYSTEM, help="Machine and number of GPUs, like sn30-node/8.")
    forward: bool = option(FORWARD, default=False)
    gpt_layer_only: bool = option(GPT_LAYER_ONLY, default=False)
    prices: PriceModel = option(PRICE_MODEL, flag="--prices", default="market")
    assumptions: Path | str | Mapping[str, object] | None = option(
        Option(
            "--assumptions",
            "YAML file that states the mapping, like assumptions of a study.",
            kind=InputFile(("Mapping",)),
            group="Layout",
            usually="the mapping is searched",
        ),
        default=None,
    )
