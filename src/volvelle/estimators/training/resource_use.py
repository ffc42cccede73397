"""How much of its memory and of every network level a training step puts to use."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from volvelle.estimators.rates import NetworkLevel, SustainedRates
from volvelle.estimators.training.layer_phases import LayerPhase
from volvelle.estimators.training.lines import ADDED, COPIES, HAND_OVER
from volvelle.estimators.training.step_time import StepBasis, StepTime
from volvelle.estimators.training.two_tier_time import two_tier_time
from volvelle.laws.utilisation import transfer_utilisation
from volvelle.mapping.axes import CUTTING, DATA
from volvelle.mapping.lowered_model import lowered_model
from volvelle.mapping.parallelism import MappingTable, ParallelMapping
from volvelle.quantities import Number
from volvelle.system.cluster import Cluster
from volvelle.system.topologies import Switch
from volvelle.workload.training import TrainingStep

MEMORY = "memory"
_EXCHANGES = frozenset(axis.communication for axis in (*CUTTING, DATA))


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceUse:
    """What one chip of the slowest stage moves in a step."""

    name: str
    """Memory, or a level of the network."""
    bytes: float
    rate: float
    """As rated, of a link in one direction."""
    utilisation: float


def resource_use(
    workload: TrainingStep, system: Cluster, mapping: ParallelMapping, rows: Sequence[LayerPhase], time: float
) -> tuple[ResourceUse, ...]:
    """Use of the memory, then of every level of the network, innermost first; of a step that takes so long."""
    machine = SustainedRates.of(system, workload.element)
    table, model = MappingTable.of([mapping]), lowered_model(workload, mapping.structure)

    def timed(on: SustainedRates) -> tuple[StepTime, StepBasis]:
        found = two_tier_time(model, workload, on, table, breakdown=True)
        assert found.basis is not None, "a breakdown was asked for"
        return found, found.basis

    found, basis = timed(machine)
    # Of copies what the chip makes itself, and not what it waits for while others make theirs.
    copied = sum(_one(found.times.get(line, 0.0)) for line in (COPIES, ADDED))
    copied *= _one(basis.micro_batches) / _one(basis.turns)
    moved = sum(row.runs * row.bytes for row in rows) + _one(basis.optimiser_traffic)
    moved += copied * _one(basis.machine.memory_rate)
    held = machine.filled(found.memory_bytes).memory_rate if _one(machine.expansion) else machine.memory_rate
    rated = _one(held) / _one(machine.memory_rate) * _one(system.chip.memory.rate)
    uses = [_use(MEMORY, moved, rated, time)]
    for place, dimension in enumerate(system.dimensions):
        if dimension.size > 1:
            sent = _sent(*timed(_only(machine, place)), mapping)
            uses.append(_use(dimension.name, sent, _one(dimension.link.rate), time))
    return tuple(uses)


def _use(name: str, moved: float, rate: float, time: float) -> ResourceUse:
    used = float(transfer_utilisation(moved, time, rate=rate))
    return ResourceUse(name=name, bytes=moved, rate=rate, utilisation=used)


def _only(machine: SustainedRates, place: int) -> SustainedRates:
    """A machine on which a collective takes as many seconds as one chip sends bytes at one level of the network."""

    def bare(level: NetworkLevel, rate: float) -> NetworkLevel:
        level = replace(level, latency=0.0, setup=0.0, fill=0.0, contention=0.0, unhidden=0.0)
        return replace(level, topology=Switch(), rate=rate, reduction_efficiency=1.0)

    levels = tuple(bare(level, 1.0 if index == place else inf) for index, level in enumerate(machine.levels))
    return replace(machine, levels=levels, plain_dispatch=1.0, hand_over_exposure=1.0)


def _sent(found: StepTime, basis: StepBasis, mapping: ParallelMapping) -> float:
    """Bytes of all collectives, hidden or not, and of what a stage hands on; what it waits for at first is not sent."""
    sent = sum(_one(time) for line, time in found.times.items() if line.part in _EXCHANGES)
    chunks = _one(basis.micro_batches) * mapping.interleave
    return sent + _one(found.times[HAND_OVER]) * chunks / (chunks + mapping.pipeline - 1.0)


def _one(value: Number) -> float:
    return float(np.max(value))
