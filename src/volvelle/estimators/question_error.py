"""How far one step may be off: by what runs tell of such steps, and by runs of one's own where there are any."""

from math import exp

from volvelle.estimators.calibration import Calibrations, calibrations_of
from volvelle.estimators.own_shapes import product_shapes
from volvelle.estimators.step_errors import StepError
from volvelle.estimators.training.constant_slopes import constant_slopes
from volvelle.mapping.axis_shardings import EXPERT_DIM
from volvelle.mapping.parallelism import MappingTable, ParallelMapping
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep


def step_error(cluster: Cluster, step: TrainingStep, mapping: ParallelMapping | None = None) -> StepError:
    """How far a whole step on a machine may be off, and in which ways it leaves what runs tell of.

    Without a layout, of one on all its chips.
    """
    known = calibrations_of(cluster)
    return known.step_error(
        cluster.chip,
        step.element,
        mixture=EXPERT_DIM in step.model.sizes,
        chips=cluster.accelerators if mapping is None else mapping.chips,
        own=None if mapping is None else _by_own_runs(known, cluster, step, mapping),
    )


def _by_own_runs(known: Calibrations, cluster: Cluster, step: TrainingStep, mapping: ParallelMapping) -> float | None:
    """What own runs leave of the very step, as a factor; None: there are none."""
    software = known.software
    if software is None or software.own_runs is None or not known.own_runs(cluster.chip, step.element):
        return None
    table = MappingTable.of([mapping])
    slopes = constant_slopes(step, cluster, table)
    return exp(float(software.own_runs().error(slopes, product_shapes(step, table))[0]))
