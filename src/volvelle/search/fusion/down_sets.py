"""The best fusion as a shortest path over down-sets: exact, with a bound whenever it is stopped.

Every part of a partition's time depends on its kernels alone, so the best sequence of partitions is the shortest path
from the empty set to all kernels, each step adding the kernels of one partition. The path is found best first (A*),
the rest being bounded from below by its arithmetic at perfect balance, its collectives, and the tensors it must read.
The bound rises along every path (it is consistent), so a down-set is settled when it is first looked at.
"""

import heapq
from dataclasses import dataclass
from math import inf
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.dataflow.partition_time import PartitionTimes
from volvelle.laws.onchip_dataflow import dram_demand, partition_traffic, traffic_time
from volvelle.search.fusion.lattice import Lattice, members_of
from volvelle.search.fusion.next_partitions import NextPartitions, PartitionCandidates

_CLOSE = 1e-12
"""Relative difference below which two times are one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """When to give up."""

    states: float = inf
    """Down-sets kept."""
    steps: float = inf
    """Partitions timed."""
    breadth: float = inf
    """Partitions timed from a single down-set."""
    deadline: float = inf
    """By `time.perf_counter`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DownSetPath:
    """What the search found."""

    partitions: tuple[tuple[int, ...], ...] | None
    """Kernels by number; an empty partition is an open slot. None: nothing below the upper bound given."""
    time: float
    bound: float
    """No fusion takes less (infinite: there is none)."""
    complete: bool
    """The search ended by itself, so `bound` is the optimum, or the upper bound given if that is less."""
    states: int
    steps: int


@dataclass(slots=True)
class _State:
    """A down-set on the way: what it took, whence, and what is left."""

    time: float
    earlier: int
    cut: float
    compute: float
    fixed: float
    network: float


def shortest_path(
    times_of: PartitionTimes,
    lattice: Lattice,
    *,
    upper: float = inf,
    slots: bool = False,
    budget: Budget | None = None,
) -> DownSetPath:
    """The best sequence of partitions that takes less than `upper`; with `slots`, one that keeps pins and the limit."""
    return _Search(times_of, lattice, upper=upper, slots=slots, budget=budget or Budget()).run()


