"""Changes with which a graph can be mapped where it cannot: each is searched before it is offered."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from volvelle.interchange.graph_file import GraphFile
from volvelle.mapping.axes import DATA, PIPELINE, TENSOR
from volvelle.studies.mapped.map_question import MapQuestion
from volvelle.system.cluster import Cluster
from volvelle.verbs.remedies.layouts import Machines
from volvelle.verbs.remedies.tried import first_of_each, larger_machines

_SECONDS = 4.0
"""Seconds after which no further change is tried."""
_LIMIT = 2.0
"""Seconds at most of one try; a search with the limit that was asked for finds no less."""
_MOST = 4
"""Remedies that are offered."""
_FREED: tuple[tuple[str, str], ...] = (
    ("tensor", TENSOR.flag),
    ("pipeline", PIPELINE.flag),
    ("data", DATA.flag),
    ("tiles", "--tile"),
    ("partitions", "--partitions"),
    ("micro_batches", "--micro-batches"),
)
"""Field of a question that narrows the search when it is given → its option."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """A changed question on a machine; None: on the machine that was asked for."""

    typed: str
    question: MapQuestion
    machine: str | None = None


def mapping_remedies(
    question: MapQuestion, asked: GraphFile, cluster: Cluster, *, machine: Machines | None
) -> tuple[str, ...]:
    """Return options with which a graph has a mapping; `machine` makes other sizes by name, None: it has no name."""
    if question.assumptions is not None:
        machine = None  # a stated mapping is of one number of chips
    quick = replace(question, limit=min(question.limit, _LIMIT))

    def works(change: _Change) -> bool:
        there = cluster
        if change.machine is not None:
            assert machine is not None, "sizes of a machine without a name are not tried"
            there = machine(change.machine)
        return change.question.answer(asked, there).feasible

    found = first_of_each(_groups(quick, cluster, named=machine is not None), works, seconds=_SECONDS)
    return tuple(change.typed for change in found)[:_MOST]


def _groups(question: MapQuestion, cluster: Cluster, *, named: bool) -> Iterator[Iterator[_Change]]:
    """Yield groups of changes, of each of which the first that works is offered."""
    if not question.tile_weights:
        yield iter([_Change(typed="--tile-weights", question=replace(question, tile_weights=True))])
    for field, flag in _FREED:
        given = getattr(question, field)
        if given:
            unset: Any = () if isinstance(given, Sequence) else None
            words = " ".join(f"{flag} {value}" for value in (given if isinstance(given, Sequence) else (given,)))
            yield iter([_Change(typed=f"without {words}", question=replace(question, **{field: unset}))])
    if named:
        yield (
            _Change(typed=f"--on {name}", question=question, machine=name)
            for name in larger_machines(cluster.name, cluster.accelerators)
        )
