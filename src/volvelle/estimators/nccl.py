"""What NCCL would choose for a collective, and how long by its own cost model that takes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor, log2

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import DescriptionError
from volvelle.laws.collectives import pipeline_fill_time
from volvelle.laws.network.nccl import (
    nccl_ring_latency,
    nccl_ring_rate,
    nccl_switch_rate,
    nccl_tree_latency,
    nccl_tree_rate,
)
from volvelle.system.cluster import Cluster
from volvelle.system.topologies.switch import Switch
from volvelle.workload.tensor_layout import Collective

Column = NDArray[np.float64]

PROTOCOLS = ("LL", "LL128", "Simple")
_LL, _LL128, _SIMPLE = range(3)
_MOST_CHANNELS = 32
_SLOWEST_DOUBLED = 25e9
"""Channels slower than this are left as they are."""
_SLOWEST_DOUBLED_OF_MANY = 50e9
"""The same of more than four channels, of chips newer than the A100."""
_SHORT_PIECE = 64.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclGeneration:
    """What the library knows of chips of one generation; bytes a second."""

    link: tuple[float, float]
    """A link as the vendor counts it, and as the library does."""
    inside: tuple[float, ...]
    """Speeds of channels that are tried inside a node, highest first."""
    between: tuple[float, ...]
    ll: tuple[float, float, float]
    """Most by the short-message protocol: on one node, on several with processors of Intel, of AMD."""
    ring_ll128: float
    """A channel, at most."""
    tree_ll128: tuple[float, float, float]
    """On one node, two, more."""
    tree: tuple[float, float, float]
    switch_tree: tuple[float, float, float]
    switch_efficiency: float
    """0: switches that cannot add up."""
    long_ring_latency: float
    """By how much the latency of a ring between nodes grows for all but the shortest messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclModel:
    """Constants of the model: those of the library, and two that were fitted to measured nodes; seconds."""

    base: Mapping[str, tuple[float, float, float]]
    """By algorithm: LL, LL128, Simple."""
    inside: Mapping[str, tuple[float, float, float]]
    between: Mapping[str, tuple[float, float, float]]
    switch_latency: float
    switch_tree_latency: float
    tree_corrections: tuple[tuple[float, ...], ...]
    generations: Mapping[str, NcclGeneration]
    rate_reached: float
    fill: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclGroup:
    """Who takes part, as the library sees it."""

    generation: NcclGeneration
    newer_than_ampere: bool
    chips: int
    """A node."""
    nodes: int
    links: float
    """Of one chip inside its node, as the library counts."""
    port: float
    """Of one chip out of its node; infinite where nothing leaves it."""
    fill: float = 0.0
    """Of the network between nodes."""

    @property
    def ranks(self) -> int:
        """All chips."""
        return self.chips * self.nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclTimes:
    """For each size the least time, and by what."""

    time: Column
    chosen: tuple[str, ...]
    """Algorithm and protocol, like ``ring LL128``."""


def nccl_group(model: NcclModel, cluster: Cluster, along: Sequence[int]) -> NcclGroup:
    """A group of a cluster's chips, members along each network dimension, innermost first."""
    generation = model.generations.get(cluster.chip.family)
    if generation is None:
        listed = ", ".join(model.generations)
        raise DescriptionError(
            f"algorithm is nccl, but its cost model has no constants for {cluster.chip.name} "
            f"({cluster.chip.family or 'no family'}); it has them for {listed}: use nested or ring"
        )
    inner, *outer = cluster.dimensions
    if not isinstance(inner.topology, Switch):
        raise DescriptionError(
            f"algorithm is nccl, but the chips of a node of {cluster.name} are not joined by a switch, and what "
            "channels the library finds among other links is not modelled: use nested or ring"
        )
    spanned = [dimension for dimension, count in zip(outer, along[1:], strict=True) if count > 1]
    if len(spanned) > 1:
        raise DescriptionError(
            f"algorithm is nccl, but the group spans {1 + len(spanned)} network dimensions and the library knows two, "
            "nodes and the network between them: use nested or ring"
        )
    vendor, counted = generation.link
    return NcclGroup(
        generation=generation,
        newer_than_ampere=generation.switch_efficiency > 0.0,
        chips=along[0],
        nodes=int(np.prod(along[1:], dtype=np.int64)),
        links=float(inner.link.rate) / vendor * counted,
        port=float(spanned[0].link.rate) if spanned else np.inf,
        fill=float(spanned[0].link.fill) if spanned else 0.0,
    )


def nccl_times(
    model: NcclModel, group: NcclGroup, operation: Collective, sizes: Column, *, only: str | None = None
) -> NcclTimes:
    """The least over algorithms and protocols, as the library compares them, with the pipeline filled."""
    least: Column = np.full(sizes.shape, np.inf)
    moved = np.zeros(sizes.shape)
    chosen = np.full(sizes.shape, "", dtype=object)
    for name, latency, rate in _candidates(model, group, operation, sizes):
        if only is not None and not name.startswith(only):
            continue
        transfer = sizes / (rate * model.rate_reached)
        better = latency + transfer < least
        least = np.where(better, latency + transfer, least)
        moved = np.where(better, transfer, moved)
        chosen[better] = name
    if not np.isfinite(least).all():
        raise DescriptionError(f"NCCL has no {only or 'algorithm'} for {operation.value} on this group")
    filling = pipeline_fill_time(moved, fill=max(model.fill, group.fill))
    return NcclTimes(time=least + np.asarray(filling), chosen=tuple(str(name) for name in chosen))


