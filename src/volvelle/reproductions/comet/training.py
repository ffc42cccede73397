"""Time and memory of training as COMET counts them: roofline, tiled traffic, nested rings, ZeRO, two tiers of memory.

Every argument may be an array, so that a sweep is one call. What the paper leaves open is a :class:`Reading`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from volvelle.catalogue.published.comet import CometCluster, CometModel
from volvelle.laws.footprint import activation_bytes, gradient_bytes, optimiser_bytes, weight_bytes
from volvelle.laws.hybrid_memory import hybrid_memory_rate
from volvelle.laws.nested_collectives import Tier, nested_all_reduce_time
from volvelle.laws.overlap import hidden_time
from volvelle.laws.roofline import kernel_time
from volvelle.laws.traffic import tiled_traffic
from volvelle.quantities import Bytes, BytesPerSecond, Count, Number, Seconds
from volvelle.reproductions.comet.layers import (
    HALF,
    SINGLE,
    Product,
    layer_gradients,
    layer_products,
    layer_steps,
    parameters,
)

PHASES = ("forward", "input gradient", "weight gradient")
_MASTER = 3.0 * SINGLE
"""Bytes a parameter of what the optimiser keeps: weights, momentum and variance in full precision."""
_STORED = 4.0 * SINGLE
"""Bytes a parameter that the weight-gradient pass stores (Table 1)."""
_BLOCKING = 2.0
"""All-reduces of a layer in the forward pass, and as many in the input-gradient pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How to take what the paper leaves open."""

    name: str
    cited_width: bool = False
    """The width of the model that the paper cites, instead of that in the workload files of its laboratory."""
    apart: float = 0.15
    """Share of the shorter dimensions' transfers that a hierarchical collective does not hide: 0 none, 1 all."""
    weight_gradient_by_letter: bool = False
    """Table 1 to the letter: operands in full precision, states loaded once, and 4·M·N stored, though states have K·N.
    Ours streams activations in half precision past weights and both states, and stores 4·K·N."""
    whole_batch_attention: bool = False
    """Table 2 to the letter."""
    forward_again: bool = False
    """Whether the input-gradient pass is charged for the forward pass it repeats, with its communication."""


