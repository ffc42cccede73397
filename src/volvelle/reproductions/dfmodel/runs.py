"""Runs of DFModel's mapping studies as problems of ours: shape, chip, collectives, tile sizes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import inf, prod
from time import perf_counter

from volvelle.catalogue.published.dfmodel import MappingRun
from volvelle.estimators.dataflow.on_chip import FusionChoices, OnChip, Overlap
from volvelle.estimators.plain_network import plain_all_reduce
from volvelle.laws.onchip_dataflow import array_peak
from volvelle.laws.utilisation import model_flops_utilisation
from volvelle.reproductions.dfmodel.kernels import layer_graph
from volvelle.search.fusion.solve import TileAnswer, best_tile
from volvelle.workload.elements import element_bytes
from volvelle.workload.families.gpt_layer import GptLayer

OVERLAPS = {"all": Overlap.ALL, "compute and memory": Overlap.MEMORY, "none": Overlap.NONE}
"""What the catalogue calls them → what we do."""
_FFN = 4
"""Width of the feed-forward layer over that of the model, in all of the study's models."""


def handed(shape: GptLayer) -> float:
    """Bytes that a layer hands on: activations one way, their gradients the other."""
    return 2.0 * shape.hidden * shape.sequence * element_bytes(shape.element)


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedRun:
    """The best mapping of a run, over tile sizes."""

    run: MappingRun
    found: TileAnswer
    replicas: int
    work: float
    """FLOP of one layer and sample."""
    peak: float
    """FLOP/s of one chip."""
    chips: int
    seconds: float

    @property
    def time(self) -> float:
        """Seconds of one layer and sample: replicas work on samples of their own."""
        return self.found.answer.time / self.replicas if self.found.answer is not None else inf

    @property
    def utilisation(self) -> float:
        """Of all chips."""
        return float(model_flops_utilisation(self.work, self.time, chips=float(self.chips), peak=self.peak))

    @property
    def rate(self) -> float:
        """FLOP/s a chip achieves."""
        return self.utilisation * self.peak

    @property
    def partitions(self) -> int:
        """How many there are."""
        return len(self.found.answer.fusion.partitions) if self.found.answer and self.found.answer.fusion else 0

    def total(self, name: str) -> float:
        """Sum over partitions of ``compute``, ``memory`` or ``network`` seconds, or of ``traffic`` in bytes."""
        timing = self.found.answer.timing if self.found.answer is not None else None
        return timing.total(name) if timing is not None else inf


def powers_of_two(length: int, *, least: int = 1) -> tuple[int, ...]:
    """Tile sizes of a power of two, up to the whole."""
    return tuple(1 << power for power in range(length.bit_length()) if least <= 1 << power <= length)


def all_tiles(length: int) -> tuple[int, ...]:
    """Every tile size that differs: the least for each number of tiles."""
    return tuple(sorted({-(-length // tiles) for tiles in range(1, length + 1)}))


def shape_of(run: MappingRun, *, exchanged: bool = False) -> GptLayer:
    """The layer of a run; `exchanged` where what was run has heads and their size the other way round."""
    heads, size = (run.head_dim, run.heads) if exchanged else (run.heads, run.head_dim)
    return GptLayer(
        name=run.run, hidden=run.hidden, heads=heads, head_dim=size, ffn=_FFN * run.hidden, sequence=run.sequence
    )


def chip_of(run: MappingRun, *, sram: bool = True) -> OnChip:
    """The chip of a run; without `sram` a kernel takes its weights in pieces at no price."""
    return OnChip(
        cores=run.cores,
        width=run.lane_width,
        height=run.stage_width,
        clock=run.clock,
        sram=run.sram if sram else inf,
        dram_rate=run.dram_rate,
        utilisation=run.matrix_share,
    )


def degrees(run: MappingRun) -> dict[str, tuple[int, float]]:
    """Parallelism → chips and link rate along it; one chip where there is none."""
    there = {axis: (size, rate) for axis, size, rate in zip(run.axes, run.dims, run.link_rates, strict=True)}
    return {axis: there.get(axis, (1, inf)) for axis in ("TP", "PP", "DP")}


def map_run(
    run: MappingRun,
    tiles: Iterable[int],
    *,
    pins: Mapping[str, int] | None = None,
    tile_weights: bool = False,
    exchanged: bool = False,
    dram_rate: float | None = None,
    free: bool = False,
) -> MappedRun:
    """The best mapping of a forward run over tile sizes; `free`: of as many partitions as it likes."""
    begun = perf_counter()
    shape, chip = shape_of(run, exchanged=exchanged), chip_of(run)
    if dram_rate is not None:
        chip = replace(chip, dram_rate=dram_rate)
    (tensor, rate), (replicas, _) = degrees(run)["TP"], degrees(run)["DP"]
    fused = run.style == "dataflow"
    choices = FusionChoices(
        overlap=OVERLAPS[run.overlap],
        fuse=fused,
        partitions=run.partitions if fused and not free else None,
        tile_weights=tile_weights,
    )
    graph = layer_graph(
        shape, tensor, lambda _, size: plain_all_reduce(size, tensor, rate=rate, passes=run.all_reduce_passes)
    )
    problems = {tile: graph.problem(chip, tile=tile, choices=choices, pins=pins) for tile in tiles}
    return MappedRun(
        run=run,
        found=best_tile(problems),
        replicas=replicas,
        work=sum(op.kind.work().flops(shape.sizes) for op in graph.operations),
        peak=float(array_peak(run.cores, width=run.lane_width, height=run.stage_width, clock=run.clock)),
        chips=prod(run.dims),
        seconds=perf_counter() - begun,
    )
