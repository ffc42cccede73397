"""The best decomposition and process grid for a transform on a machine, of all there are."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from volvelle.applications.fft.estimator import FftEstimate, FftLayout, FftModel, FftProblem, fft_violations
from volvelle.errors import MappingError
from volvelle.system.cluster import Cluster

__all__ = ["FftRanking", "fft_layouts", "rank_fft"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FftRanking:
    """Layouts that can run, fastest first, and those that cannot."""

    best: tuple[FftEstimate, ...]
    considered: int
    refused: tuple[FftEstimate, ...]


def fft_layouts(ranks: int) -> tuple[FftLayout, ...]:
    """Slabs, and pencils over every grid of so many ranks."""
    divisors = [rows for rows in range(1, ranks + 1) if ranks % rows == 0]
    pencils = [FftLayout(rows=rows, columns=ranks // rows) for rows in divisors]
    return (FftLayout(rows=ranks, slab=True), *pencils)


def rank_fft(
    problem: FftProblem,
    cluster: Cluster,
    *,
    model: FftModel | None = None,
    layouts: Iterable[FftLayout] | None = None,
    top: int = 8,
) -> FftRanking:
    """Price every layout; estimate the fastest in full, with their ranges."""
    model = FftModel() if model is None else model
    choices = tuple(fft_layouts(cluster.accelerators) if layouts is None else layouts)
    if not choices:
        raise MappingError("there is no layout to choose from")
    times = np.full(len(choices), np.nan)
    for slab in (True, False):
        mine = [place for place, layout in enumerate(choices) if layout.slab == slab]
        if mine:
            rows = np.array([choices[place].rows for place in mine], dtype=float)
            columns = np.array([choices[place].columns for place in mine], dtype=float)
            parts = model.times(problem, cluster, rows=rows, columns=columns, slab=slab)
            times[mine] = np.zeros(len(mine)) + sum(np.asarray(part) for part in parts.values())
    order = [choices[place] for place in np.argsort(times, kind="stable")]
    able: list[FftLayout] = []
    unable: list[FftLayout] = []
    for layout in order:
        (unable if fft_violations(problem, cluster, layout) else able).append(layout)
    return FftRanking(
        best=tuple(model.estimate(problem, cluster, layout) for layout in able[:top]),
        considered=len(choices),
        refused=tuple(model.estimate(problem, cluster, layout) for layout in unable[:1]),
    )
