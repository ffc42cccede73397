"""A good fusion, fast: the best along a few topological orders, then windows of partitions solved anew."""

import heapq
from collections.abc import Callable, Iterator
from graphlib import TopologicalSorter
from itertools import pairwise
from math import inf
from time import perf_counter

from volvelle.estimators.dataflow.partition_time import PartitionTimes
from volvelle.search.fusion.down_sets import Budget, shortest_path
from volvelle.search.fusion.lattice import Lattice

Partitions = tuple[tuple[int, ...], ...]

_WINDOW_STEPS = 30_000
"""Partitions timed in one window before the next is tried."""


def topological_orders(times_of: PartitionTimes) -> Iterator[list[int]]:
    """Orders that tend to keep what is cut small: least bytes waiting first, newest first, level by level."""
    waiting = [
        sum(size for _, size, *_ in written) - sum(size for _, size, *_ in read)
        for read, written in zip(times_of.inputs, times_of.outputs, strict=True)
    ]
    # A kernel that frees as many bytes as it makes goes first; among equals the one whose inputs are newest.
    newest: dict[int, int] = {}

    def freed(number: int) -> tuple[float, int]:
        return (waiting[number], -max((newest[other] for other, *_ in times_of.inputs[number]), default=-1))

    def depth_first(number: int) -> tuple[float, int]:
        return (-max((newest[other] for other, *_ in times_of.inputs[number]), default=-1), number)

    for rule in (freed, depth_first):
        newest.clear()
        yield list(_ordered(times_of, rule, newest))
    yield list(range(len(times_of.names)))


def _ordered(
    times_of: PartitionTimes, rule: Callable[[int], tuple[float, int]], newest: dict[int, int]
) -> Iterator[int]:
    sided = times_of.problem.choices.forward_first
    sorter = TopologicalSorter({number: [maker for maker, *_ in read] for number, read in enumerate(times_of.inputs)})
    sorter.prepare()
    ready: list[tuple[bool, tuple[float, int], int]] = []
    while sorter.is_active():
        for number in sorter.get_ready():
            heapq.heappush(ready, (sided and not times_of.kernels[number].forward, rule(number), number))
        *_, number = heapq.heappop(ready)
        newest[number] = len(newest)
        yield number
        sorter.done(number)


def along_orders(
    times_of: PartitionTimes,
    *,
    slots: bool,
    upper: float = inf,
    deadline: float = inf,
    start: int = 0,
    goal: int | None = None,
) -> tuple[float, Partitions | None]:
    """The best fusion, of kernels between two down-sets, whose partitions are stretches of a topological order."""
    best: Partitions | None = None
    for order in topological_orders(times_of):
        if perf_counter() > deadline:
            break
        found = shortest_path(
            times_of,
            Lattice(times_of, after=pairwise(order), twins=False, start=start, goal=goal),
            upper=upper,
            slots=slots,
            budget=Budget(deadline=deadline),
        )
        if found.partitions is not None:
            upper, best = found.time, found.partitions
    return upper, best


def improved(
    times_of: PartitionTimes, partitions: Partitions, *, deadline: float, steps: float = inf, done: int = 0
) -> Partitions:
    """The fusion with windows of two, three and more neighbouring partitions solved exactly, until none gives more.

    The kernels of `done` run before. Windows know neither pins nor the most partitions nor how much DRAM holds; use it
    where these do not bind.
    """
    times = [times_of.time_of(members).time for members in partitions]
    spent, current = 0, list(partitions)
    for width in (2, 3, 4, 6):
        place, quiet = 0, 0
        while quiet < max(1, len(current) - width + 1) and len(current) > 1:
            if perf_counter() > deadline or spent > steps:
                return tuple(current)
            place = place if place + 1 < len(current) else 0
            window = slice(place, place + width)
            start = done | sum(1 << number for members in current[:place] for number in members)
            goal = start | sum(1 << number for members in current[window] for number in members)
            found = shortest_path(
                times_of,
                Lattice(times_of, start=start, goal=goal),
                upper=sum(times[window]),
                budget=Budget(steps=_WINDOW_STEPS, deadline=deadline),
            )
            spent += found.steps
            quiet += 1
            if found.partitions is not None:
                current[window] = found.partitions
                times[window] = [times_of.time_of(members).time for members in found.partitions]
                quiet = 0
            place += 1
    return tuple(current)
