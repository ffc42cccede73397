"""DFModel's workloads as the kernels of one chip: sharded, with the network time of each."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from math import prod
from typing import TypeVar

from volvelle.catalogue.published.dfmodel import DesignPoint, DfModel, PublishedWorkload
from volvelle.errors import DescriptionError
from volvelle.estimators.dataflow.chip_graph import ChipGraph, Exchange
from volvelle.estimators.dataflow.on_chip import ChipKernel, FusionChoices, FusionProblem, OnChip, Overlap
from volvelle.laws.collectives import pipelined_broadcast_time, point_to_point_time
from volvelle.mapping.sharding import by_dimension, shard
from volvelle.reproductions.dfmodel.machine import DesignMachine, given
from volvelle.workload.families.dlrm import Dlrm, dlrm
from volvelle.workload.families.fft import Fft, fft
from volvelle.workload.families.gpt_layer import GptLayer, gpt_layer, gpt_layer_training
from volvelle.workload.families.hpl import Hpl, hpl
from volvelle.workload.graph import Block, Workload
from volvelle.workload.tensor_layout import Collective
from volvelle.workload.transforms import with_backward

Shape = TypeVar("Shape", GptLayer, Dlrm, Hpl, Fft)
INPUT_GRADIENT = "q_bwd"
"""Carries the all-reduce of the gradient handed to the layer before. Queries, keys and values each leave summands of
it; the graph has no kernel that adds them, and the study's runs pay for one all-reduce, not three."""
_UPDATE_RATE = 1e9
"""Bytes a second at which DLRM's weight updates are exchanged in the study, whatever the link: its inputs never divide
the 1458 bytes of an update by a bandwidth, so they count as nanoseconds."""
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
    (block,) = workload.blocks
    sharded = shard(block, by_dimension(block, ("heads", "ffn")))
    return ChipGraph(sharded=sharded, sizes=workload.sizes, degree=degree, stream="position", exchange=exchange)


