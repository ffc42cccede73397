"""Every partition that may come next from a down-set, grown kernel by kernel.

What is skipped, and why that is safe. SRAM never falls when a kernel joins a partition: a tensor that was crossing and
is now inside takes at least as much (`sram_demand`), so a set that overflows need not be extended. Nor do compute time,
network time and the bytes read from earlier partitions fall, so neither need a set whose floor reaches the upper bound.
Traffic as a whole does fall (a cut tensor becomes internal), and so does DRAM in use: no set is skipped for those.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from math import inf
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.dataflow.on_chip import Overlap
from volvelle.estimators.dataflow.partition_time import PartitionTimes
from volvelle.laws.onchip_dataflow import partition_traffic, traffic_time
from volvelle.search.fusion.lattice import Lattice, members_of

_CHECKED = 4096
"""Partitions between two looks at the clock."""


@dataclass(slots=True)
class NextPartitions:
    """Partitions as columns: kernels, and what of them adds up."""

    sets: list[int] = field(default_factory=list)
    """Masks of kernels."""
    compute: list[float] = field(default_factory=list)
    balanced: list[float] = field(default_factory=list)
    """Compute time at perfect balance."""
    read: list[float] = field(default_factory=list)
    """Bytes of a tile that come from earlier partitions."""
    written: list[float] = field(default_factory=list)
    """Bytes of a tile that go to later ones."""
    beyond: list[float] = field(default_factory=list)
    """The part of these that goes beyond the goal of the search."""
    fixed: list[float] = field(default_factory=list)
    """Traffic besides tensors."""
    network: list[float] = field(default_factory=list)
    pins: list[int] = field(default_factory=list)
    """The slot they are pinned to, or −1."""
    smaller: list[int] = field(default_factory=list)
    """Place of the partition that lacks the last kernel, where putting that off can be no gain; else −1."""
    pieces: dict[int, int] = field(default_factory=dict)
    """Place → the kernel that takes its weights in pieces there."""

    def times(self, times_of: PartitionTimes) -> NDArray[np.float64]:
        """Of every partition, by the laws."""
        moved, problem = np.array(self.read) + np.array(self.written), times_of.problem
        traffic = np.asarray(partition_traffic(moved, np.array(self.fixed), 0.0, tiles=float(problem.tiles)))
        for place, kernel in self.pieces.items():
            traffic[place] = times_of.time_of([kernel]).traffic
        memory = traffic_time(traffic, rate=problem.chip.dram_rate)
        return np.asarray(times_of.time(np.array(self.compute), memory, np.array(self.network)))


class _Tables:
    """What every search of a times_of looks up, by kernel."""

    def __init__(self, times_of: PartitionTimes) -> None:
        self.pins = [-1 if kernel.pinned is None else kernel.pinned for kernel in times_of.kernels]
        self.pieces = [times_of.pieces(number) for number in range(len(times_of.names))]
        self.read = [sum(size for _, size, *_ in one) for one in times_of.inputs]
        self.written = [sum(size for _, size, *_ in one) for one in times_of.outputs]
        self.fixed = [extra + streamed for extra, streamed in zip(times_of.extra, times_of.streamed, strict=True)]
        self.sram = [
            weight + sum(edge[3] for edge in (*times_of.inputs[number], *times_of.outputs[number]))
            for number, weight in enumerate(times_of.weights)
        ]
        # A kernel that writes no more than it reads is no loss to the partition it is taken from: all that falls there
        # but the tensors it hands on inside, and those are no more than what it read. If it joins an earlier partition
        # at no cost to that one, leaving it for later is no gain. What DRAM holds may rise: not where that is bounded.
        self.shrinks = [
            read >= written and pin < 0 and times_of.dram_limit == inf
            for read, written, pin in zip(self.read, self.written, self.pins, strict=True)
        ]
        shares = times_of.shares
        self.times = [times_of.compute_time(float(cycles)) for cycles in shares.grid] if shares is not None else []
        """Place in the grid of cycles → compute time."""


@lru_cache(maxsize=8)
def _tables(times_of: PartitionTimes) -> _Tables:
    return _Tables(times_of)


class PartitionCandidates:
    """Grows partitions on one lattice."""

    def __init__(self, times_of: PartitionTimes, lattice: Lattice) -> None:
        self.times_of, self.lattice, self.tables = times_of, lattice, _tables(times_of)
        bits, goal = lattice.bits, lattice.goal
        self.beyond = [sum(edge[1] for edge in one if not goal & bits[edge[0]]) for one in times_of.outputs]
        overlap = times_of.problem.choices.overlap
        self.all_at_once, self.memory_hidden = overlap is Overlap.ALL, overlap is Overlap.MEMORY

    def grow(  # noqa: PLR0915 - one loop, run millions of times, so nothing in it is called that need not be
        self, done: int, ready: list[int], *, room: float, most: float, deadline: float
    ) -> tuple[NextPartitions, bool]:
        """All partitions that take less than `room` for sure, and whether that was all: not if more than `most`.

        Each set is made once: from a list of what may join, one kernel is taken and all before it in the list are left
        out for good, and with them what depends on them; what the kernel makes ready joins the end of the list.
        """
        times_of, lattice, tables, found = self.times_of, self.lattice, self.tables, NextPartitions()
        bits, before, following, data = lattice.bits, lattice.before, lattice.following, lattice.data
        inputs, network_of, balanced_of, fixed_of = times_of.inputs, times_of.network, times_of.balanced, tables.fixed
        sram_of, read_of, written_of, beyond_of = tables.sram, tables.read, tables.written, self.beyond
        pieces_of, pins_of, shrinks, times = tables.pieces, tables.pins, tables.shrinks, tables.times
        limit, tiles, per_byte = times_of.limit, float(times_of.problem.tiles), 1.0 / times_of.problem.chip.dram_rate
        fuse, all_at_once, memory_hidden = times_of.problem.choices.fuse, self.all_at_once, self.memory_hidden
        barred = 0
        if lattice.sided and lattice.forward & lattice.inner & ~done:
            barred = ~lattice.forward  # the backward pass waits for all of the forward
        shares = times_of.shares
        line = np.zeros(1, dtype=np.int64) if shares is None else shares.empty
        places = len(times)
        cores = 0 if shares is None else -shares.cores
        sought = line.dtype.type(cores)
        clock = min(_CHECKED, most)
        stack = [(ready, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, line, 0, -1, -1)]
        while stack:
            choices, chosen, sram, read, written, gone, fixed, talk, least, row, at, pin, smaller = stack.pop()
            for place, kernel in enumerate(choices):
                held = sram + sram_of[kernel]
                now_read, now_written = read + read_of[kernel], written + written_of[kernel]
                within = data[kernel] & chosen
                if within:
                    for producer, size, inside, crossing in inputs[kernel]:
                        if within & bits[producer]:
                            held += inside - crossing - crossing
                            now_read -= size
                            now_written -= size
                if held > limit and (chosen or pieces_of[kernel] < 2):
                    continue
                slot = pins_of[kernel]
                if slot < 0:
                    slot = pin
                elif pin >= 0 and slot != pin:
                    continue
                now = chosen | bits[kernel]
                now_talk, now_fixed = talk + network_of[kernel], fixed + fixed_of[kernel]
                now_least = compute = least + balanced_of[kernel]
                reached = 0
                if shares is not None:
                    line = row + shares.rows[kernel]
                    # More kernels need no fewer cycles, and often no more.
                    reached = at if line.item(at) >= cores else int(line.searchsorted(sought))
                    if reached == places:
                        continue
                    compute = times[reached]
                    if shares.stride > 1:
                        compute = times_of.compute_time(shares.least_of(line, members_of(now)))
                low = (tiles * now_read + now_fixed) * per_byte
                if all_at_once:
                    low = max(low, compute, now_talk)
                elif memory_hidden:
                    low = max(low, compute) + now_talk
                else:
                    low += compute + now_talk
                if low >= room:
                    continue
                now_gone = gone + beyond_of[kernel]
                if held > limit:
                    found.pieces[len(found.sets)] = kernel
                found.sets.append(now)
                found.compute.append(compute)
                found.balanced.append(now_least)
                found.read.append(now_read)
                found.written.append(now_written)
                found.beyond.append(now_gone)
                found.fixed.append(now_fixed)
                found.network.append(now_talk)
                found.pins.append(slot)
                found.smaller.append(smaller if shrinks[kernel] else -1)
                if not fuse or held > limit:
                    continue
                rest = choices[place + 1 :]
                waiting = ~(done | now)
                for other in following[kernel]:
                    if not before[other] & waiting and not barred & bits[other]:
                        rest.append(other)
                if rest:
                    sums = (held, now_read, now_written, now_gone, now_fixed, now_talk, now_least)
                    stack.append((rest, now, *sums, line, reached, slot, len(found.sets) - 1))
            if len(found.sets) > clock:
                clock = len(found.sets) + _CHECKED
                if len(found.sets) > most or perf_counter() > deadline:
                    return found, False
        return found, True
