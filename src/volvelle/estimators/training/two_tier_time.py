"""The time of a step on a machine whose memory has two tiers: what is held decides how fast it is read."""

import numpy as np

from volvelle.estimators.rates import SustainedRates
from volvelle.estimators.training.blocks import Blocks
from volvelle.estimators.training.step_time import StepTime, step_time
from volvelle.mapping.lowered_model import LoweredModel
from volvelle.mapping.parallelism import MappingTable
from volvelle.quantities import is_plainly
from volvelle.workload.training import TrainingStep


def two_tier_time(
    model: LoweredModel,
    workload: TrainingStep,
    machine: SustainedRates,
    table: MappingTable,
    *,
    breakdown: bool = False,
    blocks: Blocks | None = None,
) -> StepTime:
    """Time of rows with local memory, and again where a second tier holds part: how much is known only then."""
    machine = machine.shaped(workload, table)
    found = step_time(model, workload, machine, table, breakdown=breakdown, blocks=blocks)
    if is_plainly(machine.expansion, 0.0) or not np.any(found.memory_bytes > machine.capacity):
        return found
    return step_time(model, workload, machine.filled(found.memory_bytes), table, breakdown=breakdown)
