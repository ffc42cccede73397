"""A block as a program: what runs in which order, what each task waits for, and how long every tensor lives.

Tasks are added in an order in which they can run. Each names the values it reads and writes; what it has to wait for
and when a value can be freed follow from that, for every consumer alike: a sum of times, a search over sets of
kernels, a replay on chips and networks.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from volvelle.mapping.actions import Action, Exchange, Kernel
from volvelle.mapping.symbols import Term
from volvelle.workload.operations import Phase


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One thing that runs, and what it waits for."""

    action: Action | None
    """A kernel, a collective or a transfer; None: a pointwise operation inside a neighbour's kernel, free of charge."""
    phase: Phase
    operations: tuple[str, ...]
    """Operations of the workload that it carries out; none for a collective or a transfer."""
    reads: tuple[int, ...]
    """Values, by their place among the program's lifetimes."""
    writes: tuple[int, ...]
    after: tuple[int, ...]
    """Tasks that make what it reads, by their place in the program: the edges."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifetime:
    """A tensor in memory, from the task that makes it to the last that reads it."""

    tensor: str
    copy: str
    """Empty for the tensor as it was made, otherwise the collective that made this copy of it."""
    size: Term
    """Bytes on one chip."""
    born: Phase
    """The phase in which it is made or handed to the block."""
    made: int | None
    """The task that makes it; None: the block is handed it."""
    freed: int | None
    """The last task that reads it; None: nothing in the block does, so it leaves with the block or at once."""


class ProgramBuilder:
    """Puts tasks one after another, each behind the tasks whose values it reads."""

    def __init__(self) -> None:
        self._tasks: list[Task] = []
        self._values: list[Lifetime] = []
        self._last: dict[int, int] = {}
        self._current: dict[tuple[str, str], int] = {}

    def enter(self, tensor: str, size: Term, phase: Phase) -> None:
        """A tensor that the block is handed when a phase begins."""
        self._value(tensor, "", size, phase, None)

    def has(self, tensor: str, copy: str, phase: Phase) -> bool:
        """Whether a copy of a tensor was made in a phase."""
        value = self._current.get((tensor, copy))
        return value is not None and self._values[value].born is phase

    def add(
        self,
        action: Action | None,
        phase: Phase,
        *,
        operations: Iterable[str] = (),
        reads: Iterable[tuple[str, str]],
        writes: Iterable[tuple[str, str, Term]],
    ) -> None:
        """Another task; values are tensors and their copies, and what is read but not there is held from before."""
        place = len(self._tasks)
        read = tuple(dict.fromkeys(self._current[key] for key in reads if key in self._current))
        makers = (self._values[value].made for value in read)
        self._last.update(dict.fromkeys(read, place))
        self._tasks.append(
            Task(
                action=action,
                phase=phase,
                operations=tuple(operations),
                reads=read,
                writes=tuple(self._value(tensor, copy, size, phase, place) for tensor, copy, size in writes),
                after=tuple(sorted({maker for maker in makers if maker is not None})),
            )
        )

    def _value(self, tensor: str, copy: str, size: Term, phase: Phase, made: int | None) -> int:
        place = len(self._values)
        self._values.append(Lifetime(tensor=tensor, copy=copy, size=size, born=phase, made=made, freed=None))
        self._current[tensor, copy] = place
        return place

    def program(self) -> tuple[tuple[Task, ...], tuple[Lifetime, ...]]:
        """The tasks in order, and the values they read and write."""
        values = enumerate(self._values)
        return tuple(self._tasks), tuple(replace(value, freed=self._last.get(place)) for place, value in values)


def saved_values(tasks: Sequence[Task], lifetimes: Sequence[Lifetime]) -> list[Lifetime]:
    """What is kept for the backward pass: there or made in the forward pass, read after it; each tensor once."""
    kept: dict[str, Lifetime] = {}
    for value in lifetimes:
        if value.born is Phase.FORWARD and _last_phase(tasks, value) is not Phase.FORWARD:
            kept.setdefault(value.tensor, value)
    return list(kept.values())


def saved_for_products(tasks: Sequence[Task], lifetimes: Sequence[Lifetime]) -> list[Lifetime]:
    """Those of the saved values that only products read again: such as are kept in the type of the products."""
    others = {
        lifetimes[value].tensor
        for task in tasks
        if task.phase is not Phase.FORWARD and not _multiplies(task.action)
        for value in task.reads
        if lifetimes[value].born is Phase.FORWARD
    }
    return [value for value in saved_values(tasks, lifetimes) if value.tensor not in others]


def _multiplies(action: Action | None) -> bool:
    """Whether it is a product that may be narrow, or brings something to one."""
    if isinstance(action, Kernel):
        return action.product is not None and not action.keep_16bit
    return isinstance(action, Exchange)


def working_values(tasks: Sequence[Task], lifetimes: Sequence[Lifetime]) -> list[Lifetime]:
    """What recomputation makes and the backward pass reads; each tensor once."""
    kept: dict[str, Lifetime] = {}
    for value in lifetimes:
        if value.born is Phase.RECOMPUTE and _last_phase(tasks, value) is Phase.BACKWARD:
            kept.setdefault(value.tensor, value)
    return list(kept.values())


def _last_phase(tasks: Sequence[Task], value: Lifetime) -> Phase:
    return value.born if value.freed is None else tasks[value.freed].phase
