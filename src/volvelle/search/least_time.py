"""A bound from below on the time of layouts, from what they multiply alone: what cannot win need not be priced."""

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.rates import SustainedRates
from volvelle.mapping.lowered_model import step_flops
from volvelle.mapping.parallelism import MappingTable, Recompute, Schedule
from volvelle.system.cluster import Cluster
from volvelle.workload.families.attention import ATTENTION_CORE
from volvelle.workload.operations import Phase, Unit
from volvelle.workload.training import TrainingStep


def product_seconds(step: TrainingStep, cluster: Cluster) -> float:
    """Chip-seconds of all products of a step, at the rate that a chip sustains in them."""
    machine = SustainedRates.of(cluster, step.element).at_best()
    rate = float(np.max(machine.matrix_rate)) * max(1.0, float(np.max(machine.attention_efficiency)))
    return float(step_flops(step)) / rate


def kernel_seconds(step: TrainingStep, cluster: Cluster) -> float:
    """Return the accelerator-seconds of a step's matrix products and attention at the rates that kernels sustain.

    Communication, memory traffic and recomputation are left out, so a run never takes less.
    """
    machine = SustainedRates.of(cluster, step.element).at_best()
    rate = float(np.max(machine.matrix_rate))
    attention = attention_flops(step)
    return (step_flops(step) - attention) / rate + attention / (rate * float(np.max(machine.attention_efficiency)))


def attention_flops(step: TrainingStep) -> float:
    """Return the FLOP of scores and weighted values, forward and backward, without savings by a causal mask."""
    whole = step.whole
    sizes = (whole.with_sizes(batch=1) if "batch" in whole.sizes else whole).sizes
    works = (
        (block.repeat, op.kind.work())
        for block in whole.blocks
        for op in block.operations
        if op.region == ATTENTION_CORE and op.phase in (Phase.FORWARD, Phase.BACKWARD)
    )
    return step.batch * sum(repeat * work.flops(sizes) for repeat, work in works if work.unit is Unit.MATRIX)


def least_times(table: MappingTable, step: TrainingStep, cluster: Cluster) -> NDArray[np.float64]:
    """Seconds that no layout can go below: its products at full rate, those computed again, and the pipeline's filling.

    With p stages, m micro-batches and v pieces a stage, one forward, one backward takes m times the slowest stage and
    a v-th of the others once: at least 1 + (p - 1) / (m v) times the mean. A zero-bubble schedule waits for the first
    forward; others fill as little as they like.
    """
    model = step.model.with_sizes(batch=1) if "batch" in step.model.sizes else step.model
    layers = sum(block.repeat * block.flops(model.sizes) for block in model.blocks if block.is_layer)
    forward = step.batch * layers / max(step_flops(step), 1.0)
    again = np.where(table.recompute == Recompute.FULL, forward, 0.0)
    micro_batches = step.batch / (table.data * table.micro_batch)
    filling = (table.pipeline - 1.0) / micro_batches
    shares = [table.schedule == Schedule.ONE_FORWARD_ONE_BACKWARD, table.schedule == Schedule.ZERO_BUBBLE]
    filling = filling * np.select(shares, [1.0 / table.interleave, forward], 0.0)
    return np.asarray(product_seconds(step, cluster) / cluster.accelerators * (1.0 + again) * (1.0 + filling))
