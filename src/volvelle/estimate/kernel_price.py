"""Prices of kernels: roofline on the sizes that one structure's terms take for a table of mappings."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from volvelle.estimate.block_plan import Kernel, Term
from volvelle.estimate.machine import Machine
from volvelle.laws.roofline import kernel_time
from volvelle.laws.traffic import tiled_traffic
from volvelle.quantities import Bytes, Number

__all__ = ["KernelPrices", "Sizes", "counted", "total"]


def total(values: Iterable[Number]) -> Number:
    """Sum of numbers or columns."""
    found: Number = 0.0
    for value in values:
        found = found + value
    return found


def counted(times: Iterable[Number]) -> Number:
    """Sum of times, equal ones multiplied instead of added: many kernels share one price."""
    counts: dict[int, tuple[Number, int]] = {}
    for time in times:
        known = counts.get(id(time), (time, 0))
        counts[id(time)] = (time, known[1] + 1)
    found: Number = 0.0
    for time, count in counts.values():
        found = found + (time if count == 1 else count * time)
    return found


class Sizes:
    """Values of terms, each product of powers computed once."""

    def __init__(self, micro_batch: Number, tensor: Number) -> None:
        share = 1.0 / tensor
        self._micro_batch = micro_batch
        self._share = share
        self._powers: dict[tuple[int, int], Number] = {
            (0, 0): 1.0,
            (1, 0): micro_batch,
            (0, 1): share,
            (1, 1): micro_batch * share,
        }

    def power(self, key: tuple[int, int]) -> Number:
        """batch^b · (1/tensor)^s."""
        if key not in self._powers:
            self._powers[key] = self._micro_batch ** float(key[0]) * self._share ** float(key[1])
        return self._powers[key]

    def __call__(self, term: Term) -> Number:
        """Value of one term."""
        return term.coefficient if term.powers == (0, 0) else term.coefficient * self.power(term.powers)

    def total(self, terms: Sequence[Term]) -> Number:
        """Value of a sum of terms."""
        found: Number = 0.0
        for term in terms:
            found = found + self(term)
        return found


class KernelPrices:
    """Times of kernels; two that do the same work on the same sizes are priced once."""

    def __init__(self, sizes: Sizes, machine: Machine, *, alone: bool) -> None:
        self._sizes = sizes
        self._machine = machine
        self._alone = alone
        self._known: dict[object, tuple[Number, Number, Number]] = {}

    def price(self, kernel: Kernel) -> tuple[Number, Number, Number]:
        """Time, and what arithmetic and memory would take alone (zero unless asked for)."""
        product = None if kernel.product is None else (*sorted(kernel.product[:2]), kernel.product[2])
        key = (kernel.matrix_work, kernel.vector_work, product, kernel.instances, kernel.traffic)
        if key not in self._known:
            self._known[key] = self._price(kernel)
        return self._known[key]

    def _price(self, kernel: Kernel) -> tuple[Number, Number, Number]:
        traffic = self._traffic(kernel)
        if not isinstance(traffic, tuple):
            return self._roofline(kernel, self._sizes, traffic)
        works = [work for work in (kernel.matrix_work, kernel.vector_work) if work is not None]
        powers = {term.powers for term in (*works, *traffic)}
        if len(powers) > 1:
            return self._roofline(kernel, self._sizes, self._sizes.total(traffic))
        # Everything grows alike, so the law is asked once and its answer scaled.
        scale = self._sizes.power(powers.pop())
        moved = sum(term.coefficient for term in traffic)
        time, arithmetic, memory = self._roofline(kernel, lambda term: term.coefficient, moved)
        return time * scale, arithmetic * scale, memory * scale

    def _roofline(
        self, kernel: Kernel, value: Callable[[Term], Number], traffic: Bytes
    ) -> tuple[Number, Number, Number]:
        machine = self._machine
        vector = 0.0 if kernel.vector_work is None else value(kernel.vector_work)
        if kernel.matrix_work is None:
            work, rate = vector, machine.vector_rate
        else:
            work, rate = value(kernel.matrix_work), machine.matrix_rate
        time = kernel_time(work, traffic, compute_rate=rate, memory_rate=machine.memory_rate)
        if kernel.matrix_work is not None and kernel.vector_work is not None:
            time = np.maximum(time, vector / machine.vector_rate)
        if not self._alone:
            return time, 0.0, 0.0
        return time, work / rate, traffic / machine.memory_rate

    def _traffic(self, kernel: Kernel) -> tuple[Term, ...] | Bytes:
        """Bytes moved: as terms where they are proportional to powers, as a value where the buffer decides."""
        if kernel.product is None:
            return kernel.traffic
        first, second, result = kernel.product
        buffer = self._machine.buffer
        if first.powers == second.powers == result.powers == (0, 0) and not isinstance(buffer, np.ndarray):
            each = float(tiled_traffic(first.coefficient, second.coefficient, result.coefficient, buffer=buffer))
            return (Term(each * kernel.instances.coefficient, kernel.instances.batch, kernel.instances.share),)
        sizes = self._sizes
        each_instance = tiled_traffic(sizes(first), sizes(second), sizes(result), buffer=buffer)
        return each_instance if kernel.instances == Term(1.0) else each_instance * sizes(kernel.instances)
