"""What a block does one thing after another, each with the seconds that the closed form gives it.

The order is the program's. How an exchange runs beside computation follows what the closed form says of its axis.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

import numpy as np

from volvelle.estimators.event_driven.moved import Computed, Group, Moved
from volvelle.estimators.event_driven.stretch import AS_PRICED, Stretch
from volvelle.estimators.kernels import Sizes
from volvelle.estimators.training.block_time import BlockTime, kernel_line
from volvelle.estimators.training.lines import DISPATCH, SLOWED, Line
from volvelle.laws.overlap import overlap_slowdown_time
from volvelle.mapping.actions import Exchange, Kernel
from volvelle.mapping.axes import CONTEXT, TENSOR, Axis
from volvelle.mapping.program import Task
from volvelle.mapping.repeated_gathers import repeated_gathers
from volvelle.mapping.schedule import Work
from volvelle.quantities import Number
from volvelle.workload.operations import Phase
from volvelle.workload.tensor_layout import Collective


class How(Enum):
    """How a step stands to those around it."""

    KERNEL = auto()
    GATHERED_KERNEL = auto()
    """Reads what was gathered again."""
    CORE_KERNEL = auto()
    """Of the attention core, behind which exchanges of keys and values run."""
    BLOCKING = auto()
    """An exchange that waits for all before it, and is waited for by all after it."""
    BEHIND_KERNEL = auto()
    """A gather that may start with the kernel before it, and is waited for by those that read it."""
    BEHIND_CORE = auto()
    """An exchange that runs beside the attention core."""
    MADE_BY_CORE = auto()
    """One of what the core makes, which leaves part by part while it runs."""
    BEHIND_BLOCK = auto()
    """An exchange that runs beside all that the block does in a phase, while another micro-batch is worked on."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that a block does."""

    name: str
    line: Line
    how: How
    axis: Axis | None
    """Of an exchange."""
    seconds: float
    moved: Moved | None = None
    computed: Computed | None = None


class _Timed(NamedTuple):
    """A task with its seconds."""

    task: Task
    seconds: float
    only_weights: bool
    """Only weight gradients come of it."""
    traffic: float = 0.0
    """Of a kernel."""


WORKS: dict[Work, tuple[Phase, ...]] = {
    Work.FORWARD: (Phase.FORWARD,),
    Work.BACKWARD: (Phase.RECOMPUTE, Phase.BACKWARD),
    Work.INPUT_GRADIENTS: (Phase.RECOMPUTE, Phase.BACKWARD),
    Work.WEIGHT_GRADIENTS: (Phase.BACKWARD,),
}


def one(value: Number) -> float:
    """The value of a single row."""
    return float(np.max(value))


