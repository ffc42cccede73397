"""What is whole on a chip for a while where replicas share weights out: units gathered, gradients on their way."""

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Protocol

import numpy as np

from volvelle.estimators.training.replicas import Replicas
from volvelle.estimators.training.stages import OfBlocks, Stage, Stages
from volvelle.laws.footprint import gathered_bytes, scattered_bytes
from volvelle.mapping.parallelism import MappingTable
from volvelle.quantities import Bytes, Number
from volvelle.workload.elements import element_bytes
from volvelle.workload.training import Counting, TrainingStep


class SharedOut(Protocol):
    """Parameters of one kind that replicas may share out."""

    each: OfBlocks
    """Trainable ones."""
    read: OfBlocks
    """With those of another block that it reads too."""
    replicas: Replicas


class Gathered:
    """What is whole with ZeRO-3 while a block is at work: weights of two, and gradients of the one that ran before.

    Not those that training leaves as they are: with them a published run by QLoRA of 405 billion parameters would be
    17 % above what it allocated, without them it is within a tenth.
    """

    def __init__(
        self,
        stages: Stages,
        kinds: Iterable[SharedOut],
        workload: TrainingStep,
        table: MappingTable,
        *,
        gradient: Bytes,
    ) -> None:
        self.ahead = {block.name for block in stages.model.before}
        self.after = {block.name for block in stages.model.after}
        self.weights: dict[str, Number] = {}
        """Block → bytes of its weights as they are gathered."""
        self.gradients: dict[str, Number] = {}
        """Block → bytes of its gradients as they are reduced."""
        each = element_bytes(workload.weight_element)
        for kind in kinds:
            shared = (table.zero >= 3) & (kind.replicas.sharing > 1.0)
            for name, count in kind.each.items():
                weights = np.where(shared, kind.read[name] * each, 0.0)
                gradients = np.where(shared, scattered_bytes(count, each=gradient), 0.0)
                self.weights[name] = self.weights.get(name, 0.0) + weights
                self.gradients[name] = self.gradients.get(name, 0.0) + gradients

    @staticmethod
    def where(
        stages: Stages, kinds: Iterable[SharedOut], workload: TrainingStep, table: MappingTable, *, gradient: Bytes
    ) -> "Gathered | None":
        """Where some row shares out weights, of so many bytes a gradient; None: none does, or it is not counted."""
        counted = workload.counting is Counting.DERIVED and bool(np.any(table.zero >= 3))
        return Gathered(stages, kinds, workload, table, gradient=gradient) if counted else None

    def beside(self, again: Number, stage: Stage, of_working: OfBlocks) -> tuple[Number, Number, Number]:
        """Bytes at the fullest moment: of activations at work (`again` in a layer), weights and gradients."""
        there = [name for name in stage.counts if name not in self.ahead]
        layers = [name for name in there if name not in self.after]
        layer, summed = (self._most(stage, of, layers) for of in (self.weights, self.gradients))
        weights = gathered_bytes(layer, ahead=layer)
        # The layer that runs backward first does so while gradients of what comes after all layers are shared out.
        behind = self._most(stage, self.gradients, there)
        for name in stage.counts:
            if name not in layers:
                # What comes after all layers runs backward first, and a layer next; what comes ahead of them, last.
                first = name in self.after
                own = gathered_bytes(self.weights[name], ahead=layer if first else 0.0)
                shared = 0.0 if first else summed
                more = (stage.counts[name] > 0.0) & (of_working[name] + own + shared > again + weights + behind)
                again, weights = np.where(more, of_working[name], again), np.where(more, own, weights)
                behind = np.where(more, shared, behind)
        return again, weights, behind

    @staticmethod
    def _most(stage: Stage, of: OfBlocks, names: Sequence[str]) -> Number:
        """Of the blocks that a stage runs, that of the one with most."""
        sizes: list[Number] = [np.where(stage.counts[name] > 0.0, of[name], 0.0) for name in names]
        return reduce(np.maximum, sizes) if sizes else 0.0
