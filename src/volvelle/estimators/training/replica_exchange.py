"""What replicas exchange in a step, and what of it the step waits for.

Gradients leave layer by layer while the backward pass runs, those of the embedding last. Weights that ZeRO-1 and 2
share out are gathered when the optimiser is done; with ZeRO-3 before every pass over a layer, one layer ahead.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from volvelle.estimators.kernels import total
from volvelle.estimators.rates import SustainedRates
from volvelle.estimators.training.blocks import Blocks
from volvelle.estimators.training.copies import regathers, runs_behind
from volvelle.estimators.training.replicas import replica_sizes
from volvelle.estimators.training.stage_memory import Held
from volvelle.estimators.training.stages import OfBlocks, Stages
from volvelle.laws.overlap import overlap_slowdown_time, trailing_exchange_time
from volvelle.mapping.parallelism import MappingTable, Schedule
from volvelle.quantities import Count, Fraction, Number, Seconds, is_plainly
from volvelle.workload.elements import element_bytes
from volvelle.workload.training import TrainingStep


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaExchange:
    """Seconds of a step."""

    exchanged: Seconds
    exposed: Seconds
    """Of these, what nothing hides."""
    beside: Seconds
    """Of the rest, what runs beside kernels, which it slows down."""
    stepped: Count
    """Parameters that the optimiser steps on a chip."""


class _FirstStage:
    """What the first stage runs behind its ends, which is what its gradients hide behind: it is the last to be done."""

    def __init__(self, stages: Stages, blocks: Blocks, table: MappingTable, share: Fraction) -> None:
        counts = stages.first.counts
        ends = {block.name for block in (*stages.model.before, *stages.model.after)}
        self.counts = counts
        self.inner = {name: count for name, count in counts.items() if name not in ends}
        self.begin = {name: counts[name] for name in (block.name for block in stages.model.before)}
        self.layers: Number = total(self.inner.values())
        self.forward = self.of(blocks.of(lambda block: block.forward))
        self.backward = self.of(blocks.of(lambda block: block.backward))
        self.last_work: Number = self.backward
        """What the last gradients hide behind: slower, as communication takes units meanwhile."""
        if np.any(table.schedule == Schedule.ZERO_BUBBLE):
            weights = self.of(blocks.of(lambda block: block.weight_gradients))
            self.last_work = np.where(table.schedule == Schedule.ZERO_BUBBLE, weights, self.backward)
        self.kernels = self.of(blocks.of(lambda block: block.backward_work - block.repeated_hidden))
        if not is_plainly(share, 0.0):
            self.last_work = self.last_work + overlap_slowdown_time(self.kernels, share=share)

    def of(self, each: OfBlocks) -> Number:
        """A quantity of all but the ends."""
        return total(count * each[name] for name, count in self.inner.items())

    def ends_share(self, each: OfBlocks) -> Number:
        """Of a quantity, what is the embedding's."""
        begin = total(count * each[name] for name, count in self.begin.items())
        whole = total(count * each[name] for name, count in self.counts.items())
        return begin / np.maximum(whole, np.finfo(float).tiny)


def replica_exchange(
    stages: Stages,
    kinds: Sequence[Held],
    workload: TrainingStep,
    table: MappingTable,
    micro_batches: Number,
    blocks: Blocks,
    machine: SustainedRates,
) -> ReplicaExchange:
    """Of all kinds of weights together."""
    if not kinds:
        return ReplicaExchange(exchanged=0.0, exposed=0.0, beside=0.0, stepped=0.0)
    first = _FirstStage(stages, blocks, table, machine.communication_sm_share)
    repeated = regathers(machine, table)
    stepped: Number = 0.0
    exchanged: Number = 0.0
    leaving: Number = 0.0
    leaving_last: Number = 0.0
    gathered: Number = 0.0
    gathered_last: Number = 0.0
    again: Number = 0.0
    again_last: Number = 0.0
    for kind in kinds:
        gathered_bytes = kind.most_bytes(stages, element_bytes(workload.weight_element))
        times = kind.replicas.times(replica_sizes(kind.most, workload, table, gathered_bytes=gathered_bytes), table)
        share = first.ends_share(kind.each)
        once = times.summed + times.scattered
        leaving, leaving_last = leaving + once * (1.0 - share), leaving_last + once * share
        gathered, gathered_last = gathered + times.gathered * (1.0 - share), gathered_last + times.gathered * share
        of_layers = times.gathered_again * repeated * kind.layers_share(stages)
        again = again + times.gathered_again * (1.0 - share) + of_layers
        again_last = again_last + times.gathered_again * share
        often = np.where(table.zero >= 2.0, micro_batches, 1.0)
        passes = micro_batches * (times.gathered + times.gathered_again + of_layers)
        gathers = np.where(table.zero >= 3.0, passes, times.gathered)
        exchanged = exchanged + times.summed + often * times.scattered + gathers
        stepped = stepped + kind.most / np.where(table.zero >= 1.0, kind.replicas.sharing, 1.0)
    exposed: Number = trailing_exchange_time(
        leaving,
        first.last_work,
        layers=first.layers,
        pieces=table.interleave,
        stages=table.pipeline,
        last=leaving_last,
    )
    if np.any(table.zero >= 1.0):
        after: Number = gathered + gathered_last
        if np.any(table.zero >= 2.0):
            behind = (micro_batches - 1.0) * np.maximum(leaving + leaving_last - first.forward - first.backward, 0.0)
            exposed = exposed + np.where(table.zero == 2.0, behind, 0.0)
            ahead = (
                np.maximum(gathered - first.forward, 0.0)
                + np.maximum(again + leaving - first.backward, 0.0)
                + gathered_last
                + again_last
            )
            after = np.where(table.zero >= 3.0, micro_batches * ahead, after)
        exposed = exposed + after
    exposed = np.where(runs_behind(machine, table) > 0, np.minimum(exposed, exchanged), exchanged)
    turns = np.where(table.zero >= 2.0, micro_batches, 1.0)
    return ReplicaExchange(
        exchanged=exchanged,
        exposed=exposed,
        beside=np.minimum(exchanged - exposed, turns * first.kernels),
        stepped=stepped,
    )