def training_problem(
    shape: GptLayer,
    chip: OnChip,
    *,
    degree: int,
    exchange: Exchange,
    replicas: Exchange,
    tile: int | None = None,
    choices: FusionChoices,
) -> FusionProblem:
    """A layer forward and backward with its weight updates; `replicas` exchanges gradients, seconds a micro-batch."""
    graph = layer_graph(shape, degree, exchange, training=True)
    block, sizes = graph.block, graph.sizes
    network = {INPUT_GRADIENT: exchange(Collective.ALL_REDUCE, block.tensor_of[INPUT_GRADIENT].bytes(sizes))}
    for op in block.operations:
        if op.name.endswith("_update"):
            size = block.tensor_of[op.outputs[0]].bytes(sizes) / degree
            network[op.name] = replicas(Collective.ALL_REDUCE, size)
    whole = _with(graph.problem(chip, choices=choices), network=network)
    if tile is None:
        return whole
    # Keys and values go by positions of their own, which stream as well: every kernel does a tile's share of its work.
    return whole.in_tiles(-(-shape.sequence // tile))


def _with(
    problem: FusionProblem, *, network: Mapping[str, float], extra: Mapping[str, float] | None = None
) -> FusionProblem:
    """Network seconds and DRAM bytes added to kernels."""
    extra = extra or {}

    def more(kernel: ChipKernel) -> ChipKernel:
        return replace(
            kernel,
            network_time=kernel.network_time + network.get(kernel.name, 0.0),
            extra_bytes=kernel.extra_bytes + extra.get(kernel.name, 0.0),
        )

    return replace(problem, kernels=tuple(more(kernel) for kernel in problem.kernels))


# -- the design space ----------------------------------------------------------------------------------------------


def whole_work(point: DesignPoint, data: DfModel) -> float:
    """FLOP of all chips in one interval: of a language model one sample's layer, of a recommender each chip's batch."""
    (block, sizes) = _design_block(point, data)
    batches = prod(data.topology(point.workload, point.topology).dims) if point.workload == "DLRM" else 1
    return batches * sum(op.kind.work().flops(sizes) for op in block.operations)


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
    # SRAM counts for language models only, and a kernel by itself takes its weights in pieces at no price.
    chip = machine.chip(sram=point.workload == "LLM" and choices.fuse)
    build = {"LLM": _llm_problem, "DLRM": _dlrm_problem, "HPL": _hpl_problem, "FFT": _fft_problem}[point.workload]
    return build(point, machine, data, chip, choices)


def design_workload(point: DesignPoint, data: DfModel) -> PublishedWorkload:
    """Sizes of a point's workload: HPL is a larger problem on the wafer."""
    special = {("HPL", True): "hpl-5m", ("HPL", False): "hpl-1m"}
    names = {"LLM": "gpt3-1t", "DLRM": "dlrm-793b", "FFT": "fft-1t"}
    return data.workload(names.get(point.workload) or special[point.workload, point.accelerator == _ONE_PARTITION])


def _design_block(point: DesignPoint, data: DfModel) -> tuple[Block, Mapping[str, float]]:
    """The graph of a point's workload, before it is split."""
    found = design_workload(point, data)
    if point.workload == "LLM":
        workload = _workload(layer_of(found), training=True)
    elif point.workload == "DLRM":
        workload = _dense_layers(_shape(found, Dlrm), found.local_batch or 1)
    elif point.workload == "HPL":
        workload = hpl(_shape(found, Hpl))
    else:
        workload = fft(_shape(found, Fft))
    return workload.blocks[0], workload.sizes


def _llm_problem(
    point: DesignPoint, machine: DesignMachine, data: DfModel, chip: OnChip, choices: FusionChoices
) -> FusionProblem:
    found = design_workload(point, data)
    batches = given(found.global_batch) / machine.degree("DP")
    return training_problem(
        layer_of(found),
        chip,
        degree=machine.degree("TP"),
        exchange=lambda _, size: machine.all_reduce("TP", size),
        replicas=lambda _, size: machine.all_reduce("DP", size) / batches,
        tile=1 if choices.fuse else None,
        choices=choices,
    )


@cache
def _dense_layers(shape: Dlrm, batch: int) -> Workload:
    """The dense layers with their backward pass: tables are charged to the layer where their rows are needed."""
    workload = with_backward(dlrm(replace(shape, tables=()), batch=batch))
    (block,) = workload.blocks
    kernels = tuple(op for op in block.operations if not op.fused)
    return replace(workload, blocks=(replace(block, operations=kernels),))


def _dlrm_problem(
    point: DesignPoint, machine: DesignMachine, data: DfModel, chip: OnChip, choices: FusionChoices
) -> FusionProblem:
    found = design_workload(point, data)
    shape, batch = _shape(found, Dlrm), given(found.local_batch)
    workload = _dense_layers(shape, batch)
    (block,) = workload.blocks
    last = f"bottom_{len(shape.bottom)}"
    meets = (f"{last}_layer", f"{last}_layer.backward.bottom_{len(shape.bottom) - 1}_layer")
    rows = shape.rows_bytes(batch)
    network = dict.fromkeys(meets, machine.all_to_all(rows / machine.chips))
    batches = given(found.global_batch) / machine.chips
    for op in block.operations:
        if op.name.endswith("_weight"):
            size = block.tensor_of[op.outputs[0]].bytes(workload.sizes)
            network[op.name] = 2.0 * size / batches / _UPDATE_RATE
    return _with(_alone(workload, chip, choices), network=network, extra=dict.fromkeys(meets, rows))


def _alone(workload: Workload, chip: OnChip, choices: FusionChoices) -> FusionProblem:
    """A workload of which one chip has what is given."""
    (block,) = workload.blocks
    sharded = shard(block, by_dimension(block, ()))
    graph = ChipGraph(sharded=sharded, sizes=workload.sizes, degree=1, stream=None, exchange=lambda _, __: 0.0)
    return graph.problem(chip, choices=choices)


def _hpl_problem(
    point: DesignPoint, machine: DesignMachine, data: DfModel, chip: OnChip, choices: FusionChoices
) -> FusionProblem:
    shape = _shape(design_workload(point, data), Hpl)
    *rows, columns = machine.topology.dims
    down = prod(rows)
    share = dict[str, float]()
    for step, side in enumerate(shape.sides):
        share |= {f"row_{step}": -(-side // down), f"column_{step}": side / columns}
    whole, part = hpl(shape), hpl(shape).with_sizes(**share)
    (block,) = whole.blocks
    network = {}
    for op in block.operations:
        panel = block.tensor_of[op.outputs[0]].bytes(whole.sizes)
        # Along one dimension of the grid a panel is broadcast, along the other handed on, both at once.
        spread = pipelined_broadcast_time(panel / columns, float(columns), rate=machine.rates[0], latency=0.0)
        handed = point_to_point_time(panel / down, rate=machine.rates[-1], latency=0.0)
        network[op.name] = max(float(spread), float(handed))
    return _with(_alone(part, chip, choices), network=network)


def _fft_problem(
    point: DesignPoint, machine: DesignMachine, data: DfModel, chip: OnChip, choices: FusionChoices
) -> FusionProblem:
    workload, chips = fft(_shape(design_workload(point, data), Fft)), machine.chips
    (block,) = workload.blocks
    # Each transform needs its own dimension whole, so the all-to-all between them follows from the split.
    graph = ChipGraph(
        sharded=shard(block, {"along_rows": "column", "along_columns": "row"}),
        sizes=workload.sizes,
        degree=chips,
        stream=None,
        exchange=lambda how, size: machine.all_to_all(size / chips**2) if how is Collective.ALL_TO_ALL else 0.0,
    )
    return graph.problem(chip, choices=choices)
