"""The time of one repetition of a block for one micro-batch."""

from collections.abc import Mapping, Sequence

import numpy as np

from volvelle.estimators.collectives import NESTED
from volvelle.estimators.kernels import KernelTime, Sizes, counted, total
from volvelle.estimators.training.host_time import HostTimes
from volvelle.estimators.training.lines import DISPATCH, ONCE, REPEATED, REPEATED_HIDDEN, SLOWED, Line
from volvelle.estimators.training.overlaps import OVERLAPS, BlockWork
from volvelle.laws.copies import dequantisation_traffic
from volvelle.laws.nested_collectives import Tier, nested_all_to_all_time
from volvelle.laws.overlap import hidden_time, host_bound_time, overlap_slowdown_time
from volvelle.laws.roofline import kernel_time
from volvelle.mapping.actions import Exchange, Kernel
from volvelle.mapping.axes import CONTEXT, CUTTING, EXPERT, TENSOR, Axis
from volvelle.mapping.lowered_block import LoweredBlock
from volvelle.mapping.lowering import DEQUANTISATION
from volvelle.mapping.repeated_gathers import repeated_gathers
from volvelle.mapping.symbols import Term
from volvelle.quantities import Fraction, Number, is_plainly
from volvelle.workload.operations import Phase
from volvelle.workload.tensor_layout import Collective

_OTHER_MICRO_BATCH = "another micro-batch"
_EACH = tuple((phase,) for phase in Phase)
_SLOTS = ((Phase.FORWARD,), (Phase.RECOMPUTE, Phase.BACKWARD))
"""Phases that run as one: what is recomputed, and the backward pass that needs it."""


