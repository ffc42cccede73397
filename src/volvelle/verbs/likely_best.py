"""Which of several layouts is likely to be the fastest: on the same sampled machines, each with an error of its own.

Inputs alone move all layouts together and would call a lead of half a per cent certain. So every layout has an error of
its own beside, and layouts of one kind share one, as wide as measured pairs of layouts say. Errors that are common to
all layouts of a machine change no order and are left out. A search ranks by centres; this is of those it kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from volvelle.catalogue.residuals import layout_spreads
from volvelle.estimators.calibration import fitted_constants
from volvelle.estimators.layout_errors import layout_errors, shares_won
from volvelle.estimators.sampler import Sampler, Stratified
from volvelle.estimators.step_inputs import chance_of_room, memory_columns, ran_itself
from volvelle.estimators.uncertainty import TableEstimator, memory_error_column, sampled, suffices
from volvelle.mapping.parallelism import MappingTable
from volvelle.system.cluster import Cluster
from volvelle.verbs.layouts import Layout
from volvelle.workload.training import TrainingStep

Rank = Literal["centre", "likely", "expected"]
RANKS: tuple[Rank, ...] = get_args(Rank)
"""By the central time; by the chance of being the fastest; by the mean time."""
MOST = 64
"""Layouts that are compared."""
_SHARE = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """Layouts against each other on sampled machines."""

    layouts: tuple[Layout, ...]
    """With their chances, in the order asked for."""
    sharing: int
    """How many of the likeliest have nine tenths of the chance together."""


def sampled_times(
    step: TrainingStep, cluster: Cluster, layouts: Sequence[Layout], estimator: TableEstimator, sampler: Sampler
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
    """Seconds of every layout on every sampled machine with errors of layouts, whether it fits there, and how likely.

    Errors of memory are the same for all layouts of a sample; the chance has none drawn, so it is what `estimate` says.
    """
    variants, _ = sampled(cluster, sampler=sampler)
    count, samples = len(layouts), sampler.samples
    mappings = MappingTable.of([layout.mapping for layout in layouts])
    # Every layout on every machine in one table.
    machines = variants.take(np.tile(np.arange(samples), count))
    timed = estimator.table(step, machines, mappings.take(np.repeat(np.arange(count), samples)))
    times = np.broadcast_to(timed.time, count * samples).reshape(count, samples)
    off = layout_errors([layout.mapping for layout in layouts], layout_spreads(), sampler)
    fitted = fitted_constants(cluster, step.element)
    error = memory_error_column(fitted.memory_error, sampler)
    held = estimator.table(step, cluster, mappings, breakdown=True)
    memory = [
        memory_columns(float(whole), float(tensors), step, sampler, ratio=fitted.memory_ratio)
        for whole, tensors in zip(held.memory_bytes, held.tensor_bytes, strict=True)
    ]
    room = variants.chip.capacity
    off_by = np.array([own.with_error(error) for own in memory])
    chances = np.array([chance_of_room(room, own, fitted) for own in memory])
    known = np.array([ran_itself(room, own, fitted) for own in memory])
    return times * off, suffices(room, off_by, fitted.memory_spike, sampler) | known[:, None], chances


def contest(
    step: TrainingStep,
    cluster: Cluster,
    layouts: Sequence[Layout],
    estimator: TableEstimator,
    *,
    rank: Rank = "centre",
    samples: int = 512,
    seed: int = 0,
) -> Contest:
    """Chances of fitting and of being the fastest of those that fit, and what taking each costs in the mean."""
    asked = tuple(layouts[:MOST])
    times, fits, p_fit = sampled_times(step, cluster, asked, estimator, Stratified(samples, seed))
    running = np.where(fits, times, np.inf)
    least = running.min(axis=0)
    some = np.isfinite(least)
    wins = shares_won(running) / max(float(some.mean()), 1.0 / samples)  # where none fits, none is the fastest
    with np.errstate(invalid="ignore"):
        slower = np.where(fits & some, times / least - 1.0, np.nan)
    found = []
    for place, layout in enumerate(asked):
        own = slower[place][~np.isnan(slower[place])]
        regret = float(own.mean()) if len(own) else None
        chances = {"p_fit": float(p_fit[place]), "p_best": float(wins[place]), "regret": regret}
        found.append(replace(layout, **chances))  # type: ignore[arg-type]
    mean = times.mean(axis=1)
    keys = {
        "centre": np.array([layout.time for layout in asked]),
        "likely": -wins,
        "expected": mean,
    }
    order = np.lexsort(([layout.memory_bytes for layout in asked], keys[rank]))
    shares = np.cumsum(np.sort(wins)[::-1])
    sharing = int(np.searchsorted(shares, _SHARE * shares[-1] - 1e-12)) + 1
    return Contest(layouts=tuple(found[place] for place in order), sharing=sharing)


def chance_of_being_faster(
    step: TrainingStep,
    cluster: Cluster,
    first: Layout,
    second: Layout,
    estimator: TableEstimator,
    *,
    samples: int = 4096,
    seed: int = 0,
) -> float:
    """How likely the first of two layouts is the faster one, on the same sampled machines."""
    times, *_ = sampled_times(step, cluster, (first, second), estimator, Stratified(samples, seed))
    return float(np.mean(times[0] < times[1]))
