"""Times of kernels: roofline on the sizes that one structure's terms take for a table of mappings."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from volvelle.estimators.rates import SustainedRates
from volvelle.laws.copies import cast_traffic, dequantisation_traffic
from volvelle.laws.matrix_product import depth_efficiency, wave_efficiency
from volvelle.laws.roofline import kernel_time
from volvelle.laws.traffic import tiled_traffic
from volvelle.mapping.actions import Kernel
from volvelle.mapping.axes import CUTTING
from volvelle.mapping.parallelism import CHOICES, MappingTable
from volvelle.mapping.symbols import MICRO_BATCH, Powers, Term
from volvelle.quantities import Bytes, Fraction, Number, is_plainly

_ONE: Powers = ()
_RARE = frozenset(choice.name for choice in CHOICES if choice.rare)


def total(values: Iterable[Number]) -> Number:
    """Sum of numbers or columns."""
    found: Number = 0.0
    for value in values:
        found = found + value
    return found


def counted(times: Iterable[Number]) -> Number:
    """Sum of times, equal ones multiplied instead of added: many kernels share one time."""
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

    def __init__(self, table: MappingTable) -> None:
        self._symbols: dict[str, Number] = {MICRO_BATCH: table.micro_batch}
        for axis in CUTTING:
            self._symbols[axis.name] = _share(getattr(table, axis.name), look=axis.name in _RARE)
        self._powers: dict[Powers, Number] = {_ONE: 1.0}

    def power(self, powers: Powers) -> Number:
        """The product of powers of symbols: the micro-batch, and one chip's share along each axis."""
        if powers not in self._powers:
            value: Number = 1.0
            for symbol, power in powers:
                base = self._symbols[symbol]
                if not is_plainly(base, 1.0):
                    value = value * (base if power == 1 else base ** float(power))
            self._powers[powers] = value
        return self._powers[powers]

    def __call__(self, term: Term) -> Number:
        """Value of one term."""
        return term.coefficient if term.powers == _ONE else term.coefficient * self.power(term.powers)

    def total(self, terms: Sequence[Term]) -> Number:
        """Value of a sum of terms."""
        return total(self(term) for term in terms)


def _share(degree: Number, *, look: bool) -> Number:
    """1 / degree; a plain one where nothing is shared, if it is looked for, so that it costs nothing."""
    return 1.0 if look and np.all(degree == 1.0) else 1.0 / degree


@dataclass(frozen=True, slots=True)
class KernelTime:
    """Seconds of a kernel, what arithmetic and memory would take alone, and bytes moved (zero unless asked for)."""

    time: Number
    arithmetic: Number = 0.0
    memory: Number = 0.0
    traffic: Number = 0.0