class BlockSteps:
    """Steps of one repetition of a block under one mapping, by what is done with a micro-batch."""

    def __init__(
        self,
        time: BlockTime,
        groups: Mapping[Axis, Group],
        sizes: Sizes,
        *,
        beside: bool,
        sm_share: float,
        stretch: Stretch = AS_PRICED,
    ) -> None:
        self.time = time
        self._stretch = stretch
        self._groups = groups
        self._sizes = sizes
        self._beside = beside
        self._sm_share = sm_share
        swaps = (
            exchange.axis is CONTEXT and exchange.collective is Collective.ALL_TO_ALL for exchange, _ in time.exchanges
        )
        self._swapped = any(swaps)
        self._timed = self._with_times()
        self.works = {work: tuple(self._of(work)) for work in Work}
        self.per_step = one(time.per_step) * stretch.of(TENSOR)
        """Seconds of exchanges once a step, after the last backward."""
        self.moved_per_step = tuple(
            self._moved(exchange, one(seconds) * stretch.of(TENSOR))
            for exchange, seconds in time.exchanges
            if exchange.per_step
        )

    def _with_times(self) -> list[_Timed]:
        """Tasks that take time, with their seconds and whether only weight gradients come of them."""
        kernels = iter(timing for _, timing in self.time.kernels)
        exchanges = iter(seconds for _, seconds in self.time.exchanges)
        tasks = self.time.plan.tasks
        readers: dict[int, list[Task]] = {}
        for task in tasks:
            for before in task.after:
                readers.setdefault(before, []).append(task)

        def only_weights(task: Task) -> bool:
            return isinstance(task.action, Kernel) and task.action.only_weights

        # Projections that share a gather run as one: gradients of their inputs, then of their weights.
        later = {reader: max(gather.readers) for gather in repeated_gathers(tasks) for reader in gather.readers}
        self._gathered = {id(tasks[reader]) for reader in later}
        found: list[tuple[tuple[int, int], _Timed]] = []
        for place, task in enumerate(tasks):
            action, order = task.action, (later.get(place, place), place)
            if isinstance(action, Kernel):
                timing = next(kernels)
                found.append((order, _Timed(task, one(timing.time), action.only_weights, one(timing.traffic))))
            elif isinstance(action, Exchange) and action.axis in self._groups:
                seconds = one(next(exchanges))
                if not action.per_step:
                    waiting = readers.get(place, [])
                    found.append((order, _Timed(task, seconds, bool(waiting) and all(map(only_weights, waiting)))))
        return [timed for _, timed in sorted(found, key=lambda each: each[0])]

    def _of(self, work: Work) -> Iterator[Step]:
        slowed = 0.0
        for task, seconds, only_weights, traffic in self._timed:
            action = task.action
            if task.phase not in WORKS[work]:
                continue
            if work in (Work.INPUT_GRADIENTS, Work.WEIGHT_GRADIENTS) and only_weights is (work is Work.INPUT_GRADIENTS):
                continue
            if isinstance(action, Kernel):
                how = How.CORE_KERNEL if action.attention_core else How.KERNEL
                how = How.GATHERED_KERNEL if id(task) in self._gathered else how
                works = (action.matrix_work, action.vector_work)
                flop = sum(one(self._sizes(term)) for term in works if term is not None)
                line = kernel_line(self.time.plan, action)
                yield Step(action.name, line, how, None, seconds, computed=Computed(flop, traffic))
            elif isinstance(action, Exchange):
                exposed = one(self.time.exposed_time(action, seconds))
                slowed += float(overlap_slowdown_time(seconds - exposed, share=self._sm_share))
                how = self._how(task)
                waited = exposed if how is How.BLOCKING else seconds
                if waited > 0.0:
                    name = f"{action.collective.value} over {action.axis.name}"
                    waited *= self._stretch.of(action.axis)
                    line, moved = self.time.exchange_line(action), self._moved(action, waited)
                    yield Step(name, line, how, action.axis, waited, moved)
        if slowed > 0.0:
            yield Step(SLOWED.name, SLOWED, How.KERNEL, None, slowed)
        idle = sum(one(self.time.idle.get(phase, 0.0)) for phase in WORKS[work])
        if idle > 0.0 and work is not Work.WEIGHT_GRADIENTS:
            yield Step(DISPATCH.name, DISPATCH, How.KERNEL, None, idle)

    def _moved(self, exchange: Exchange, seconds: float) -> Moved:
        return Moved(exchange.collective, one(self._sizes(exchange.size)), self._groups[exchange.axis], seconds)

    def _how(self, task: Task) -> How:
        exchange = task.action
        assert isinstance(exchange, Exchange), "kernels are told apart elsewhere"
        if exchange.axis is TENSOR:
            return How.BEHIND_KERNEL if exchange.repeated_in_backward else How.BLOCKING
        if exchange.axis.hides_behind == "attention core" and not self._swapped:
            makers = (self.time.plan.tasks[place].action for place in task.after)
            made = any(isinstance(maker, Kernel) and maker.attention_core for maker in makers)
            return How.MADE_BY_CORE if made else How.BEHIND_CORE
        behind = exchange.axis.hides_behind == "another micro-batch" and self._beside
        return How.BEHIND_BLOCK if behind else How.BLOCKING
