"""Changes with which a graph can be mapped where it cannot: each is searched before it is offered."""

from collections.abc import Iterator
from dataclasses import dataclass

from volvelle.interchange.graph_file import GraphFile
from volvelle.studies.mapped.mapping_search import MappingSearch
from volvelle.system.cluster import Cluster
from volvelle.verbs.remedies.layouts import Machines
from volvelle.verbs.remedies.tried import first_of_each, larger_machines

_SECONDS = 4.0
"""Seconds after which no further change is tried."""
_LIMIT = 2.0
"""Seconds at most of one try; a search with the limit that was asked for finds no less."""
_MOST = 4
"""Remedies that are offered."""
_FREED = ("tensor", "pipeline", "data", "tiles", "partitions", "micro_batches")
"""Fields of a question that narrow the search when they are stated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """A changed question on a machine; None: on the machine that was asked for."""

    typed: str
    question: MappingSearch
    machine: str | None = None


def mapping_remedies(
    question: MappingSearch, asked: GraphFile, cluster: Cluster, *, machine: Machines | None
) -> tuple[str, ...]:
    """Return options with which a graph has a mapping; `machine` makes other sizes by name, None: it has no name."""
    if question.assumptions is not None:
        machine = None  # a stated mapping is of one number of chips
    quick = question.changed(limit=min(question.limit, _LIMIT))

    def works(change: _Change) -> bool:
        there = cluster
        if change.machine is not None:
            assert machine is not None, "sizes of a machine without a name are not tried"
            there = machine(change.machine)
        return change.question.answer(asked, there).feasible

    found = first_of_each(_groups(quick, cluster, named=machine is not None), works, seconds=_SECONDS)
    return tuple(change.typed for change in found)[:_MOST]


def _groups(question: MappingSearch, cluster: Cluster, *, named: bool) -> Iterator[Iterator[_Change]]:
    """Yield groups of changes, of each of which the first that works is offered."""
    if not question.tile_weights:
        typed = " ".join(question.option_named("tile_weights").typed(True))
        yield iter([_Change(typed=typed, question=question.changed(tile_weights=True))])
    for field in _FREED:
        part, value = question.option_named(field), getattr(question, field)
        if value:
            typed = f"without {' '.join(part.typed(value))}"
            yield iter([_Change(typed=typed, question=question.changed(**{field: part.default}))])
    if named:
        yield (
            _Change(typed=f"--on {name}", question=question, machine=name)
            for name in larger_machines(cluster.name, cluster.accelerators)
        )
