"""What software copies of weights and gradients beside what it computes and exchanges."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from volvelle.estimators.calibration import LIST_TIMES, MOVED_BYTES
from volvelle.estimators.rates import SustainedRates
from volvelle.estimators.training.lines import ADDED, COPIES, LISTED, Line
from volvelle.estimators.training.replicas import ReplicaSizes, replica_sizes
from volvelle.estimators.training.stage_memory import Held
from volvelle.estimators.training.stages import Stages
from volvelle.laws.copies import added_gradients_time, listed_parts_time, unit_copies_time
from volvelle.mapping.parallelism import MappingTable, Recompute
from volvelle.quantities import Count, Number, Seconds, is_plainly
from volvelle.workload.elements import element_bytes
from volvelle.workload.training import Counting, TrainingStep

_NARROW = 2.0
"""Bytes of gradients in 16 bits, of which constants are stated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassTimes:
    """Seconds of one micro-batch, and once a step."""

    forward: Seconds = 0.0
    """For weights of a forward pass."""
    backward: Seconds = 0.0
    """For weights of a backward pass, and for gradients that are reduced after it."""
    once: Seconds = 0.0
    """For what is exchanged at the end of a step alone."""

    def __add__(self, other: "PassTimes") -> "PassTimes":
        return PassTimes(
            forward=self.forward + other.forward, backward=self.backward + other.backward, once=self.once + other.once
        )

    def part(self, share: float) -> "PassTimes":
        """Of a part of the weights."""
        return PassTimes(forward=self.forward * share, backward=self.backward * share, once=self.once * share)

    def of_step(self, turns: Number) -> Seconds:
        """Of so many micro-batches, and once."""
        return turns * (self.forward + self.backward) + self.once


@dataclass(frozen=True, slots=True, kw_only=True)
class Copies:
    """What copying takes of a stage."""

    units: PassTimes = PassTimes()
    """Weights out of what was gathered, gradients into what is reduced: bound by memory."""
    lists: PassTimes = PassTimes()
    """Parts of tensors that are exchanged through lists: the host starts one after the other."""
    added: Seconds = 0.0
    """Gradients added to those in 32 bits after a backward pass."""

    def __add__(self, other: "Copies") -> "Copies":
        return Copies(units=self.units + other.units, lists=self.lists + other.lists, added=self.added + other.added)

    def lines(self, turns: Number) -> dict[Line, Number]:
        """What they take of a step, of so many micro-batches that a stage runs or waits for."""
        found: dict[Line, Number] = {COPIES: self.units.of_step(turns)}
        if not is_plainly(self.lists.forward, 0.0):
            found[LISTED] = self.lists.of_step(turns)
        return found if is_plainly(self.added, 0.0) else found | {ADDED: turns * self.added}

    def part(self, share: float) -> "Copies":
        """Of a part of the weights."""
        return Copies(units=self.units.part(share), lists=self.lists.part(share), added=self.added * share)


def copies_anything(machine: SustainedRates, workload: TrainingStep) -> bool:
    """Whether software is known to; COMET counts nothing of it."""
    moved = not all(is_plainly(getattr(machine, name), 0.0) for name in (*MOVED_BYTES, *LIST_TIMES))
    return moved and workload.counting is not Counting.COMET


def copies_of_stage(
    stages: Stages, kinds: Sequence[Held], workload: TrainingStep, table: MappingTable, machine: SustainedRates
) -> Copies | None:
    """Of the stage that holds most, of all kinds of weights; None: nothing is copied."""
    if not copies_anything(machine, workload):
        return None
    found = Copies()
    if kinds:
        layers = stages.most(layers_in(workload))
        found = Copies(lists=listed_parts(layers, kinds[0].replicas.sharing, table, machine))
    for kind in kinds:
        gathered = kind.most_bytes(stages, element_bytes(workload.weight_element))
        sizes = replica_sizes(kind.most, workload, table, gathered_bytes=gathered)
        again = regathers(machine, table) * kind.layers_share(stages)
        found = found + copies_of(sizes, kind.most, kind.replicas.sharing, workload, table, machine, again=again)
    return found