class KernelTimes:
    """Times of kernels; two that do the same work on the same sizes are timed once."""

    def __init__(self, sizes: Sizes, machine: SustainedRates, *, alone: bool, narrow_attention: Number = 0.0) -> None:
        self._sizes = sizes
        self._narrow = narrow_attention > 0 if np.any(narrow_attention > 0) else None
        self._machine = machine
        self._alone = alone
        self._known: dict[Hashable, KernelTime] = {}

    def time_of(self, kernel: Kernel) -> KernelTime:
        """The kernel's time, from an equal one where there was one."""
        work = (kernel.work, kernel.keep_16bit and self._machine.cast is not None)
        if work not in self._known:
            self._known[work] = self._time_of(kernel)
        return self._known[work]

    def times_of(self, kernels: Sequence[Kernel], works: Sequence[int]) -> list[KernelTime]:
        """Times of kernels whose equal works have equal numbers."""
        for kernel, work in zip(kernels, works, strict=True):
            if work not in self._known:
                self._known[work] = self._time_of(kernel)
        return [self._known[work] for work in works]

    def _time_of(self, kernel: Kernel) -> KernelTime:
        traffic = self._traffic(kernel)
        shape = self._shape_efficiency(kernel)
        if not isinstance(traffic, tuple):
            return self._with_casts(kernel, self._roofline(kernel, self._sizes, traffic, shape))
        works = [work for work in (kernel.matrix_work, kernel.vector_work) if work is not None]
        powers = {term.powers for term in (*works, *traffic)}
        if len(powers) > 1 or not isinstance(shape, float):
            return self._roofline(kernel, self._sizes, self._sizes.total(traffic), shape)
        # Everything grows alike, so the law is asked once and its answer scaled.
        scale = self._sizes.power(powers.pop())
        moved = sum(term.coefficient for term in traffic)
        unit = self._roofline(kernel, lambda term: term.coefficient, moved, shape, launch_time=0.0)
        time = unit.time * scale
        if not is_plainly(self._machine.kernel_launch_time, 0.0):
            time = time + self._machine.kernel_launch_time
        if not self._alone:
            return KernelTime(time)
        return KernelTime(time, unit.arithmetic * scale, unit.memory * scale, unit.traffic * scale)

    def _with_casts(self, kernel: Kernel, timing: KernelTime) -> KernelTime:
        """The product after its operands have been cast, where the machine multiplies narrower than it stores."""
        cast = self._machine.cast
        if cast is None or kernel.keep_16bit or kernel.product is None:
            return timing
        first, second, _ = kernel.product
        operands = (self._sizes(first) + self._sizes(second)) * self._sizes(kernel.instances)
        moved = cast_traffic(operands, wide_each=1.0, narrow_each=cast)
        traffic = timing.traffic + moved if self._alone else 0.0
        return replace(timing, time=timing.time + moved / self._machine.memory_rate, traffic=traffic)

    def _roofline(
        self,
        kernel: Kernel,
        value: Callable[[Term], Number],
        traffic: Bytes,
        shape: Fraction,
        *,
        launch_time: Number | None = None,
    ) -> KernelTime:
        machine = self._machine
        vector = 0.0 if kernel.vector_work is None else value(kernel.vector_work)
        if kernel.matrix_work is None:
            work, rate = vector, machine.vector_rate
        else:
            work = value(kernel.matrix_work)
            rate = machine.wide_matrix_rate if kernel.keep_16bit else machine.matrix_rate
            if kernel.attention_core and self._narrow is not None:
                rate = np.where(self._narrow, machine.matrix_rate, rate)
            if kernel.attention_core and kernel.product is None:
                rate = rate * machine.attention_efficiency
                if not is_plainly(machine.attention_kv_half, 0.0):
                    rate = rate * depth_efficiency(self._sizes(kernel.depth), half=machine.attention_kv_half)
            if not is_plainly(shape, 1.0):
                rate = rate * shape
        time = kernel_time(work, traffic, compute_rate=rate, memory_rate=machine.memory_rate)
        if kernel.matrix_work is not None and kernel.vector_work is not None:
            time = np.maximum(time, vector / machine.vector_rate)
        launch_time = machine.kernel_launch_time if launch_time is None else launch_time
        if not is_plainly(launch_time, 0.0):
            time = time + launch_time
        if not self._alone:
            return KernelTime(time)
        return KernelTime(time, work / rate, traffic / machine.memory_rate, traffic)

    def _shape_efficiency(self, kernel: Kernel) -> Fraction:
        """Return how well a matrix product's shape fills the chip; 1 on a chip without units or a fitted tile."""
        machine, sizes = self._machine, self._sizes
        if machine.units is None or machine.tile is None or kernel.product is None:
            return 1.0
        filled = wave_efficiency(
            sizes(kernel.rows),
            sizes(kernel.columns),
            sizes(kernel.instances),
            units=machine.units,
            tile=machine.tile,
        )
        found = filled * depth_efficiency(sizes(kernel.depth), half=machine.gemm_k_half)
        return float(found) if np.ndim(found) == 0 else found

    def _traffic(self, kernel: Kernel) -> tuple[Term, ...] | Bytes:
        """Bytes moved: as terms where they are proportional to powers, as a value where the buffer decides."""
        if kernel.unpacks:
            kept, copy = kernel.traffic
            return dequantisation_traffic(self._sizes(kept), self._sizes(copy))
        if kernel.product is None:
            return kernel.traffic
        first, second, result = kernel.product
        buffer = self._machine.buffer
        if first.powers == second.powers == result.powers == _ONE and np.ndim(buffer) == 0:
            each = float(tiled_traffic(first.coefficient, second.coefficient, result.coefficient, buffer=buffer))
            return (Term(each * kernel.instances.coefficient, kernel.instances.powers),)
        sizes = self._sizes
        each_instance = tiled_traffic(sizes(first), sizes(second), sizes(result), buffer=buffer)
        return each_instance if kernel.instances == Term(1.0) else each_instance * sizes(kernel.instances)
