"""The kernels of one chip where how work is split is stated, not searched: by dimensions, on a grid, with tables apart.

What a split implies for work, bytes and collectives is the same as in a search (:class:`ChipGraph`); what a study
assumes besides is added here, kernel by kernel.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from volvelle.errors import MappingError, UnknownNameError
from volvelle.estimators.dataflow.chip_graph import ChipGraph, Exchange
from volvelle.estimators.dataflow.on_chip import ChipKernel, FusionChoices, FusionProblem, OnChip
from volvelle.estimators.plain_network import PlainNetwork
from volvelle.mapping.sharding import END, by_dimension, shard
from volvelle.workload.graph import Block, Workload
from volvelle.workload.operations import Lookup, Phase
from volvelle.workload.tensor_layout import Collective

_ROWS, _COLUMNS = "row", "column"
"""What the dimensions of a matrix that a grid of chips shares are called, before a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedMapping:
    """What a study assumes of a mapping in place of a search and of what machines sustain; each has a law."""

    split: tuple[str, ...] = ()
    """Dimensions that the tensor group splits: every operation the first of them that it can."""
    grid: bool = False
    """Rows are shared over all network dimensions but the last, columns over that; every result is a panel that is
    broadcast along the columns and handed on along the rows, both at once."""
    summed: tuple[str, ...] = ()
    """Kernels whose results the tensor group adds up besides, though the graph draws no reader."""
    tables_beside: tuple[str, ...] = ()
    """Kernels beside which rows of embedding tables, spread over all chips, are fetched and exchanged."""
    gradient_rate: float | None = None
    """Bytes a second at which replicas exchange gradients, reduced and gathered; None: the network's."""
    matrix_share: float = 1.0
    """Of the peak, that every kernel reaches."""
    sram: bool = True
    """Whether kernels that run together must fit the SRAM; one by one they take their data in pieces anyhow."""
    element: str | None = None
    """In which all data are kept; None: as the graph has them."""


def split_graph(
    workload: Workload,
    split: tuple[str, ...],
    *,
    degree: int,
    exchange: Exchange,
    replicas: Exchange | None = None,
    stream: str | None,
) -> ChipGraph:
    """One chip's share of the one block of a workload, each operation split along the first dimension it can.

    What leaves a block that does not repeat stays where it was made.
    """
    (block,) = workload.blocks
    sharded = shard(block, by_dimension(block, split))
    if block.repeat == 1:
        needed = tuple(one for one in sharded.conversions if set(one.readers) != {END})
        sharded = replace(sharded, conversions=needed)
    return ChipGraph(
        sharded=sharded, sizes=workload.sizes, degree=degree, stream=stream, exchange=exchange, replicas=replicas
    )


