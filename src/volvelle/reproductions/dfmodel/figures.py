"""Figures 7, 8, 19 and 22 of the DFModel paper: training on rails and on A100, and sweeps of on-chip memory."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import geometric_mean
from typing import Any

from volvelle.catalogue.published.dfmodel import DfModel, MappingRun
from volvelle.estimators.dataflow.on_chip import FusionChoices, FusionProblem
from volvelle.estimators.dataflow.pipelined_batch import PipelinedBatch
from volvelle.estimators.plain_network import plain_all_reduce
from volvelle.laws.collectives import ring_reduce_scatter_time
from volvelle.reproductions.dfmodel.kernels import training_problem
from volvelle.reproductions.dfmodel.runs import (
    OVERLAPS,
    MappedRun,
    all_tiles,
    chip_of,
    degrees,
    handed,
    map_run,
    powers_of_two,
    shape_of,
)
from volvelle.search.fusion.solve import FusionAnswer, fuse


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRun:
    """A run over a whole batch, kernel by kernel, nothing overlapped."""

    run: MappingRun
    problem: FusionProblem
    answer: FusionAnswer
    batch: PipelinedBatch

    @property
    def time(self) -> float:
        """Seconds of a batch."""
        return self.batch.time(self.answer.time)

    @property
    def difference(self) -> float | None:
        """Ours over logged, less one."""
        return None if self.run.time is None else self.time / self.run.time - 1

    def interval(self, name: str, forward: bool | None = None) -> float:
        """Seconds of ``compute``, ``memory`` or ``network`` for one layer and sample, of one side or both."""
        timing = self.answer.timing
        assert timing is not None, "kernels by themselves always run"
        sides = {kernel.name: kernel.forward for kernel in self.problem.kernels}
        return sum(
            float(getattr(part, name))
            for part in timing.partitions
            if forward is None or sides[part.kernels[0]] is forward
        )

    @property
    def breakdown(self) -> dict[str, float]:
        """Seconds of the batch by what they are for."""
        often = self.batch.held * self.batch.samples
        return {
            "forward": often * (self.interval("compute", forward=True) + self.interval("memory", forward=True)),
            "backward": often * (self.interval("compute", forward=False) + self.interval("memory", forward=False)),
            "communication": often * self.interval("network"),
            "pipeline bubble": often * self.answer.time * (self.batch.factor - 1.0),
            "between stages": self.batch.transfer,
        }


def _train(run: MappingRun, tensor: Callable[[float, int], float], data: Callable[[float, int], float]) -> TrainingRun:
    """A training run; `tensor` and `data` give seconds of an all-reduce over so many chips."""
    along = degrees(run)
    (tp, _), (pp, slow), (dp, _) = along["TP"], along["PP"], along["DP"]
    shape, samples = shape_of(run), run.global_batch / dp
    problem = training_problem(
        shape,
        chip_of(run, sram=False),
        degree=tp,
        exchange=lambda _, size: tensor(size, tp),
        replicas=lambda _, size: data(size, dp) / samples,
        choices=FusionChoices(fuse=False, overlap=OVERLAPS[run.overlap]),
    )
    batch = PipelinedBatch.of(
        handed(shape), layers=run.layers, stages=pp, samples=samples, micro_batch=run.micro_batch, rate=slow
    )
    return TrainingRun(run=run, problem=problem, answer=fuse(problem), batch=batch)


def solve_calculon(data: DfModel) -> tuple[TrainingRun, ...]:
    """Figure 8: 4096 A100 in the layouts compared with Calculon."""
    return tuple(_on_switches(run) for run in data.study("figure 8"))


def _on_switches(run: MappingRun) -> TrainingRun:
    along, passes = degrees(run), run.all_reduce_passes
    return _train(
        run,
        lambda size, chips: plain_all_reduce(size, chips, rate=along["TP"][1], passes=passes),
        lambda size, chips: plain_all_reduce(size, chips, rate=along["DP"][1], passes=passes),
    )


def solve_rail_only(data: DfModel) -> tuple[TrainingRun, ...]:
    """Figure 7: 16384 H100, by the number of chips with fast links between them."""
    runs = sorted(data.study("figure 7"), key=lambda run: run.fast_domain or 0)
    return tuple(_on_rails(run) for run in runs)


def _on_rails(run: MappingRun) -> TrainingRun:
    fast, slow = run.link_rates[0], run.link_rates[-1]
    domain = run.fast_domain or 1

    def exchange(size: float, chips: int) -> float:
        """Inside the fast domain first, then what is left of it over the rails; one pass, as in the inputs."""
        inside = min(chips, domain)
        near = float(ring_reduce_scatter_time(size, float(inside), rate=fast, latency=0.0))
        far = float(ring_reduce_scatter_time(size / inside, chips / inside, rate=slow, latency=0.0))
        return near + far

    return _train(run, exchange, exchange)


def training_run_document(found: tuple[TrainingRun, ...]) -> dict[str, Any]:
    """What JSON says of Figures 7 and 8."""
    return {
        "rows": [
            {
                "run": one.run.run,
                "layout": dict(zip(one.run.axes, one.run.dims, strict=True)),
                "fast_domain": one.run.fast_domain,
                "logged_s": one.run.time,
                "ours_s": one.time,
                "difference": one.difference,
                "logged_gap": one.run.gap,
                "proven": one.answer.proven,
                **{
                    f"{name}_difference": None if logged is None else one.interval(name) / logged - 1
                    for name in ("compute", "memory", "network")
                    for logged in [getattr(one.run, name)]
                },
                "seconds_by_part": one.breakdown,
                "source": one.run.source,
            }
            for one in found
        ]
    }


# -- sweeps of on-chip memory --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptRun:
    """A run of a sweep, over every tile size and over powers of two."""

    run: MappingRun
    ours: MappedRun
    coarse: MappedRun
    """Tiles of a power of two only."""

    @property
    def logged_rate(self) -> float | None:
        """FLOP/s of a chip."""
        return None if self.run.utilisation is None else self.run.utilisation * self.ours.peak

    @property
    def difference(self) -> float | None:
        """Ours over logged, less one."""
        return None if self.run.utilisation is None else self.ours.utilisation / self.run.utilisation - 1


def _sweep(
    runs: tuple[MappingRun, ...], advance: Callable[[], None], *, exchanged: bool = False
) -> tuple[SweptRun, ...]:
    found = []
    for run in runs:
        ours, coarse = (
            map_run(run, tiles, tile_weights=True, exchanged=exchanged, free=True)
            for tiles in (all_tiles(run.sequence), powers_of_two(run.sequence))
        )
        found.append(SweptRun(run=run, ours=ours, coarse=coarse))
        advance()
    return tuple(found)


def solve_sram_sweep(data: DfModel, *, advance: Callable[[], None]) -> tuple[SweptRun, ...]:
    """Figure 19: kernel by kernel against dataflow, by SRAM and DRAM rate."""
    return _sweep(data.study("figure 19"), advance)


def solve_three_dimensional(data: DfModel, *, advance: Callable[[], None]) -> tuple[SweptRun, ...]:
    """Figure 22: a model of 100 T parameters on chips of more cores and less SRAM, by memory technology."""
    return _sweep(data.study("figure 22"), advance, exchanged=True)


PRINTED_GAIN = 1.63
"""Of dataflow over kernel by kernel in Figure 19, as section VII-E prints it."""


def dataflow_gain(found: tuple[SweptRun, ...]) -> dict[str, float]:
    """How much higher utilisation is with dataflow, as geometric means over memories: logged, ours, by coarse tiles."""
    pairs: dict[str, dict[str, SweptRun]] = {}
    for one in found:
        style, _, memories = one.run.run.partition("/")
        pairs.setdefault(memories, {})[style] = one
    both = [(pair["DF"], pair["KBK"]) for pair in pairs.values()]
    logged = [a.run.utilisation / b.run.utilisation for a, b in both if a.run.utilisation and b.run.utilisation]
    return {
        "paper": PRINTED_GAIN,
        "logged": geometric_mean(logged),
        "ours": geometric_mean(a.ours.utilisation / b.ours.utilisation for a, b in both),
        "power_of_two": geometric_mean(a.coarse.utilisation / b.coarse.utilisation for a, b in both),
    }


def sweep_document(found: tuple[SweptRun, ...]) -> dict[str, Any]:
    """What JSON says of Figures 19 and 22."""
    return {
        "rows": [
            {
                "run": one.run.run,
                "style": one.run.style,
                "cores": one.run.cores,
                "sram_bytes": one.run.sram,
                "dram_gb_per_s": one.run.dram_rate / 1e9,
                "logged_utilisation": one.run.utilisation,
                "utilisation": one.ours.utilisation,
                "utilisation_power_of_two": one.coarse.utilisation,
                "difference": one.difference,
                "tflop_per_s": one.ours.rate / 1e12,
                "logged_gap": one.run.gap,
                "proven": one.ours.found.proven and one.coarse.found.proven,
                "tile": one.ours.found.tile,
                "partitions": one.ours.partitions,
                "seconds": round(one.ours.seconds + one.coarse.seconds, 3),
                "source": one.run.source,
            }
            for one in found
        ]
    }