class BlockTime:
    """Seconds of one repetition of a block, by phase and by contribution.

    Exchanges of the tensor axis block, as far as no product beside them hides them, but for gathers that the backward
    pass repeats, which run behind its arithmetic. Exchanges of the other axes run behind what their declarations name
    (`overlaps`), where `beside` says for which mappings that is the whole block (another micro-batch).
    """

    def __init__(
        self,
        plan: LoweredBlock,
        kernels: Sequence[KernelTime],
        sizes: Sizes,
        tiers: Mapping[Axis, Sequence[Tier]],
        *,
        beside: Number = 0.0,
        host: HostTimes | None = None,
        plain_dispatch: Number = 1.0,
        communication_sm_share: Fraction = 0.0,
        tensor_exposure: Fraction = 1.0,
    ) -> None:
        self.plan = plan
        self.kernels = list(zip(plan.kernels, kernels, strict=True))
        self.exchanges = _timed_exchanges(plan, sizes, tiers, plain_dispatch)
        work = {phase: self._work(phase) for phase in Phase}
        self.weight_gradients = counted(timing.time for kernel, timing in self.kernels if kernel.only_weights)
        """Of kernels that nothing of the backward pass waits for."""
        self.per_step = counted(time for exchange, time in self.exchanges if exchange.per_step)
        blocking = {phase: self._exchanged(phase, TENSOR, repeated=False) for phase in Phase}
        self.exposure = tensor_exposure
        self.beside_products: Number = 0.0
        if not is_plainly(tensor_exposure, 1.0):
            self.beside_products = total(blocking.values()) * (1.0 - tensor_exposure)
            blocking = {phase: time * tensor_exposure for phase, time in blocking.items()}
        self.exposed: dict[Axis, Number] = {}
        self.behind: dict[Axis, Number] = {}
        self.hidden: dict[tuple[Axis, Phase], tuple[Number, Number]] = {}
        """Of `behind`, what is hidden where each phase is, and all that is exchanged there."""
        later: dict[Phase, Number] = dict.fromkeys(Phase, 0.0)
        slows = not is_plainly(communication_sm_share, 0.0)
        self.slowed: Number = 0.0
        for axis in CUTTING:
            if axis is TENSOR or axis not in tiers:
                continue
            self.exposed[axis], self.behind[axis] = 0.0, 0.0
            for phases in _SLOTS if axis.hides_behind == _OTHER_MICRO_BATCH else _EACH:
                hidden, exposed = self._overlapped(axis, phases, work, beside)
                later[phases[-1]] = later[phases[-1]] + exposed
                if slows:
                    # Kernels that end later do so while the rest of the exchange is waited for.
                    lost = overlap_slowdown_time(hidden, share=communication_sm_share)
                    self.slowed = self.slowed + np.maximum(lost - exposed, 0.0)
        repeated = self._exchanged(Phase.BACKWARD, TENSOR, repeated=True)
        self.gathers = self._behind_kernels(tiers)
        self.repeated_hidden: Number = counted(self.gathers.values())
        """What of each gather that the backward pass repeats runs behind kernels."""
        self.repeated_exposed: Number = repeated - self.repeated_hidden
        self.waiting: Number = 0.0
        self.idle: dict[Phase, Number] = {}
        """Of `waiting`, what each phase waits."""
        if host is not None:
            # While the host is behind, exchanges that the chip waits for run in its gaps.
            for phase in Phase:
                gathered = self.repeated_exposed if phase is Phase.BACKWARD else 0.0
                device = work[phase] + blocking[phase] + later[phase] + gathered
                idle = host_bound_time(device, host.prepares(plan, phase))
                work[phase] = work[phase] + idle
                self.idle[phase] = idle
                self.waiting = self.waiting + idle
        self.forward = work[Phase.FORWARD] + blocking[Phase.FORWARD] + later[Phase.FORWARD]
        self.backward_work = work[Phase.BACKWARD]
        again = work[Phase.RECOMPUTE] + blocking[Phase.RECOMPUTE] + later[Phase.RECOMPUTE]
        self.backward = (
            work[Phase.BACKWARD] + blocking[Phase.BACKWARD] + self.repeated_exposed + later[Phase.BACKWARD] + again
        )
        if slows:
            self.slowed = self.slowed + overlap_slowdown_time(
                self.repeated_hidden + self.beside_products, share=communication_sm_share
            )
        self.time = self.forward + self.backward + self.slowed

    def _overlapped(
        self, axis: Axis, phases: Sequence[Phase], work: Mapping[Phase, Number], beside: Number
    ) -> tuple[Number, Number]:
        """What of an axis's exchanges in phases that run as one hides behind their work, and what does not."""
        moved = counted(self._exchanged(phase, axis, repeated=again) for phase in phases for again in (False, True))
        done = BlockWork(
            whole=total(work[phase] for phase in phases),
            attention_core=total(self._core(phase) for phase in phases),
            beside=beside,
        )
        hidden = hidden_time(moved, OVERLAPS[axis.hides_behind](done))
        self.hidden |= {(axis, phase): (hidden, moved) for phase in phases}
        self.exposed[axis] = self.exposed[axis] + moved - hidden
        self.behind[axis] = self.behind[axis] + hidden
        return hidden, moved - hidden

    def exposed_time(self, exchange: Exchange, time: Number) -> Number:
        """What an exchange of so many seconds adds to the block: its share of what its axis and phase do not hide."""
        if exchange.per_step:
            return time
        if exchange.axis is not TENSOR:
            hidden, own = self.hidden[exchange.axis, exchange.phase]
        elif exchange.repeated_in_backward:
            hidden, own = self.gathers[id(exchange)], time
        else:
            return time * self.exposure
        return time * (1.0 - hidden / np.maximum(own, np.finfo(float).tiny))

    def _work(self, phase: Phase, *, attention_core: bool = False) -> Number:
        return counted(
            timing.time
            for kernel, timing in self.kernels
            if kernel.phase is phase and (kernel.attention_core or not attention_core)
        )

    def _behind_kernels(self, tiers: Mapping[Axis, Sequence[Tier]]) -> dict[int, Number]:
        """Gather that the backward pass repeats → seconds that it hides behind the kernels that run meanwhile."""
        if TENSOR not in tiers:
            return {}
        tasks = self.plan.tasks
        timed = iter(timing.time for _, timing in self.kernels)
        kernels = {place: next(timed) for place, task in enumerate(tasks) if isinstance(task.action, Kernel)}
        exchanged = {id(exchange): time for exchange, time in self.exchanges}
        found: dict[int, Number] = {}
        for gather in repeated_gathers(tasks):
            window = counted(kernels[place] for place in gather.behind)
            found[id(tasks[gather.place].action)] = hidden_time(exchanged[id(tasks[gather.place].action)], window)
        return found

    def _core(self, phase: Phase) -> Number:
        """Work that keys and values travel behind; positions swapped for heads are waited for."""
        swapped = any(one.axis is CONTEXT and one.collective is Collective.ALL_TO_ALL for one, _ in self.exchanges)
        return 0.0 if swapped else self._work(phase, attention_core=True)

    def _exchanged(self, phase: Phase, axis: Axis, *, repeated: bool) -> Number:
        return counted(
            time
            for exchange, time in self.exchanges
            if exchange.phase is phase
            and exchange.axis is axis
            and exchange.repeated_in_backward is repeated
            and not exchange.per_step
        )

    def _axis_line(self, axis: Axis, *, exposed: bool) -> Line:
        swapped = axis is CONTEXT and is_plainly(self._core(Phase.FORWARD), 0.0)
        name = "positions for heads and back" if swapped else axis.exchanges
        law = nested_all_to_all_time if swapped else NESTED[axis.by]
        return Line(name, axis.communication, exposed, law.__name__)

    def exchange_line(self, exchange: Exchange, *, exposed: bool = True) -> Line:
        """The contribution that an exchange's time is part of, as far as it is exposed or not."""
        if exchange.per_step:
            return ONCE
        if exchange.axis is not TENSOR:
            return self._axis_line(exchange.axis, exposed=exposed)
        if exchange.repeated_in_backward:
            return REPEATED if exposed else REPEATED_HIDDEN
        law = NESTED[exchange.collective].__name__
        return Line(f"{exchange.collective.value} of activations", TENSOR.communication, exposed, law)

    def lines(self) -> dict[Line, Number]:
        """The same time, by contribution."""
        found: dict[Line, Number] = {}

        def add(line: Line, time: Number) -> None:
            found[line] = found.get(line, 0.0) + time

        for kernel, timing in self.kernels:
            add(kernel_line(self.plan, kernel), timing.time)
        for exchange, time in self.exchanges:
            if exchange.axis is TENSOR and not exchange.repeated_in_backward and not exchange.per_step:
                add(self.exchange_line(exchange), time * self.exposure)
                if not is_plainly(self.exposure, 1.0):
                    add(self.exchange_line(exchange, exposed=False), time * (1.0 - self.exposure))
        add(DISPATCH, self.waiting)
        add(SLOWED, self.slowed)
        add(REPEATED, self.repeated_exposed)
        add(REPEATED_HIDDEN, self.repeated_hidden)
        for axis, time in self.exposed.items():
            add(self._axis_line(axis, exposed=True), time)
            add(self._axis_line(axis, exposed=False), self.behind[axis])
        return found

    def resources(self) -> dict[Line, str]:
        """What bounds each line of kernels: the resources of its kernels, longest first."""
        found: dict[Line, dict[str, float]] = {}
        most: dict[int, tuple[bool, float]] = {}
        for kernel, timing in self.kernels:
            if id(timing) not in most:
                bound = bool(np.max(timing.arithmetic) >= np.max(timing.memory))
                most[id(timing)] = bound, float(np.max(timing.time))
            computes, time = most[id(timing)]
            unit = "vector units" if kernel.matrix_work is None else "matrix units"
            resource = unit if computes else "memory"
            times = found.setdefault(kernel_line(self.plan, kernel), {})
            times[resource] = times.get(resource, 0.0) + time
        return {line: " and ".join(sorted(times, key=lambda name: -times[name])) for line, times in found.items()}