def split_problem(
    workload: Workload,
    stated: StatedMapping,
    chip: OnChip,
    *,
    degree: int,
    exchange: Exchange,
    replicas: Exchange | None = None,
    stream: str | None,
    tile: int | None = None,
    choices: FusionChoices,
) -> FusionProblem:
    """The fusion problem of a split by dimensions; `replicas` exchanges gradients, seconds a micro-batch."""
    graph = split_graph(workload, stated.split, degree=degree, exchange=exchange, replicas=replicas, stream=stream)
    block = graph.block
    _check_kernels(block, stated.summed)
    network = {
        name: exchange(Collective.ALL_REDUCE, block.tensor_of[block.operation_of[name].outputs[0]].bytes(graph.sizes))
        for name in stated.summed
    }
    whole = with_more(graph.problem(chip, choices=choices), network=network)
    if tile is None or stream is None:
        return whole
    # What streams under another name (keys are positions) does a tile's share of its work as well.
    return whole.in_tiles(-(-int(graph.sizes[stream]) // tile))


def stated_problem(
    workload: Workload,
    stated: StatedMapping,
    chip: OnChip,
    network: PlainNetwork,
    *,
    tensor: int,
    pipeline: int = 1,
    data: int = 1,
    micro_batches: float = 1.0,
    stream: str | None = None,
    tile: int | None = None,
    choices: FusionChoices,
) -> FusionProblem:
    """The fusion problem of a workload on a plain network; groups lie on it in the order tensor, pipeline, data."""
    if stated.grid:
        return _on_grid(workload, stated, chip, network, choices)
    group, copies = network.part(1, tensor), network.part(tensor * pipeline, data)

    def exchange(how: Collective, size: float) -> float:
        if how is Collective.ALL_TO_ALL:
            return group.all_to_all(size / tensor**2)
        if how is not Collective.ALL_REDUCE:
            raise MappingError(
                f"the split {', '.join(stated.split)} takes a {how.value}, which has no plain law; split other "
                "dimensions, or leave assumptions out"
            )
        return group.all_reduce(size)

    def gradients(_: Collective, size: float) -> float:
        if stated.gradient_rate is not None:
            return 2.0 * size / micro_batches / stated.gradient_rate
        return copies.all_reduce(size) / micro_batches

    dense, rows = without_tables(workload) if stated.tables_beside else (workload, 0.0)
    problem = split_problem(
        dense,
        stated,
        chip,
        degree=tensor,
        exchange=exchange,
        replicas=gradients if data > 1 else None,
        stream=stream,
        tile=tile,
        choices=choices,
    )
    if not stated.tables_beside:
        return problem
    _check_kernels(dense.blocks[0], stated.tables_beside)
    return with_more(
        problem,
        network=dict.fromkeys(stated.tables_beside, network.all_to_all(rows / network.chips)),
        extra=dict.fromkeys(stated.tables_beside, rows),
    )


def without_tables(workload: Workload) -> tuple[Workload, float]:
    """The dense part of a recommender whose rows are looked up apart, and the bytes of rows looked up."""
    (block,) = workload.blocks
    looked_up = [op for op in block.operations if isinstance(op.kind, Lookup) and op.phase is Phase.FORWARD]
    parts = {op.part for op in looked_up}
    if not parts:
        raise MappingError(f"{workload.name} looks nothing up, so it has no tables to fetch beside a kernel")
    gone = {op.name for op in block.operations if op.part in parts}
    gone |= {op.name for op in block.operations if op.of in gone}
    made = {name for op in block.operations if op.name in gone for name in op.outputs}
    kept = [op for op in block.operations if op.name not in gone and not (op.fused and made & set(op.inputs))]
    if any(made & set(op.inputs) for op in kept):
        raise MappingError(f"what {workload.name} looks up is read by its dense layers; it is not apart")
    rows = sum(block.tensor_of[name].bytes(workload.sizes) for op in looked_up for name in op.outputs)
    outputs = tuple(name for name in block.outputs if name not in made)
    dense = _unfused(replace(block, operations=tuple(kept), outputs=outputs))
    return replace(workload, blocks=(dense,)), rows


def _unfused(block: Block) -> Block:
    """Without what only renames the one gradient of a weight: its maker then makes it."""
    named = {op.inputs[0]: op.outputs[0] for op in block.operations if op.fused and len(op.inputs) == 1}
    return replace(
        block,
        operations=tuple(
            replace(op, outputs=tuple(named.get(name, name) for name in op.outputs))
            for op in block.operations
            if not (op.fused and op.inputs[0] in named)
        ),
    )


def _on_grid(
    workload: Workload, stated: StatedMapping, chip: OnChip, network: PlainNetwork, choices: FusionChoices
) -> FusionProblem:
    (block,) = workload.blocks
    down, across = network.grid
    share: dict[str, float] = {}
    for name, size in workload.sizes.items():
        kind = name.partition("_")[0]
        if kind in (_ROWS, _COLUMNS):
            share[name] = -(-int(size) // down) if kind == _ROWS else size / across
    if not share:
        raise MappingError(f"{workload.name} has no dimensions {_ROWS} and {_COLUMNS} that a grid of chips could share")
    panels = {op.name: network.panel(block.tensor_of[op.outputs[0]].bytes(workload.sizes)) for op in block.operations}
    alone = split_graph(workload.with_sizes(**share), stated.split, degree=1, exchange=lambda _, __: 0.0, stream=None)
    return with_more(alone.problem(chip, choices=choices), network=panels)


def with_more(
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


def _check_kernels(block: Block, names: tuple[str, ...]) -> None:
    for name in names:
        if name not in block.operation_of:
            raise UnknownNameError.among(f"kernel of {block.name}", name, block.operation_of)
