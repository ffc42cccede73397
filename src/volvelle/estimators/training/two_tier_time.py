"""The price of a step on a machine whose memory has two tiers: what is held decides how fast it is read."""

from collections.abc import Sequence

import numpy as np

from volvelle.estimators.rates import Machine
from volvelle.estimators.training.step_time import Price, price
from volvelle.mapping.lowering import BlockPlan
from volvelle.mapping.parallelism import MappingTable
from volvelle.quantities import is_plainly
from volvelle.workload.training import TrainingStep

__all__ = ["filled_price"]


def filled_price(
    plans: Sequence[BlockPlan],
    workload: TrainingStep,
    machine: Machine,
    table: MappingTable,
    *,
    breakdown: bool = False,
) -> Price:
    """Price rows with local memory, and again where a second tier holds part: how much is known only then."""
    found = price(plans, workload, machine, table, breakdown=breakdown)
    if is_plainly(machine.expansion, 0.0) or not np.any(found.memory_bytes > machine.capacity):
        return found
    return price(plans, workload, machine.filled(found.memory_bytes), table, breakdown=breakdown)
