"""The best placement of a recommendation model's tables on a machine.

Small tables are copied to every chip up to some size; larger ones are placed whole, by rows or by columns, or each by
its own share of the lookups. Every threshold and every way is priced.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from volvelle.applications.dlrm.estimator import DlrmEstimate, DlrmModel, DlrmStep
from volvelle.applications.dlrm.tables import table_costs
from volvelle.errors import MappingError
from volvelle.mapping.table_placement import Placement, TablePlacement
from volvelle.system.cluster import Cluster
from volvelle.workload.families.dlrm import Dlrm

__all__ = ["DlrmRanking", "placements", "rank_dlrm"]

_CUT = (Placement.ROW, Placement.COLUMN)


@dataclass(frozen=True, slots=True, kw_only=True)
class DlrmRanking:
    """Placements that fit, fastest first, and the fastest that does not."""

    best: tuple[DlrmEstimate, ...]
    considered: int
    nearest: DlrmEstimate | None


def placements(shape: Dlrm, chips: int) -> tuple[TablePlacement, ...]:
    """Every placement that is tried, each once."""
    return tuple(dict.fromkeys(_placements(shape, chips)))


def _placements(shape: Dlrm, chips: int) -> Iterator[TablePlacement]:
    if not shape.tables:
        raise MappingError(f"model {shape.name!r} has no tables to place")
    kinds = range(len(shape.tables))
    by_size = sorted(kinds, key=lambda each: shape.tables[each].rows * shape.tables[each].width)
    lookups = [each.count * each.pooling * each.width for each in shape.tables]
    share = sum(lookups) / chips
    for copied in range(len(shape.tables) + 1):
        small = set(by_size[:copied])
        for cut in _CUT:
            for busy in (0.0, 0.25, 0.5, 1.0, 2.0, float("inf")):
                # A table whose lookups alone are more than that share of a chip's is cut; the others stay whole.
                yield TablePlacement(
                    ways=tuple(
                        Placement.REPLICATED
                        if kind in small
                        else cut
                        if lookups[kind] / shape.tables[kind].count > busy * share
                        else Placement.TABLE
                        for kind in kinds
                    )
                )


def rank_dlrm(step: DlrmStep, cluster: Cluster, *, model: DlrmModel | None = None, top: int = 8) -> DlrmRanking:
    """Price every placement; estimate the fastest that fit in full, with their ranges."""
    model = DlrmModel() if model is None else model
    chips = cluster.accelerators
    capacity = float(cluster.chip.memory.capacity)
    priced: list[tuple[float, bool, TablePlacement]] = []
    known = model.dense(step, cluster)
    for placement in placements(step.shape, chips):
        costs = table_costs(step.shape, placement, batch=step.batch, chips=chips, elements=step.tables)
        times = model.times(step, cluster, costs, dense=known)
        held = sum(part.bytes for part in model.memory(step, chips, costs))
        time = sum(float(part) for (_, exposed), part in times.items() if exposed)
        priced.append((time, held <= capacity, placement))
    priced.sort(key=lambda each: each[0])
    able = [placement for _, fits, placement in priced if fits]
    unable = [(time, placement) for time, fits, placement in priced if not fits]
    best = tuple(model.estimate(step, cluster, placement) for placement in able[:top])
    near = unable[0] if unable and (not best or unable[0][0] < best[0].time) else None
    return DlrmRanking(
        best=best,
        considered=len(priced),
        nearest=None if near is None else model.estimate(step, cluster, near[1]),
    )
