"""When nothing fits: by how much, and the smallest changes with which something would, each as a command."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from volvelle.errors import MappingError
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.mapping.parallelism import CHOICES
from volvelle.search.exhaustive import Ranked, Ranking, lightest, search
from volvelle.search.space import Space
from volvelle.system.cluster import Cluster
from volvelle.verbs.training_step import lighter_steps
from volvelle.workload.training import TrainingStep

_DOUBLINGS = 10
"""How often a machine is made twice as large in search of one that is large enough."""
_COUNTS = 40
"""Machines between too small and large enough that are looked at one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WayOut:
    """A change with which something fits."""

    command: str
    accelerators: int
    time: float
    memory_bytes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadEnd:
    """Nothing fits: the layout that needs least, and what would change that."""

    lightest: Ranked | None
    ways_out: tuple[WayOut, ...]


def dead_end(
    command: str,
    space: Space,
    step: TrainingStep,
    cluster: Cluster,
    *,
    machine: Callable[[int], Cluster] | None,
) -> DeadEnd:
    """What to do about a plan with no layout; `machine` gives the same kind of machine with other counts."""
    estimator = ClosedForm()
    ways: list[WayOut] = []
    both: dict[str, Any] = {choice.name: (False, True) for choice in CHOICES if choice.listed == "offload"}
    hosted = replace(space, **both)
    if cluster.host_rate is not None and cluster.host_memory is not None and hosted != space:
        ways += _way(f"{command} --on {cluster.name} --offload", hosted, step, cluster)
    for options, lighter in lighter_steps(step):
        ways += _way(f"{command} --on {cluster.name} {options}", space, lighter, cluster)
    if machine is not None:
        larger = _large_enough(space, step, cluster, machine)
        if larger is not None:
            ways += _way(f"{command} --on {larger.name}", space, step, larger)
    return DeadEnd(lightest=lightest(space, step, cluster, estimator), ways_out=tuple(ways))


def _way(command: str, space: Space, step: TrainingStep, cluster: Cluster) -> Iterable[WayOut]:
    found = _fitting(space, step, cluster)
    if found is not None:
        best = found.best[0]
        yield WayOut(command=command, accelerators=cluster.accelerators, time=best.time, memory_bytes=best.memory)


def _fitting(space: Space, step: TrainingStep, cluster: Cluster) -> Ranking | None:
    """The ranking, where something fits and divides."""
    try:
        found = search(space, step, cluster, ClosedForm(), top=1)
    except MappingError:
        return None
    return found if found.best else None


def _large_enough(
    space: Space, step: TrainingStep, cluster: Cluster, machine: Callable[[int], Cluster]
) -> Cluster | None:
    """The same machine with the fewest accelerators, by whole units, on which something fits."""
    unit = cluster.dimensions[0].size
    below = cluster.accelerators
    for _ in range(_DOUBLINGS):
        above = 2 * below
        if _fitting(space, step, machine(above)) is not None:
            break
        below = above
    else:
        return None
    counts = range((below // unit + 1) * unit, above, unit)
    for count in counts if len(counts) <= _COUNTS else ():
        if _fitting(space, step, machine(count)) is not None:
            return machine(count)
    return machine(above)
