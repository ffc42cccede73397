"""The down-sets of a kernel graph as bit masks: what may run next, what it needs, which kernels are twins."""

from collections.abc import Iterable
from functools import lru_cache

from volvelle.estimators.dataflow.partition_time import PartitionTimes


def members_of(mask: int) -> list[int]:
    """The kernels of a mask, in topological order."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


class Lattice:
    """The kernels between two down-sets, with their precedences, as masks.

    A down-set holds with each kernel all it depends on; partitions are differences of consecutive down-sets. Only
    precedences decide what is a down-set, so more of them (`after`) make a smaller lattice: a total order leaves the
    prefixes of one topological order. Of twins, kernels alike in everything but the name, one need not come before
    the other; that it does loses no solution and halves the lattice.
    """

    def __init__(
        self,
        times_of: PartitionTimes,
        *,
        after: Iterable[tuple[int, int]] = (),
        start: int = 0,
        goal: int | None = None,
        twins: bool = True,
    ) -> None:
        count = len(times_of.names)
        self.start = start
        self.goal = (1 << count) - 1 if goal is None else goal
        self.count = count
        self.inner = self.goal & ~start
        self.bits = [1 << number for number in range(count)]
        self.before = [0] * count
        """Kernel → mask of those that must come before it or with it."""
        self.following: list[list[int]] = [[] for _ in range(count)]
        self.data = [0] * count
        """Kernel → mask of those it reads from."""
        for consumer in members_of(self.inner):
            for producer, *_ in times_of.inputs[consumer]:
                self.data[consumer] |= self.bits[producer]
                self._precede(producer, consumer)
        for first, second in (*after, *(_twins(times_of) if twins else ())):
            self._precede(first, second)
        self.sided = times_of.problem.choices.forward_first
        self.forward = sum(self.bits[number] for number, kernel in enumerate(times_of.kernels) if kernel.forward)

    def _precede(self, first: int, second: int) -> None:
        if self.inner & self.bits[second] and not self.before[second] & self.bits[first]:
            self.before[second] |= self.bits[first]
            if self.inner & self.bits[first]:
                self.following[first].append(second)

    def ready(self, done: int) -> list[int]:
        """Every kernel that may run next."""
        outside = ~done
        found = [number for number in members_of(self.inner & outside) if not self.before[number] & outside]
        if self.sided and self.forward & self.inner & outside:
            found = [number for number in found if self.forward & self.bits[number]]
        return found

    def ready_after(self, done: int, earlier: int, ready: list[int]) -> list[int]:
        """The same, from what was ready at an earlier down-set."""
        outside, added = ~done, done & ~earlier
        if self.sided and self.inner & self.forward & ~earlier:
            return self.ready(done)
        found = [number for number in ready if not added & self.bits[number]]
        seen = set(found)
        for number in members_of(added):
            for other in self.following[number]:
                if other not in seen and self.bits[other] & outside and not self.before[other] & outside:
                    seen.add(other)
                    found.append(other)
        return found


@lru_cache(maxsize=8)
def _twins(times_of: PartitionTimes) -> tuple[tuple[int, int], ...]:
    """Pairs of kernels that differ in nothing but the name, each with the next of its kind."""
    found, last = list[tuple[int, int]](), dict[object, int]()
    for number, kernel in enumerate(times_of.kernels):
        likeness = (
            (kernel.unit, kernel.rows, kernel.depth, kernel.columns, kernel.work, kernel.weight_bytes),
            (kernel.network_time, kernel.extra_bytes, kernel.pinned, kernel.forward),
            tuple((other, size) for other, size, *_ in times_of.inputs[number]),
            tuple((other, size) for other, size, *_ in times_of.outputs[number]),
        )
        if likeness in last:
            found.append((last[likeness], number))
        last[likeness] = number
    return tuple(found)
