"""DFModel's workloads as the kernels of one chip: sharded, with the network time of each."""

from dataclasses import replace
from functools import cache
from math import prod
from typing import TypeVar

from volvelle.catalogue.published.dfmodel import DesignPoint, DfModel, PublishedWorkload
from volvelle.errors import DescriptionError
from volvelle.estimators.dataflow.chip_graph import ChipGraph, Exchange
from volvelle.estimators.dataflow.on_chip import FusionChoices, FusionProblem, OnChip, Overlap
from volvelle.estimators.dataflow.stated_problem import (
    StatedMapping,
    split_graph,
    split_problem,
    stated_problem,
    without_tables,
)
from volvelle.reproductions.dfmodel.machine import DesignMachine, given
from volvelle.workload.families.dlrm import Dlrm, dlrm
from volvelle.workload.families.fft import Fft, fft
from volvelle.workload.families.gpt_layer import GptLayer, gpt_layer, gpt_layer_training
from volvelle.workload.families.hpl import Hpl, hpl
from volvelle.workload.graph import Workload
from volvelle.workload.transforms import with_backward

Shape = TypeVar("Shape", GptLayer, Dlrm, Hpl, Fft)
MEGATRON = ("heads", "ffn")
STATED = {
    # Queries, keys and values each leave summands of the gradient handed to the layer before; the graph has no kernel
    # that adds them, and the study's runs pay for one all-reduce, not three.
    "LLM": StatedMapping(split=MEGATRON, summed=("q_bwd",)),
    # Whatever the link, the study's inputs never divide the 1458 bytes of a weight update by a bandwidth, so they count
    # as nanoseconds: a rate of 1 GB/s.
    "DLRM": StatedMapping(
        tables_beside=("bottom_5_layer", "bottom_5_layer.backward.bottom_4_layer"), gradient_rate=1e9, sram=False
    ),
    "HPL": StatedMapping(grid=True, sram=False),
    "FFT": StatedMapping(split=("row", "column"), sram=False),
}
"""What the study assumes of each workload. SRAM counts for language models only."""
_ONE_PARTITION = "wse-2"
"""The chip on which the study runs every graph as one partition."""
_DATAFLOW = "sn30"
_MOST_PARTITIONS = 6


def _shape(found: PublishedWorkload, family: type[Shape]) -> Shape:
    shape = found.shape
    if not isinstance(shape, family):
        raise DescriptionError(f"workload {found.key!r} of DFModel is no {family.__name__}")
    return shape


def layer_of(found: PublishedWorkload) -> GptLayer:
    """The shape of a language model's layer."""
    return replace(_shape(found, GptLayer), layers=1)


@cache
def _workload(shape: GptLayer, *, training: bool) -> Workload:
    return gpt_layer_training(shape) if training else gpt_layer(shape)


def layer_graph(shape: GptLayer, degree: int, exchange: Exchange, *, training: bool = False) -> ChipGraph:
    """A layer split by heads and by the feed-forward width: Megatron's tensor parallelism."""
    workload = _workload(shape, training=training)
    return split_graph(workload, MEGATRON, degree=degree, exchange=exchange, stream="position")


def training_problem(
    shape: GptLayer, chip: OnChip, *, degree: int, exchange: Exchange, replicas: Exchange, choices: FusionChoices
) -> FusionProblem:
    """A layer forward and backward with its weight updates; `replicas` exchanges gradients, seconds a micro-batch."""
    return split_problem(
        _workload(shape, training=True),
        STATED["LLM"],
        chip,
        degree=degree,
        exchange=exchange,
        replicas=replicas,
        stream="position",
        choices=choices,
    )


# -- the design space ----------------------------------------------------------------------------------------------


def whole_work(point: DesignPoint, data: DfModel) -> float:
    """FLOP of all chips in one interval: of a language model one sample's layer, of a recommender each chip's batch."""
    graph, batches = _design_graph(point, data), 1
    if point.workload == "DLRM":
        graph, _ = without_tables(graph)
        batches = prod(data.topology(point.workload, point.topology).dims)
    return batches * sum(op.kind.work().flops(graph.sizes) for op in graph.blocks[0].operations)


def design_problem(point: DesignPoint, machine: DesignMachine, data: DfModel, *, overlap: Overlap) -> FusionProblem:
    """The fusion problem of a design point."""
    dataflow = point.accelerator == _DATAFLOW and point.workload == "LLM"
    one = point.accelerator == _ONE_PARTITION
    choices = FusionChoices(
        overlap=overlap,
        fuse=one or dataflow,
        partitions=_MOST_PARTITIONS if dataflow else None,
        forward_first=dataflow,
    )
    stated, found = STATED[point.workload], design_workload(point, data)
    chip = machine.chip(sram=stated.sram and choices.fuse)
    replicas = machine.chips if point.workload == "DLRM" else machine.degree("DP")
    return stated_problem(
        _design_graph(point, data),
        stated,
        chip,
        machine.network,
        tensor={"LLM": machine.degree("TP"), "FFT": machine.chips}.get(point.workload, 1),
        pipeline=machine.degree("PP"),
        data=replicas,
        micro_batches=(found.global_batch or 1) / replicas,
        stream="position" if point.workload == "LLM" else None,
        tile=1 if choices.fuse else None,
        choices=choices,
    )


def design_workload(point: DesignPoint, data: DfModel) -> PublishedWorkload:
    """Sizes of a point's workload: HPL is a larger problem on the wafer."""
    special = {("HPL", True): "hpl-5m", ("HPL", False): "hpl-1m"}
    names = {"LLM": "gpt3-1t", "DLRM": "dlrm-793b", "FFT": "fft-1t"}
    return data.workload(names.get(point.workload) or special[point.workload, point.accelerator == _ONE_PARTITION])


def _design_graph(point: DesignPoint, data: DfModel) -> Workload:
    """The graph of a point's workload, before it is split."""
    found = design_workload(point, data)
    return {
        "LLM": lambda: _workload(layer_of(found), training=True),
        "DLRM": lambda: _recommender(_shape(found, Dlrm), given(found.local_batch)),
        "HPL": lambda: hpl(_shape(found, Hpl)),
        "FFT": lambda: fft(_shape(found, Fft)),
    }[point.workload]()


@cache
def _recommender(shape: Dlrm, batch: int) -> Workload:
    return with_backward(dlrm(shape, batch=batch))
