"""Gathers that the backward pass repeats: which kernels read what is gathered, and which run meanwhile.

What was gathered for a projection is let go after the forward pass and gathered again for the weight's gradient. The
gather is sent off with the gradient of the projection's input, which does not need it; projections that read the same
tensor (queries, keys and values; gate and up) run as one, so that it has all of their input gradients to hide behind.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from volvelle.mapping.actions import Exchange, Kernel
from volvelle.mapping.axes import TENSOR
from volvelle.mapping.program import Task
from volvelle.workload.operations import Phase


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedGather:
    """One of them, by places of tasks in their block."""

    place: int
    readers: tuple[int, ...]
    """Kernels that make only weight gradients, of what is gathered."""
    behind: tuple[int, ...]
    """Kernels that run while it does."""


def repeated_gathers(tasks: Sequence[Task]) -> Iterator[RepeatedGather]:
    """Those along the tensor axis; one that other kernels read too hides behind the kernel before it."""
    for place, task in enumerate(tasks):
        action = task.action
        if not (isinstance(action, Exchange) and action.axis is TENSOR and action.repeated_in_backward):
            continue
        reading = [other for other, later in enumerate(tasks) if place in later.after]
        readers = tuple(other for other in reading if _only_weights(tasks[other]))
        until = max(readers) if len(readers) == len(reading) and readers else place
        first = next((other for other in range(place - 1, -1, -1) if _computes(tasks[other])), place)
        behind = tuple(other for other in range(first, until) if other not in readers and _computes(tasks[other]))
        yield RepeatedGather(place=place, readers=readers if until > place else (), behind=behind)


def _computes(task: Task) -> bool:
    return isinstance(task.action, Kernel) and task.phase is Phase.BACKWARD


def _only_weights(task: Task) -> bool:
    return isinstance(task.action, Kernel) and task.action.only_weights