def layers_in(workload: TrainingStep) -> dict[str, float]:
    """Block → 1 where it is a layer."""
    return {block.name: float(block.is_layer) for block in workload.model.blocks}


def regathers(machine: SustainedRates, table: MappingTable) -> Number:
    """Times that weights are gathered to compute a layer again, beside its backward pass.

    Software that exchanges through lists keeps nothing of what it gathered for that; others gather once for both.
    """
    if is_plainly(machine.list_gather_time, 0.0):
        return 0.0
    return np.where((table.recompute == Recompute.FULL) & (machine.list_gather_time > 0.0), 1.0, 0.0)


def runs_behind(machine: SustainedRates, table: MappingTable) -> Number:
    """Whether what replicas exchange runs behind computation: where it may, and no list of ZeRO-3 halts the device."""
    if is_plainly(machine.list_gather_time, 0.0):
        return table.overlap
    return np.where((table.zero >= 3.0) & (machine.list_gather_time > 0.0), 0.0, table.overlap)


def listed_parts(layers: Number, sharing: Count, table: MappingTable, machine: SustainedRates) -> PassTimes:
    """Of as many layers, whose tensors software exchanges through lists with ZeRO-3."""
    if all(is_plainly(getattr(machine, name), 0.0) for name in LIST_TIMES):
        return PassTimes()

    def listed(times: Number, each: Seconds) -> Seconds:
        return listed_parts_time(
            layers, sharing, times=np.where((table.zero >= 3.0) & (sharing > 1.0), times, 0.0), each=each
        )

    again = 1.0 + regathers(machine, table)
    return PassTimes(
        forward=listed(1.0, machine.list_gather_time),
        backward=listed(again, machine.list_gather_time) + listed(1.0, machine.list_reduce_time),
        once=listed(1.0, machine.list_restore_time),
    )


def copies_of(
    sizes: ReplicaSizes,
    parameters: Number,
    sharing: Count,
    workload: TrainingStep,
    table: MappingTable,
    machine: SustainedRates,
    *,
    again: Number,
) -> Copies:
    """Of one kind of weights, of which `sharing` replicas hold a part each, and gather a part `again` to compute it so.

    Optimiser states and weights that are shared out by ZeRO-1 are gathered and reduced once a step, with ZeRO-2
    gradients in every micro-batch, with ZeRO-3 weights before every pass too. Who adds gradients up in 32 bits
    otherwise than by products does so where they are not shared out, on the chip, and not with fp16.
    """
    weight, gradient = element_bytes(workload.weight_element), element_bytes(workload.gradient_element)
    wide = gradient > weight
    shared = sharing > 1.0
    reduced = machine.wide_reduce_copy_bytes if wide else machine.reduce_copy_bytes * gradient / _NARROW

    def unit(gathers: Number, reductions: Number) -> Seconds:
        return unit_copies_time(
            sizes.weights,
            parameters,
            gathers=np.where(shared, gathers, 0.0),
            gathered=machine.gather_copy_bytes,
            reductions=np.where(shared, reductions, 0.0),
            reduced=reduced,
            memory_rate=machine.memory_rate,
        )

    weights, gradients = np.where(table.zero >= 3.0, 1.0, 0.0), np.where(table.zero >= 2.0, 1.0, 0.0)
    units = PassTimes(
        forward=unit(weights, 0.0),
        backward=unit(weights * (1.0 + again), gradients),
        once=unit(np.where((table.zero >= 1.0) & (table.zero < 3.0), 1.0, 0.0), np.where(table.zero == 1.0, 1.0, 0.0)),
    )
    if not wide or workload.element == "fp16" or is_plainly(machine.gradient_add_bytes, 0.0):
        return Copies(units=units)
    passes = np.where(table.zero >= 2.0, 0.0, 1.0 - table.offload_optimiser)
    added = added_gradients_time(
        parameters, passes=passes, moved=machine.gradient_add_bytes, memory_rate=machine.memory_rate
    )
    return Copies(units=units, added=added)
