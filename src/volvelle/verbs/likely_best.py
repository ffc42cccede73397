"""Which of several layouts is likely to be the fastest: on the same sampled machines, each with an error of its own.

Uncertain inputs alone move all layouts together and would call a lead of half a per cent certain. So each layout has an
error of its own too, and layouts of one kind share one, as wide as measured pairs of layouts show. Errors that are
common to all layouts of a machine change no order and are left out.

The probability of being the fastest is of one set of layouts, `contenders`, whatever a caller shows of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from volvelle.catalogue.residuals import layout_spreads, pair_spread
from volvelle.estimators.calibration import fitted_constants
from volvelle.estimators.layout_errors import kind_errors, layout_errors, machine_times
from volvelle.estimators.sampler import Sampler, Stratified
from volvelle.estimators.step_inputs import MemoryColumns, chance_of_room, memory_columns, ran_itself
from volvelle.estimators.uncertainty import TableEstimator, memory_error_column, sampled, suffices
from volvelle.laws.model_error import chance_to_fit, fastest_of_several
from volvelle.mapping.parallelism import MappingTable
from volvelle.questions.plan import Rank
from volvelle.system.cluster import Cluster
from volvelle.verbs.layouts import Layout
from volvelle.workload.training import TrainingStep

MOST = 256
"""Layouts that are compared at most, the fastest by prediction."""
NEGLIGIBLE = 0.05
"""Probability of beating the predicted fastest, in a comparison of two, below which a layout is not compared."""
_AS_ESTIMATED = 512
"""Samples that an estimate has of memory."""
_SHARE = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """Layouts against each other on sampled machines."""

    layouts: tuple[Layout, ...]
    """All that were compared, with their probabilities, in the order asked for."""
    sharing: int
    """The number of the likeliest layouts that have 90 % of the probability together."""

    @property
    def likeliest(self) -> Layout:
        """The layout with the highest probability of being the fastest."""
        return max(self.layouts, key=lambda layout: layout.p_best or 0.0)


def contenders(layouts: Sequence[Layout]) -> tuple[Layout, ...]:
    """Return the layouts, fastest first, whose chance of being the fastest is not negligible; `MOST` at most."""
    reach = pair_spread() * NormalDist().inv_cdf(1.0 - NEGLIGIBLE)
    return tuple(layout for layout in layouts[:MOST] if log(layout.time / layouts[0].time) <= reach)


def _memory(
    step: TrainingStep, cluster: Cluster, mappings: MappingTable, estimator: TableEstimator, sampler: Sampler
) -> list[MemoryColumns]:
    """Return the sampled memory of every layout, without the error of the memory model."""
    ratio = fitted_constants(cluster, step.element).memory_ratio
    held = estimator.table(step, cluster, mappings, breakdown=True)
    return [
        memory_columns(float(whole), float(tensors), step, sampler, ratio=ratio)
        for whole, tensors in zip(held.memory_bytes, held.tensor_bytes, strict=True)
    ]


def sampled_times(
    step: TrainingStep, cluster: Cluster, layouts: Sequence[Layout], estimator: TableEstimator, sampler: Sampler
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
    """Seconds of every layout on every sampled machine with errors of layouts, whether it fits there, and how likely.

    Errors of memory are the same for all layouts of a sample; the chance has none drawn, so it is what `estimate` says.
    """
    variants, _ = sampled(cluster, sampler=sampler)
    mappings = MappingTable.of([layout.mapping for layout in layouts])
    times = machine_times(step, variants, mappings, estimator, sampler.samples)
    off = layout_errors([layout.mapping for layout in layouts], layout_spreads(), sampler)
    fitted = fitted_constants(cluster, step.element)
    error = memory_error_column(fitted.memory_error, sampler)
    memory = _memory(step, cluster, mappings, estimator, sampler)
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
    samples: int = 64,
    seed: int = 0,
) -> Contest:
    """Compute each layout's probability of being the fastest of those that fit, and its mean lag behind that.

    Errors of the machine are drawn, those of single layouts are integrated: few samples are enough.
    """
    of_kind, own = layout_spreads()
    sampler = Stratified(samples, seed)
    mappings = MappingTable.of([layout.mapping for layout in layouts])
    variants, _ = sampled(cluster, sampler=sampler)
    times = machine_times(step, variants, mappings, estimator, samples)
    times = times * kind_errors([layout.mapping for layout in layouts], of_kind, sampler)
    fitted, room = fitted_constants(cluster, step.element), variants.chip.capacity
    error = memory_error_column(fitted.memory_error, sampler)  # common to all layouts
    runs = np.array(
        [
            np.ones(samples)
            if ran_itself(room, memory, fitted)
            else chance_to_fit(
                room, memory.moved * error, kept=memory.kept, error=1.0, spike=fitted.memory_spike or 1.0
            )
            for memory in _memory(step, cluster, mappings, estimator, sampler)
        ]
    )
    wins, regrets = fastest_of_several(np.log(times), runs, spread=own)
    wins /= max(float(wins.sum()), 1e-12)  # where none fits, none is the fastest
    compared = [
        replace(layout, p_best=float(win), regret=None if np.isnan(regret) else float(regret))
        for layout, win, regret in zip(layouts, wins, regrets, strict=True)
    ]
    keys = {
        "centre": np.array([layout.time for layout in layouts]),
        "likely": -wins,
        "expected": times.mean(axis=1),
    }
    order = np.lexsort(([layout.memory_bytes for layout in layouts], keys[rank]))
    shares = np.cumsum(np.sort(wins)[::-1])
    sharing = int(np.searchsorted(shares, _SHARE * shares[-1] - 1e-12)) + 1
    return Contest(layouts=tuple(compared[place] for place in order), sharing=sharing)


def with_chances_to_fit(
    step: TrainingStep, cluster: Cluster, layouts: Sequence[Layout], estimator: TableEstimator
) -> tuple[Layout, ...]:
    """Return the layouts, each with the probability of fitting that an estimate of it gives."""
    sampler, fitted = Stratified(_AS_ESTIMATED, 0), fitted_constants(cluster, step.element)
    room = sampled(cluster, sampler=sampler)[0].chip.capacity
    mappings = MappingTable.of([layout.mapping for layout in layouts])
    memory = _memory(step, cluster, mappings, estimator, sampler)
    return tuple(
        replace(layout, p_fit=chance_of_room(room, held, fitted)) for layout, held in zip(layouts, memory, strict=True)
    )


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
