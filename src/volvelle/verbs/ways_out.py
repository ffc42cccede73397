"""When nothing fits: by how much, and the smallest changes with which something would, each as a command."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np

from volvelle.applications.training.training_step import lighter_steps
from volvelle.catalogue import Catalogue
from volvelle.catalogue.prices import owned_costs
from volvelle.catalogue.stacks import stacks_run_on
from volvelle.economics.step_cost import TimedStep
from volvelle.errors import MappingError, VolvelleError
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.search.exhaustive import Ranked, fastest, lightest, search
from volvelle.search.space import Space
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep

_DOUBLINGS = 10
"""How often a machine is made twice as large in search of one that is large enough."""
_COUNTS = 40
"""Machines between too small and large enough that are looked at one by one."""
_OTHERS = 3
"""Machines of other chips that are looked at, the smallest memory first."""
_ENOUGH = 20_000
"""Layouts after which the fastest so far will do: a way out need not be the best."""

Made = Callable[[str], Cluster]
"""A machine by name, with the margin and software that were asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WayOut:
    """A change with which something fits."""

    command: str
    accelerators: int
    time: float
    """Of a layout that fits; the command may find a faster one."""
    memory_bytes: float
    usd: float | None
    """A step, by what the machine costs to own; None: no price is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadEnd:
    """Nothing fits: the layout that needs least, and what would change that."""

    lightest: Ranked | None
    ways_out: tuple[WayOut, ...]
    """Those whose step costs least first, those of unknown cost last."""


def dead_end(
    command: str,
    space: Space,
    step: TrainingStep,
    cluster: Cluster,
    *,
    catalogue: Catalogue,
    machine: Made | None,
) -> DeadEnd:
    """What to do about a plan with no layout; `machine` gives machines by name, None: the one asked about has none."""
    least = lightest(space, step, cluster, ClosedForm())
    ways = [*_hosted(command, space, step, cluster)]
    for options, lighter in lighter_steps(step):
        ways += _way(f"{command} --on {cluster.name} {options}", lighter, cluster, _found(space, lighter, cluster))
    if machine is not None and least is not None:
        ways += _larger(command, space, step, cluster, machine, least.memory)
        ways += _with_other_chips(command, space, step, cluster, machine, catalogue, least.memory)
    ways.sort(key=lambda way: (way.usd is None, way.usd))
    return DeadEnd(lightest=least, ways_out=tuple(ways))


def _hosted(command: str, space: Space, step: TrainingStep, cluster: Cluster) -> Iterator[WayOut]:
    """The same machine with host memory: as little in it as is enough."""
    names = ("offload_optimiser", "offload_weights", "offload_activations")
    if cluster.host_rate is None or cluster.host_memory is None or all(True in getattr(space, name) for name in names):
        return
    there: dict[str, Any] = {}
    for name in names:
        there[name] = (True,)
        found = _found(replace(space, **there), step, cluster)
        if found is not None:
            yield from _way(f"{command} --on {cluster.name} --offload", step, cluster, found)
            return


def _larger(
    command: str, space: Space, step: TrainingStep, cluster: Cluster, machine: Made, least: float
) -> Iterator[WayOut]:
    """The same kind of machine with the fewest accelerators, by whole units, on which something fits.

    One doubling saves as many bytes as all that follow; where that is not enough, no more are tried.
    """
    kind, unit = cluster.name.partition("/")[0], cluster.dimensions[0].size
    below, held = cluster.accelerators, least
    for _ in range(_DOUBLINGS):
        larger = machine(f"{kind}/{2 * below}")
        try:
            ranking = search(space, step, larger, ClosedForm(), top=1)
        except MappingError:
            return
        if ranking.best:
            above = larger, ranking.best[0]
            break
        if inf > 2 * ranking.lightest - held > float(np.max(larger.chip.capacity)):
            return
        below, held = 2 * below, ranking.lightest
    else:
        return
    between = range((below // unit + 1) * unit, 2 * below, unit)
    machines = (machine(f"{kind}/{count}") for count in (between if len(between) <= _COUNTS else ()))
    tried = ((larger, _found(space, step, larger)) for larger in machines)
    larger, found = next((pair for pair in tried if pair[1] is not None), above)
    yield from _way(f"{command} --on {larger.name}", step, larger, found)


def _with_other_chips(
    command: str,
    space: Space,
    step: TrainingStep,
    cluster: Cluster,
    machine: Made,
    catalogue: Catalogue,
    least: float,
) -> Iterator[WayOut]:
    """As many chips of another kind that runs were timed on, in machines of a like name (``dgx-h100``, ``dgx-b200``).

    Those with the smallest memory that may be enough come first.
    """
    enough: dict[str, tuple[float, str]] = {}
    words = cluster.name.partition("/")[0].split("-")
    like = [
        name
        for name in catalogue.names("clusters")
        if name.split("-")[0] == words[0] or name.split("-")[-1] == words[-1]
    ]
    for name in like:
        chip = catalogue.chip(catalogue.cluster_file(name).chip)
        if float(chip.capacity) >= least and stacks_run_on(chip.family):
            enough.setdefault(chip.name, (float(chip.capacity), name))
    for _, name in sorted(enough.values())[:_OTHERS]:
        try:
            other = machine(f"{name}/{cluster.accelerators}")
        except VolvelleError:
            continue  # it has no software of that name, or comes in other counts
        found = _found(space, step, other)
        if found is not None:
            yield from _way(f"{command} --on {other.name}", step, other, found)
            return


def _found(space: Space, step: TrainingStep, cluster: Cluster) -> Ranked | None:
    return fastest(space, step, cluster, ClosedForm(), enough=_ENOUGH)


def _way(command: str, step: TrainingStep, cluster: Cluster, found: Ranked | None) -> Iterator[WayOut]:
    if found is not None:
        timed = TimedStep(time=found.time, tokens=step.tokens, chips=cluster.accelerators)
        costs = owned_costs(timed, cluster)
        yield WayOut(
            command=command,
            accelerators=cluster.accelerators,
            time=found.time,
            memory_bytes=found.memory,
            usd=None if costs.dollars is None else float(costs.dollars),
        )
