"""The best mapping of any graph to a machine: degrees, sharding, stages, tiles and fusion, chosen together.

Best first over everything that is still open, each with a bound: ways to give chips to axes (balanced arithmetic, then
the best sharding), for each the tile sizes, for each the shardings in order of their bound, for each its best fusion.
The search ends when no bound is less than the best plan, which is then the optimum.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from time import perf_counter

from volvelle.errors import MappingError, UnknownNameError
from volvelle.estimators.calibration import fitted_constants
from volvelle.estimators.dataflow.chip_graph import on_chip
from volvelle.estimators.dataflow.on_chip import FusionChoices, OnChip
from volvelle.estimators.training.stage_memory import MemoryRecipe
from volvelle.mapping.sharding import Objective
from volvelle.search.graph.answer import MappingAnswer
from volvelle.search.graph.best_first import BestFirst
from volvelle.search.graph.network import Network, placements
from volvelle.search.graph.question import Question
from volvelle.search.graph.staged_plan import PlacedDegrees
from volvelle.system.cluster import Cluster
from volvelle.workload.graph import Workload
from volvelle.workload.operations import Phase

SIXTEEN_BYTES = MemoryRecipe(weight=2.0, gradient=2.0, optimiser=12.0)
"""A parameter in training: weight and gradient in 16 bits, master copy and two moments in 32; nothing is lost."""
_NOTHING = MemoryRecipe(weight=0.0, gradient=0.0, optimiser=0.0)


def map_graph(
    workload: Workload,
    cluster: Cluster,
    *,
    stream: str | None = None,
    pins: Mapping[str, Mapping[str, int]] | None = None,
    micro_batches: int = 1,
    degrees: Sequence[tuple[int, int, int]] | None = None,
    tiles: Sequence[int] | None = None,
    choices: FusionChoices | None = None,
    objective: Objective = "time",
    element: str = "bf16",
    time_limit: float = 60.0,
    chip: OnChip | None = None,
    refused: Sequence[str] = (),
    recipe: MemoryRecipe | None = None,
    zero: int = 0,
    ends: bool = False,
) -> MappingAnswer:
    """The best mapping of a workload to a machine, with a proof or a gap.

    `micro_batches` are those of a step, over all replicas; the workload's sizes are those of one. `stream` is the
    dimension whose tiles run through the kernels of a chip, `tiles` the tile sizes to try (powers of two), `pins` say
    for a block which partition a kernel runs in. `degrees` are (tensor, pipeline, data) to choose from, by default
    every way to use all chips; dimensions that are `refused` are never split. With `objective` "bytes" each sharding
    is the one that sends least, chosen before all else, as DFModel does; with "time" nothing comes before.
    `chip` replaces the cluster's chip by one known core by core. With `ends`, what enters and leaves a block passes
    through DRAM. What DRAM holds of a parameter and loses around activations is the `recipe`'s, replicas sharing it out
    as ZeRO does from stage `zero` on; by default 16 bytes in training, and a forward pass alone holds its weights.
    """
    begun = perf_counter()
    if micro_batches < 1:
        raise MappingError(f"a step of {micro_batches} micro-batches; there must be at least one")
    training = any(op.phase is Phase.BACKWARD for block in workload.blocks for op in block.operations)
    own, fitted = cluster.chip, fitted_constants(cluster, element, software=False)
    vector_cost = 1.0
    if chip is None:
        vector_cost = float(own.matrix_rate(element) * fitted.matrix_efficiency / own.vector_rate())
        chip = on_chip(own, element, fitted=fitted)
    _check_names(workload, pins or (), (*refused, *([] if stream is None else [stream])))
    question = Question(
        workload=workload,
        chip=chip,
        stream=stream,
        choices=choices or FusionChoices(tile_weights=True, stream_weights=True),
        tiles=_tile_sizes(workload, stream, tiles),
        pins=pins or {},
        refused=tuple(refused),
        objective=objective,
        vector_cost=vector_cost,
        ends=ends,
        deadline=begun + time_limit,
    )
    network = Network(cluster, element)
    placed_degrees = [
        PlacedDegrees(
            workload=workload,
            degrees=placed,
            network=network,
            micro_batches=ceil(micro_batches / placed.data),
            recipe=recipe or (SIXTEEN_BYTES if training else _NOTHING),
            zero=zero,
            own_weights=recipe is None and not training,
            capacity=question.chip.dram_capacity,
        )
        for placed in placements(cluster, degrees)
    ]
    search = BestFirst(question, placed_degrees)
    search.run()
    return MappingAnswer(
        workload=workload.name,
        cluster=cluster.name,
        chips=cluster.accelerators,
        plan=search.plan(micro_batches),
        bound=search.bound,
        seconds=perf_counter() - begun,
        counts=search.counts,
        violations=search.violations(),
    )


def _check_names(workload: Workload, blocks: Iterable[str], dims: Iterable[str]) -> None:
    names = [block.name for block in workload.blocks]
    for name in blocks:
        if name not in names:
            raise UnknownNameError.among("block", name, names)
    for dim in dims:
        if dim not in workload.sizes:
            raise UnknownNameError.among("dimension", dim, workload.sizes)


def _tile_sizes(workload: Workload, stream: str | None, tiles: Sequence[int] | None) -> tuple[int | None, ...]:
    if stream is None:
        if tiles:
            raise MappingError(f"tiles {tuple(tiles)} of what? name the dimension that is cut into tiles (stream)")
        return (None,)
    length = int(workload.sizes[stream])
    for size in tiles or ():
        if not 1 <= size <= length:
            raise MappingError(f"a tile of {size} of the {length} of {stream!r}; it lies between 1 and {length}")
    powers = [2**one for one in range(length.bit_length()) if 2**one < length]
    return tuple(sorted(set(tiles if tiles is not None else (*powers, length))))
