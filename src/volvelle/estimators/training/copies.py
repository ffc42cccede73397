"""What software copies of weights and gradients beside what it computes and exchanges."""

from collections.abc import Sequence

import numpy as np

from volvelle.estimators.calibration import MOVED_BYTES
from volvelle.estimators.rates import SustainedRates
from volvelle.estimators.training.replicas import ReplicaSizes, replica_sizes
from volvelle.estimators.training.stage_memory import Held
from volvelle.estimators.training.stages import Stages
from volvelle.laws.copies import added_gradients_time, unit_copies_time
from volvelle.mapping.parallelism import MappingTable
from volvelle.quantities import Count, Number, Seconds, is_plainly
from volvelle.workload.elements import element_bytes
from volvelle.workload.training import TrainingStep


def copies_anything(machine: SustainedRates) -> bool:
    """Whether software is known to."""
    return not all(is_plainly(getattr(machine, name), 0.0) for name in MOVED_BYTES)


def copied_time(
    stages: Stages,
    kinds: Sequence[Held],
    workload: TrainingStep,
    table: MappingTable,
    machine: SustainedRates,
    *,
    turns: Number,
) -> Seconds:
    """Of the stage that holds most, of all kinds of weights, in so many micro-batches."""
    found: Number = 0.0
    for kind in kinds:
        gathered = kind.most_bytes(stages, element_bytes(workload.weight_element))
        sizes = replica_sizes(kind.most, workload, table, gathered_bytes=gathered)
        found = found + copies_of(sizes, kind.most, kind.replicas.sharing, workload, table, machine, turns=turns)
    return found


def copies_of(
    sizes: ReplicaSizes,
    parameters: Number,
    sharing: Count,
    workload: TrainingStep,
    table: MappingTable,
    machine: SustainedRates,
    *,
    turns: Number,
) -> Seconds:
    """Of one kind of weights, of which `sharing` replicas hold a part each."""
    wide = element_bytes(workload.gradient_element) > element_bytes(workload.weight_element)
    shared = np.where(sharing > 1.0, turns, 0.0)
    exchanged = unit_copies_time(
        sizes.weights,
        parameters,
        gathers=np.where(table.zero >= 3.0, 2.0 * shared, 0.0),
        gathered=machine.gather_copy_bytes,
        reductions=np.where(table.zero >= 2.0, shared, 0.0),
        reduced=machine.wide_reduce_copy_bytes if wide else machine.reduce_copy_bytes,
        memory_rate=machine.memory_rate,
    )
    if not wide or is_plainly(machine.gradient_add_bytes, 0.0):
        return exchanged
    passes = np.where(table.zero >= 2.0, 0.0, turns)
    added = added_gradients_time(
        parameters, passes=passes, moved=machine.gradient_add_bytes, memory_rate=machine.memory_rate
    )
    return exchanged + added
