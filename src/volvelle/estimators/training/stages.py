"""Pipeline stages of a table of mappings: what the first, the last and those between run, which is slowest, what waits.

A stage is runs of blocks. Where all layers but some leading ones are of one kind, three stages stand for all: the
first, the last, and one of those between. Where kinds alternate, stages between differ, and each that does is looked
at.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from volvelle.laws.pipeline import bubble_time, dual_pipe_bubble_time, zero_bubble_time
from volvelle.mapping.lowered_model import LoweredModel
from volvelle.mapping.parallelism import MappingTable, Schedule
from volvelle.mapping.stages import dealt, kinds_in, middle_stages
from volvelle.quantities import Number, is_plainly

OfBlocks = Mapping[str, Number]
"""Block → a quantity of one repetition of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One stage: how often it runs each block, and its place in the pipeline."""

    number: Number
    counts: OfBlocks
    """Those it does not run are left out."""
    layers: tuple[str, ...]
    """Blocks that are its layers; the ends, and layers that only lead, are not among them."""

    def total(self, of: OfBlocks) -> Number:
        """A quantity of all it runs."""
        return _total(self.counts, of, self.counts)

    def of_layers(self, of: OfBlocks) -> Number:
        """A quantity of its layers."""
        return _total(self.counts, of, self.layers)

    def of_the_rest(self, of: OfBlocks) -> Number:
        """A quantity of what else it runs."""
        return _total(self.counts, of, [name for name in self.counts if name not in self.layers])

    @property
    def depth(self) -> Number:
        """Its layers, counted."""
        counts = [self.counts[name] for name in self.layers if name in self.counts]
        return reduce(lambda one, other: one + other, counts) if counts else 0.0


def _total(counts: OfBlocks, of: OfBlocks, names: Sequence[str] | OfBlocks) -> Number:
    found: Number = 0.0
    for name in names:
        count, value = counts.get(name, 0.0), of[name]
        if not is_plainly(count, 0.0) and not is_plainly(value, 0.0):
            found = found + (value if is_plainly(count, 1.0) else count * value)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Slowest:
    """The stage that all others wait for."""

    time: Number
    counts: OfBlocks
    depth: Number


class Stages:
    """Stages of a model under every mapping of a table."""

    def __init__(self, table: MappingTable, model: LoweredModel) -> None:
        self.table = table
        self.model = model
        self.single = table.pipeline == 1.0
        alone = np.where(self.single, 1.0, 0.0)
        before = {block.name: float(block.repeat) for block in model.before}
        after = {block.name: float(block.repeat) for block in model.after}
        behind = {name: count * alone for name, count in after.items()}
        names = tuple(block.name for block in model.layers)
        self.all_layers: OfBlocks
        """Layer → how many there are in all."""
        if model.uniform:
            (layer,) = model.layers
            sizes = dealt(float(layer.repeat + model.leading), table.pipeline, table.interleave)
            first, last, most, leading = sizes.first, sizes.last, sizes.most, dict[str, Number]()
            self.all_layers = {layer.name: float(layer.repeat)}
            if model.lead:
                ahead = np.minimum(float(model.leading), first)
                leading = {block.name: ahead * (block.repeat / model.leading) for block in model.lead}
                first = first - ahead
                # What the first stage cannot take counts as the common kind.
                self.all_layers = {layer.name: float(layer.repeat + model.leading) - ahead}
                # A stage that is first and last at once has those that lead too.
                last, most = (np.where(self.single, first, count) for count in (last, most))
            self.first = Stage(number=0.0, counts={**before, **leading, layer.name: first, **behind}, layers=names)
            self.last = Stage(number=table.pipeline - 1.0, counts={layer.name: last, **after}, layers=names)
            between = Stage(number=np.minimum(1.0, table.pipeline - 1.0), counts={layer.name: most}, layers=names)
            self.between = [between]
            self.uneven = bool(np.any(most > first))
        else:
            self.all_layers = {block.name: float(block.repeat) for block in model.layers}
            first_counts, last_counts, middles = _alternating(table, model)
            self.first = Stage(number=0.0, counts={**before, **first_counts, **behind}, layers=names)
            self.last = Stage(number=table.pipeline - 1.0, counts={**last_counts, **after}, layers=names)
            self.between = [Stage(number=number, counts=counts, layers=names) for number, counts in middles]
            self.uneven = True

    @property
    def every(self) -> list[Stage]:
        """All that may be the slowest or the fullest."""
        return [self.first, self.last, *self.between]

    def slowest(self, time: OfBlocks) -> Slowest:
        """The stage that all others wait for; of equal ones the last, then the first."""
        stages = [self.last, self.first, *self.between]
        best = stages[0].total(time)
        counts = {name: stages[0].counts.get(name, 0.0) for name in time}
        depth = stages[0].depth
        for stage in stages[1:]:
            found = stage.total(time)
            slower = found > best
            best = np.where(slower, found, best)
            counts = {name: np.where(slower, stage.counts.get(name, 0.0), count) for name, count in counts.items()}
            depth = np.where(slower, stage.depth, depth)
        return Slowest(time=best, counts=counts, depth=depth)

    def most(self, of: OfBlocks, *, at_last: Number = 0.0) -> Number:
        """The most any stage has of a quantity; `at_last` comes on top where the last is another than the first."""
        found = self.first.total(of)
        last = np.where(self.single, found, self.last.total(of) + at_last)
        for other in (last, *(stage.total(of) for stage in self.between)):
            found = np.maximum(found, other)
        return found

    def bubble(
        self, time: OfBlocks, slowest: Number, *, forward: OfBlocks, backward: OfBlocks, weights: OfBlocks
    ) -> Number:
        """Time the slowest stage waits, by schedule."""
        table, model = self.table, self.model
        # Everything once: what the first and last stage run beside their layers, and all layers.
        ends = _total({block.name: float(block.repeat) for block in model.after}, time, [b.name for b in model.after])
        rest = self.first.of_the_rest({**time, **{block.name: 0.0 for block in model.after}})
        whole = _total(self.all_layers, time, self.all_layers) + rest + ends
        found: Number = bubble_time(whole, slowest, interleave=table.interleave)
        if np.any(table.schedule == Schedule.ZERO_BUBBLE):
            of_weights = self.last.of_layers(weights)
            filled = zero_bubble_time(
                whole,
                slowest,
                forward=self.last.of_layers(forward),
                input_gradients=self.last.of_layers(backward) - of_weights,
                weight_gradients=of_weights,
                stages=table.pipeline,
            )
            found = np.where(table.schedule == Schedule.ZERO_BUBBLE, filled, found)
        if np.any(table.schedule == Schedule.DUAL_PIPE):
            share = {name: count / table.pipeline for name, count in self.all_layers.items()}
            dual = dual_pipe_bubble_time(
                *(_total(share, of, share) for of in (forward, backward, weights)), stages=table.pipeline
            )
            found = np.where((table.schedule == Schedule.DUAL_PIPE) & ~self.single, dual, found)
        return found


def _alternating(table: MappingTable, model: LoweredModel) -> tuple[OfBlocks, OfBlocks, list[tuple[Number, OfBlocks]]]:
    """Layers of the first stage, the last, and every other that differs, as columns looked up by (stages, pieces)."""
    names = [block.name for block in model.layers]
    order = tuple(names.index(name) for name in model.order)
    pieces = 1 << 20
    codes, rows = np.unique(
        np.asarray(table.pipeline, dtype=np.int64) * pieces + np.asarray(table.interleave, dtype=np.int64),
        return_inverse=True,
    )
    firsts, lasts = list[tuple[int, ...]](), list[tuple[int, ...]]()
    middles: list[tuple[tuple[int, tuple[int, ...]], ...]] = []
    for code in codes:
        pipeline, interleave = divmod(int(code), pieces)
        sizes = dealt(float(len(order)), float(pipeline), float(interleave))
        firsts.append(kinds_in(order, 0, int(sizes.first)))
        lasts.append(kinds_in(order, len(order) - int(sizes.last), len(order)))
        middles.append(middle_stages(order, pipeline, interleave))

    def columns(counts: Sequence[tuple[int, ...]]) -> OfBlocks:
        filled = [one or (0,) * len(names) for one in counts]
        found: NDArray[np.float64] = np.array(filled, dtype=np.float64)[rows]
        return {name: found[:, place] for place, name in enumerate(names)}

    most = max(map(len, middles))
    padded = [(*some, *([some[-1]] * (most - len(some)))) for some in middles]
    between: list[tuple[Number, OfBlocks]] = [
        (
            np.array([float(some[place][0]) for some in padded])[rows],
            columns([some[place][1] for some in padded]),
        )
        for place in range(most)
    ]
    return columns(firsts), columns(lasts), between