def _candidates(
    model: NcclModel, group: NcclGroup, operation: Collective, sizes: Column
) -> Iterator[tuple[str, Column, Column]]:
    """Name, latency and rate of everything that the library compares."""
    own, ranks = group.generation, float(group.ranks)
    reduces = operation is Collective.ALL_REDUCE
    steps = 2.0 * (ranks - 1.0) if reduces else ranks if operation is Collective.BROADCAST else ranks - 1.0
    channels, speed = _doubled(group, *_channels(group))
    which = min(group.nodes, 3) - 1
    bus = channels * speed
    short = own.ll[0 if group.nodes == 1 else 1]
    wider = channels * min(2.0 * speed, group.links / channels) if group.nodes == 2 else bus
    ones = np.ones(sizes.shape)
    rings = (min(short, 0.5 * bus), min(0.92 * bus, channels * own.ring_ll128), bus)
    trees = (
        min(wider / 3.8, short),
        min(wider * (7 / 9 if group.nodes == 1 else 120 / 128), channels * own.tree_ll128[which]),
        min(0.92 * wider, channels * own.tree[which]),
    )
    crossings = (group.nodes - 1.0) * (2.0 if reduces else 1.0)
    for protocol, name in enumerate(PROTOCOLS):
        # Between nodes a step inside one waits for the processor that drives the network.
        driven = 0.0 if group.nodes == 1 else 3e-6 if protocol == _SIMPLE else 1e-6
        latency = nccl_ring_latency(
            steps,
            crossings,
            base=model.base["ring"][protocol],
            inside=max(model.inside["ring"][protocol], driven),
            between=model.between["tree" if group.chips == 1 else "ring"][protocol],
        )
        longer = reduces and protocol == _SIMPLE and group.nodes > 1
        pieces = sizes / (channels * ranks)
        factor = np.where(longer & (pieces >= _SHORT_PIECE), own.long_ring_latency, 1.0)
        yield f"ring {name}", latency * factor, nccl_ring_rate(rings[protocol], ranks, steps) * ones
        if reduces:
            up_and_down = nccl_tree_latency(
                float(group.chips),
                float(group.nodes),
                base=model.base["tree"][protocol],
                inside=model.inside["tree"][protocol],
                between=model.between["tree"][protocol],
            )
            corrections = np.array(model.tree_corrections[protocol])
            rate = nccl_tree_rate(trees[protocol], sizes, corrections=corrections)
            yield f"tree {name}", up_and_down * ones, np.asarray(rate)
    yield from _by_switches(model, group, steps, ones, reduces=reduces)


def _by_switches(
    model: NcclModel, group: NcclGroup, steps: float, ones: Column, *, reduces: bool
) -> Iterator[tuple[str, Column, Column]]:
    """Switches that add up, alone on one node, joined by trees between nodes."""
    own = group.generation
    channels = min(_MOST_CHANNELS, group.chips)
    tried = own.inside if group.nodes == 1 else own.between
    fitting = [speed for speed in tried if channels * speed <= group.links and speed <= group.port]
    if own.switch_efficiency <= 0.0 or channels < 2 or not fitting:
        return
    speed = max(fitting)
    passes = 2.0 if reduces else (group.chips - 1.0) / group.chips
    rate = nccl_switch_rate(float(channels), speed, efficiency=own.switch_efficiency, passes=passes)
    if group.nodes == 1:
        rate = nccl_ring_rate(rate, float(group.ranks), steps) if reduces else rate
        yield "switch Simple", model.switch_latency * ones, rate * ones
    elif reduces:
        out = min(speed * (2.0 if group.nodes == 2 else 1.0), own.switch_tree[min(group.nodes, 3) - 1])
        latency = model.switch_latency + 2.0 * floor(log2(group.nodes)) * model.switch_tree_latency
        rate = np.minimum(rate, channels * out)
        yield "switch tree Simple", latency * ones, nccl_ring_rate(rate, float(group.ranks), steps) * ones


def _channels(group: NcclGroup) -> tuple[int, float]:
    """How many channels at what speed: most together, at no less than half the highest speed that is possible."""
    best, highest = (0, 0.0), 0.0
    for speed in group.generation.inside if group.nodes == 1 else group.generation.between:
        channels = floor(group.links / speed)
        if group.nodes > 1:
            channels = min(channels, group.chips * floor(group.port / speed))
        if channels < 1:
            continue
        highest = highest or speed
        if speed < highest / 2.0:
            break
        if channels * speed > best[0] * best[1]:
            best = channels, speed
    if not best[0]:
        raise DescriptionError("NCCL finds no channel on links as slow as these: use nested or ring")
    return best


def _doubled(group: NcclGroup, channels: int, speed: float) -> tuple[int, float]:
    """Twice the channels at half the speed, unless they are slow already."""
    slow = speed < _SLOWEST_DOUBLED
    many = group.newer_than_ampere and speed < _SLOWEST_DOUBLED_OF_MANY and channels > 4
    return (channels, speed) if slow or many else (2 * channels, speed / 2.0)