OURS = Reading(name="ours")
LITERAL = Reading(
    name="tables to the letter, dimensions one after another",
    cited_width=True,
    apart=1.0,
    weight_gradient_by_letter=True,
    whole_batch_attention=True,
    forward_again=True,
)
READINGS = (
    OURS,
    replace(OURS, name="width of the cited model (25600)", cited_width=True),
    replace(OURS, name="width 25600, dimensions entirely at once", cited_width=True, apart=0.0),
    replace(OURS, name="width 25600, forward pass charged again", cited_width=True, forward_again=True),
    LITERAL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A cluster with what a sweep turns: factors on rates, and a second tier of memory."""

    cluster: CometCluster
    compute: Number = 1.0
    rates: tuple[Number, ...] = ()
    """A factor for each network dimension, innermost first; empty: 1."""
    expanded_rate: BytesPerSecond | None = None
    """Of memory beyond the node's own; None: as fast as its own."""

    def memory_rate(self, needed: Bytes) -> BytesPerSecond:
        """Rate at which a footprint is read."""
        own = self.cluster.memory_rate
        local = np.minimum(needed, self.cluster.memory_capacity)
        beyond = own if self.expanded_rate is None else self.expanded_rate
        return hybrid_memory_rate(local, needed - local, local_rate=own, expanded_rate=beyond)

    def tiers(self, inner: Count, group: Count) -> tuple[Tier, ...]:
        """Network of a group of nodes beside `inner` others that are nearer to each other."""
        factors = self.rates or (1.0,) * len(self.cluster.dimensions)
        found, before = [], np.asarray(1.0)
        for dimension, factor in zip(self.cluster.dimensions, factors, strict=True):
            taken = np.clip(inner / before, 1.0, dimension.size)
            reached = np.clip(inner * group / before, 1.0, dimension.size)
            found.append(Tier(chips=reached / taken, rate=dimension.rate * factor, latency=0.0, steps=0.0))
            before = before * dimension.size
        return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """Seconds of one iteration by phase, and bytes of a node; arrays where a sweep was asked for."""

    compute: Mapping[str, Seconds]
    communication: Mapping[str, Seconds]
    exposed: Mapping[str, Seconds]
    footprint: Bytes
    samples: Count
    """Sequences of one iteration, over all data-parallel units."""

    @property
    def time(self) -> NDArray[np.float64]:
        """Seconds of an iteration."""
        parts = [*self.compute.values(), *self.exposed.values()]
        return np.asarray(sum(np.asarray(part, dtype=float) for part in parts))

    @property
    def per_sample(self) -> NDArray[np.float64]:
        """Seconds for every sequence: what the paper's run times are relative to, since its batch grows with DP."""
        return np.asarray(self.time / np.asarray(self.samples, dtype=float))

    def part(self, name: str, phase: str) -> NDArray[np.float64]:
        """Seconds a sequence of ``compute`` or ``exposed``."""
        return np.asarray(getattr(self, name)[phase] / self.samples, dtype=float)


def crossed(**axes: object) -> dict[str, NDArray[np.float64]]:
    """The points of a design space as columns: every value of each axis with every value of the others."""
    values = [np.atleast_1d(np.asarray(each, dtype=float)) for each in axes.values()]
    table = np.array(list(product(*values)), dtype=float).reshape(-1, len(values))
    return dict(zip(axes, table.T, strict=True))


def model_states(model: CometModel, mp: Count, dp: Count, *, zero: Count = 2) -> Bytes:
    """Bytes of weights, gradients and optimiser states on a node, under a stage of ZeRO."""
    share = parameters(model) / mp
    return (
        weight_bytes(share, each=HALF, data_parallel=dp, zero=zero)
        + gradient_bytes(share, each=HALF, data_parallel=dp, zero=zero)
        + optimiser_bytes(share, each=_MASTER, data_parallel=dp, zero=zero)
    )


def footprint(model: CometModel, mp: Count, dp: Count, *, zero: Count = 2) -> Bytes:
    """Bytes that a node holds: states of the model, and activations between two checkpoints."""
    between: Number = 0.0
    for step in layer_steps(model, mp):
        between = between + step.elements * HALF
    return model_states(model, mp, dp, zero=zero) + activation_bytes(between, layers=1, in_flight=1)


def train(model: CometModel, machine: Machine, mp: Count, dp: Count, *, reading: Reading = OURS) -> Training:
    """One iteration with `mp` nodes a data-parallel unit and `dp` units, model parallelism innermost."""
    if reading.cited_width:
        model = replace(model, width=model.cited_width)
    needed = footprint(model, mp, dp)
    rate = machine.memory_rate(needed)
    forward = _forward(model, machine, mp, rate, reading)
    again = 2.0 if reading.forward_again else 1.0
    compute = dict(
        zip(PHASES, (forward, again * forward, _weight_gradient(model, machine, mp, rate, reading)), strict=True)
    )
    activations = float(model.batch * model.sequence * model.width) * HALF
    blocking = model.layers * _BLOCKING * _all_reduce(activations, machine.tiers(1.0, mp), reading.apart)
    gradients = _all_reduce(model.layers * layer_gradients(model, mp), machine.tiers(mp, dp), reading.apart)
    communication = dict(zip(PHASES, (blocking, again * blocking, gradients), strict=True))
    unhidden = gradients - hidden_time(gradients, compute[PHASES[2]])
    return Training(
        compute=compute,
        communication=communication,
        exposed=dict(zip(PHASES, (blocking, again * blocking, unhidden), strict=True)),
        footprint=needed,
        samples=model.batch * dp,
    )


def _all_reduce(size: Bytes, tiers: tuple[Tier, ...], apart: float) -> Seconds:
    """Between dimensions all at once and one after another."""
    at_once = nested_all_reduce_time(size, tiers)
    if apart == 0.0:
        return at_once
    return at_once + apart * (nested_all_reduce_time(size, tiers, pipelined=False) - at_once)


def _forward(model: CometModel, machine: Machine, mp: Count, rate: BytesPerSecond, reading: Reading) -> Seconds:
    """Seconds of the products and element-wise steps of all layers."""
    peak, buffer = machine.cluster.compute_rate * machine.compute, machine.cluster.buffer
    time: Number = 0.0
    for one in layer_products(model, mp, whole_batch_attention=reading.whole_batch_attention):
        moved = tiled_traffic(HALF * one.m * one.k, HALF * one.k * one.n, HALF * one.m * one.n, buffer=buffer)
        time = time + one.often * kernel_time(one.work, moved, compute_rate=peak, memory_rate=rate)
    for step in layer_steps(model, mp):
        time = time + step.moved * HALF / rate
    return model.layers * time


def _weight_gradient(model: CometModel, machine: Machine, mp: Count, rate: BytesPerSecond, reading: Reading) -> Seconds:
    """Seconds of the weights' gradients and of the optimiser, which the paper counts in one pass."""
    peak, buffer = machine.cluster.compute_rate * machine.compute, machine.cluster.buffer
    time: Number = 0.0
    for one in layer_products(model, mp):
        if one.weights:
            moved = _gradient_traffic(one, buffer, by_letter=reading.weight_gradient_by_letter)
            time = time + kernel_time(one.work, moved, compute_rate=peak, memory_rate=rate)
    return model.layers * time


def _gradient_traffic(one: Product, buffer: Bytes, *, by_letter: bool) -> Bytes:
    """Activations stream past weights and states, which are stored again."""
    inner, outer = one.m * one.k, one.k * one.n
    if by_letter:
        loaded_once = (_MASTER - SINGLE) * outer
        return tiled_traffic(SINGLE * inner, SINGLE * outer, _STORED * one.m * one.n, buffer=buffer) + loaded_once
    return tiled_traffic(HALF * inner, _MASTER * outer, _STORED * outer, buffer=buffer)