class _Search:
    def __init__(
        self, times_of: PartitionTimes, lattice: Lattice, *, upper: float, slots: bool, budget: Budget
    ) -> None:
        self.times_of, self.lattice, self.budget = times_of, lattice, budget
        self.growth = PartitionCandidates(times_of, lattice)
        self.pinned: dict[int, int] = {}
        """Slot → mask of the kernels pinned to it."""
        for number, slot in enumerate(self.growth.tables.pins):
            if slot >= 0 and lattice.goal & lattice.bits[number]:
                self.pinned[slot] = self.pinned.get(slot, 0) | lattice.bits[number]
        self.upper, self.slots = upper, slots
        problem = times_of.problem
        self.tiles, self.rate = float(problem.tiles), problem.chip.dram_rate
        self.most = problem.choices.partitions or inf
        self.low = (1 << lattice.count) - 1
        self.bounded = times_of.dram_limit < inf and lattice.start == 0 and lattice.goal == self.low
        self.states: dict[int, _State] = {}
        self.fronts: dict[int, list[tuple[int, float]]] = {}
        self.heap: list[tuple[float, int, int]] = []
        self.steps = 0

    def run(self) -> DownSetPath:
        lattice = self.lattice
        root = self._root()
        self.states[lattice.start] = root
        bound = float(self._rest(root.cut, root.compute, root.fixed, root.network))
        heapq.heappush(self.heap, (bound, 0, lattice.start))
        ready: dict[int, list[int]] = {}
        while self.heap:
            estimate, _, key = heapq.heappop(self.heap)
            if estimate >= self.upper * (1.0 - _CLOSE):
                break
            if key in ready:
                continue
            bound, mask, state = max(bound, estimate), key & self.low, self.states[key]
            if mask == lattice.goal:
                return self._answer(key, state.time, complete=True)
            if self._spent():
                return self._answer(-1, min(bound, self.upper), complete=False)
            if state.earlier >= 0:
                ready[key] = lattice.ready_after(mask, state.earlier & self.low, ready[state.earlier])
            else:
                ready[key] = lattice.ready(mask)
            found, complete = self.growth.grow(
                mask,
                ready[key],
                room=self.upper - state.time,
                most=min(self.budget.breadth, self.budget.steps - self.steps),
                deadline=self.budget.deadline,
            )
            self.steps += len(found.sets)
            if not complete:
                return self._answer(-1, min(bound, self.upper), complete=False)
            self._keep(key, mask, state, found)
        return self._answer(-1, self.upper, complete=True)

    def _root(self) -> _State:
        times_of, lattice = self.times_of, self.lattice
        inner = members_of(lattice.inner)
        return _State(
            time=0.0,
            earlier=-1,
            cut=sum(
                size
                for number in inner
                for producer, size, *_ in times_of.inputs[number]
                if lattice.start & lattice.bits[producer]
            ),
            compute=sum(times_of.balanced[number] for number in inner),
            fixed=sum(
                times_of.extra[number] + times_of.streamed[number] + self.tiles * self.growth.beyond[number]
                for number in inner
            ),
            network=sum(times_of.network[number] for number in inner),
        )

    def _spent(self) -> bool:
        budget = self.budget
        return len(self.states) > budget.states or self.steps > budget.steps or perf_counter() > budget.deadline

    def _answer(self, goal: int, bound: float, *, complete: bool) -> DownSetPath:
        return DownSetPath(
            partitions=self._walk(goal) if goal >= 0 else None,
            time=self.states[goal].time if goal >= 0 else inf,
            bound=bound,
            complete=complete,
            states=len(self.states),
            steps=self.steps,
        )

    def _walk(self, key: int) -> tuple[tuple[int, ...], ...]:
        count, low = self.lattice.count, self.low
        found: list[tuple[int, ...]] = []
        while self.states[key].earlier >= 0:
            earlier = self.states[key].earlier
            found.append(tuple(members_of((key & low) & ~(earlier & low))))
            if self.slots:
                found.extend([()] * ((key >> count) - (earlier >> count) - 1))
            key = earlier
        return tuple(reversed(found))

    def _rest(
        self,
        cut: float | NDArray[np.float64],
        compute: float | NDArray[np.float64],
        fixed: float | NDArray[np.float64],
        network: float | NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """What is left takes at least this: each of its parts at its least, combined as those of one partition."""
        traffic = partition_traffic(cut, fixed, 0.0, tiles=self.tiles)
        return np.asarray(self.times_of.time(compute, traffic_time(traffic, rate=self.rate), network))

    def _keep(self, key: int, mask: int, state: _State, found: NextPartitions) -> None:
        """Price the partitions by the laws, and remember the down-sets they lead to where none better is known."""
        if not found.sets:
            return
        times_of = self.times_of
        times = state.time + found.times(times_of)
        read, written = np.array(found.read), np.array(found.written)
        cut = state.cut - read + written - np.array(found.beyond)
        left = state.compute - np.array(found.balanced)
        fixed = state.fixed - np.array(found.fixed) - self.tiles * np.array(found.beyond)
        network = state.network - np.array(found.network)
        estimates = times + self._rest(cut, left, fixed, network)
        kept = estimates < self.upper * (1.0 - _CLOSE)
        smaller = np.array(found.smaller)
        larger = np.flatnonzero(smaller >= 0)
        kept[smaller[larger[times[larger] <= times[smaller[larger]]]]] = False
        if self.bounded:
            alive = dram_demand(sum(times_of.weights), state.cut + written, times_of.problem.resident, tiles=self.tiles)
            kept &= np.asarray(alive) <= times_of.dram_limit
        for place in np.flatnonzero(kept).tolist():
            reached = mask | found.sets[place]
            after = self._slotted(key, reached, found.pins[place]) if self.slots else reached
            time = float(times[place])
            if after < 0 or not self._better(after, reached, time):
                continue
            self.states[after] = _State(
                time, key, float(cut[place]), float(left[place]), float(fixed[place]), float(network[place])
            )
            estimate = float(estimates[place])
            if reached == self.lattice.goal:
                # Nothing is left, but for what sums and differences round to.
                estimate, self.upper = time, min(self.upper, time * (1.0 + 4 * _CLOSE))
            heapq.heappush(self.heap, (estimate, -reached.bit_count(), after))

    def _better(self, after: int, reached: int, time: float) -> bool:
        known = self.states.get(after)
        if known is not None and known.time <= time:
            return False
        if self.slots:
            slot, front = after >> self.lattice.count, self.fronts.setdefault(reached, [])
            if any(other <= slot and spent <= time for other, spent in front):
                return False
            front.append((slot, time))
        return True

    def _slotted(self, key: int, reached: int, pin: int) -> int:
        """The key of a down-set reached by filling a slot, or −1 if that slot cannot be or leaves a pin behind."""
        slot = key >> self.lattice.count
        if pin >= 0:
            if pin < slot:
                return -1
            slot = pin
        slot += 1
        if slot > self.most or (slot == self.most and reached != self.lattice.goal):
            return -1
        for pin_slot, pinned in self.pinned.items():
            if pin_slot < slot and pinned & ~reached:
                return -1
        return reached | slot << self.lattice.count
