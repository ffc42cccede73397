"""How far one step may be off: by what runs leave open of the constants it feels, one's own where there are any."""

from collections.abc import Callable
from functools import lru_cache
from math import exp

import numpy as np

from volvelle.estimators.calibration import Calibrations, calibrations_of
from volvelle.estimators.factored import network_shares
from volvelle.estimators.own_shapes import product_shapes
from volvelle.estimators.step_errors import CHIP, StepError
from volvelle.estimators.training.constant_slopes import Table, constant_slopes
from volvelle.mapping.axis_shardings import EXPERT_DIM
from volvelle.mapping.lowered_model import ByIdentity
from volvelle.mapping.parallelism import MappingTable, ParallelMapping
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep


def step_error(cluster: Cluster, step: TrainingStep, mapping: ParallelMapping | None = None) -> StepError:
    """How far a whole step on a machine may be off, and in which ways it leaves what runs tell of.

    Without a layout, of any on all its chips.
    """
    known = calibrations_of(cluster)
    own = by_constants = None
    if mapping is not None and known.errors is not None and "step_error" not in known.chosen:
        layout = mapping

        def slopes() -> Table:
            return _slopes(ByIdentity(cluster), ByIdentity(step), layout)

        by_constants = known.errors().of_step(slopes, cluster.chip.family, step.element, known.stack)
        own = _by_own_runs(known, cluster, step, mapping, slopes, most=by_constants)
    found = known.step_error(
        cluster.chip,
        step.element,
        mixture=EXPERT_DIM in step.model.sizes,
        chips=cluster.accelerators if mapping is None else mapping.chips,
        own=own,
        by_constants=by_constants,
    )
    if known.errors is not None and "step_error" not in known.chosen:
        found = found.having(step.model.unpriced, known.errors().unpriced)
    unknown = mapping is not None and CHIP in found.left
    return found.waiting(float(network_shares(slopes()))) if unknown else found


def waiting_share(cluster: Cluster, step: TrainingStep, mapping: ParallelMapping) -> float:
    """What share of a step waits for the network."""
    return float(network_shares(_slopes(ByIdentity(cluster), ByIdentity(step), mapping)))


def ways_left(cluster: Cluster, step: TrainingStep, mapping: ParallelMapping) -> tuple[str, ...]:
    """In which ways a step leaves what runs tell of."""
    known, mixture = calibrations_of(cluster), EXPERT_DIM in step.model.sizes
    return tuple(known.step_error(cluster.chip, step.element, mixture=mixture, chips=mapping.chips).left)


def _by_own_runs(
    known: Calibrations,
    cluster: Cluster,
    step: TrainingStep,
    mapping: ParallelMapping,
    slopes: Callable[[], Table],
    *,
    most: float | None,
) -> float | None:
    """What own runs leave of the very step, as a factor; None: there are none that tell.

    No more than was open without them (`most`), but by what they lie further off than was believed.
    """
    software = known.software
    if software is None or software.own_runs is None or not known.own_runs(cluster.chip, step.element):
        return None
    shapes = product_shapes(step, MappingTable.of([mapping]))
    told = software.own_runs()
    found = told.error(slopes()[None], shapes)
    return exp(float((found if most is None else told.no_wider(found, np.log([most])))[0]))


@lru_cache(maxsize=64)
def _slopes(cluster: ByIdentity[Cluster], step: ByIdentity[TrainingStep], mapping: ParallelMapping) -> Table:
    """One question is asked about several times for one answer."""
    return np.asarray(constant_slopes(step.value, cluster.value, MappingTable.of([mapping]))[0])