def _timed_exchanges(
    plan: LoweredBlock, sizes: Sizes, tiers: Mapping[Axis, Sequence[Tier]], plain_dispatch: Number
) -> list[tuple[Exchange, Number]]:
    """Exchanges over axes that are used, each with its seconds; equal ones are timed once."""
    timed: dict[tuple[Axis, Collective, Term], Number] = {}
    found: list[tuple[Exchange, Number]] = []
    for exchange in plan.exchanges:
        if exchange.axis in tiers:
            key = (exchange.axis, exchange.collective, exchange.size)
            if key not in timed:
                timed[key] = NESTED[exchange.collective](sizes(exchange.size), tiers[exchange.axis])
                if exchange.axis is EXPERT and not is_plainly(plain_dispatch, 1.0):
                    timed[key] = timed[key] * plain_dispatch
            found.append((exchange, timed[key]))
    return found


def kernel_line(plan: LoweredBlock, kernel: Kernel) -> Line:
    """The contribution that a kernel's time is part of."""
    if kernel.phase is Phase.RECOMPUTE:
        return Line("recomputation", "recomputation", True, kernel_time.__name__)
    if kernel.unpacks:
        return Line(f"{plan.name}: {DEQUANTISATION}", DEQUANTISATION, True, dequantisation_traffic.__name__)
    return Line(f"{plan.name}: {kernel.name}", kernel.part, True, kernel_time.__name__)
