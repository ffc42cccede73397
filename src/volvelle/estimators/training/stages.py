"""Pipeline stages: what each holds, which is slowest, and what waiting costs.

Layers of all kinds are dealt out alike. Those of the kind repeated most are counted by stage; others (dense layers
ahead of a mixture of experts) go to the first stage, and what it cannot take counts as the common kind.
"""

from dataclasses import dataclass

import numpy as np

from volvelle.laws.pipeline import bubble_time, dual_pipe_bubble_time, zero_bubble_time
from volvelle.mapping.parallelism import MappingTable, Schedule
from volvelle.quantities import Number

__all__ = ["Around", "Slowest", "Stages"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """A quantity of one layer, of all that comes before the layers, and of all that comes after."""

    each: Number
    ahead: Number
    behind: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class Slowest:
    """What the slowest stage holds."""

    time: Number
    layers: Number
    ahead: Number
    """1 where it holds the blocks before the layers."""
    behind: Number


class Stages:
    """Layers dealt out to stages: evenly, in pieces of equal depth; what is missing to that, the ends go without."""

    def __init__(self, table: MappingTable, layers: int, lead: int = 0) -> None:
        every = float(layers + lead)
        self.table = table
        self.most = table.interleave * np.ceil(every / (table.pipeline * table.interleave))
        missing = self.most * table.pipeline - every
        self.last = self.most - np.ceil(missing / table.pipeline)
        self.first = self.most - np.floor((missing + np.maximum(table.pipeline - 2.0, 0.0)) / table.pipeline)
        self.least = self.last
        self.single = table.pipeline == 1.0
        self.ahead: Number = 0.0
        """Layers of the first stage that are not of the common kind."""
        self.layers: Number = every
        """Layers that count as the common kind."""
        if lead:
            self.ahead = np.minimum(float(lead), self.first)
            self.first = self.first - self.ahead
            self.layers = every - self.ahead

    def slowest(self, time: Around) -> Slowest:
        """The stage that all others wait for."""
        first = self.first * time.each + time.ahead
        last = self.last * time.each + time.behind
        middle = self.most * time.each
        at_last = (last >= first) & (last >= middle)
        at_first = (first >= middle) & ~at_last
        whole = first + time.behind
        return Slowest(
            time=np.where(self.single, whole, np.where(at_last, last, np.where(at_first, first, middle))),
            layers=np.where(at_last & ~self.single, self.last, np.where(at_first | self.single, self.first, self.most)),
            ahead=np.where(at_first | self.single, 1.0, 0.0),
            behind=np.where(at_last | self.single, 1.0, 0.0),
        )

    def bubble(self, time: Around, slowest: Number, *, forward: Number, backward: Number, weights: Number) -> Number:
        """Time the slowest stage waits, by schedule; `forward`, `backward`, `weights` are of one layer."""
        table = self.table
        whole = self.layers * time.each + time.ahead + time.behind
        found: Number = bubble_time(whole, slowest, interleave=table.interleave)
        if np.any(table.schedule == Schedule.ZERO_BUBBLE):
            filled = zero_bubble_time(whole, slowest, self.least * weights, stages=table.pipeline)
            found = np.where(table.schedule == Schedule.ZERO_BUBBLE, filled, found)
        if np.any(table.schedule == Schedule.DUAL_PIPE):
            share = self.layers / table.pipeline
            dual = dual_pipe_bubble_time(share * forward, share * backward, share * weights, stages=table.pipeline)
            found = np.where((table.schedule == Schedule.DUAL_PIPE) & ~self.single, dual, found)
        return found
