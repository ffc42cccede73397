"""What embedding tables cost the busiest chip, by where they lie: bytes of memory, of traffic and on the network."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from operator import add

from volvelle.errors import MappingError
from volvelle.laws.recommendation import distinct_count, gather_traffic, update_traffic
from volvelle.mapping.table_placement import Placement, TablePlacement, spread_tables
from volvelle.quantities import Bytes
from volvelle.workload.elements import element_bytes
from volvelle.workload.families.dlrm import Dlrm, EmbeddingTables

_INDEX = 4.0
"""Bytes of the number of a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableElements:
    """Types in which tables are kept and vectors are sent."""

    stored: str = "fp32"
    sent: str = "fp16"
    state: float = 4.0
    """Bytes of optimiser state for every number of a table: 4 for Adagrad, 0 for plain gradient descent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCosts:
    """Of the busiest chip, in one step."""

    memory: Bytes
    """Tables and their optimiser state."""
    gathered: Bytes
    """Read to look up rows."""
    updated: Bytes
    """Moved to update them."""
    indices: Bytes
    """Sent to find rows, each chip's own share included."""
    vectors: Bytes
    """Sent by each chip once rows are added up; as much comes back as gradients."""
    crossing: Bytes
    """Sent out of a node by each chip where what a node's chips have of a sample is added up before."""
    reduced: Bytes
    """Gradients of copied tables, added up over all chips."""


def _each(how: Callable[..., Bytes], *costs: TableCosts) -> TableCosts:
    """Field by field."""
    return TableCosts(**{name: how(*(getattr(one, name) for one in costs)) for name in TableCosts.__slots__})


_NOTHING = TableCosts(memory=0.0, gathered=0.0, updated=0.0, indices=0.0, vectors=0.0, crossing=0.0, reduced=0.0)


@lru_cache(maxsize=4096)
def table_costs(
    shape: Dlrm, placement: TablePlacement, *, batch: int, chips: int, elements: TableElements, nodes: int = 1
) -> TableCosts:
    """What a placement costs in a step of `batch` samples on all chips, which stand in so many nodes."""
    if len(placement.ways) != len(shape.tables):
        raise MappingError(
            f"{len(placement.ways)} placements for {len(shape.tables)} kinds of tables of {shape.name!r}; give one each"
        )
    found = _NOTHING
    whole: list[TableCosts] = []
    for tables, way in zip(shape.tables, placement.ways, strict=True):
        one = _one(tables, way, batch=batch, chips=chips, nodes=nodes, elements=elements)
        if way is Placement.TABLE:
            whole += [one] * tables.count
        else:
            found = _each(lambda held, more, count=tables.count: held + count * more, found, one)
    if not whole:
        return found
    places = spread_tables([float(each.gathered + each.updated) for each in whole], chips)
    on_chip: dict[int, TableCosts] = {}
    for chip, each in zip(places, whole, strict=True):
        on_chip[chip] = _each(add, on_chip.get(chip, _NOTHING), each)
    return _each(add, found, _each(lambda *held: max(held), *on_chip.values()))


def _one(
    tables: EmbeddingTables, way: Placement, *, batch: int, chips: int, nodes: int, elements: TableElements
) -> TableCosts:
    """One table: on its owner where it is whole, on every chip otherwise."""
    rows, pooling = float(tables.rows), float(tables.pooling)
    stored, sent = element_bytes(elements.stored), element_bytes(elements.sent)
    row, vector, state = tables.width * stored, tables.width * sent, tables.width * elements.state
    kept = rows * (row + state)
    share = batch / chips
    if way is Placement.REPLICATED:
        touched = distinct_count(share * pooling, rows)
        everywhere = distinct_count(batch * pooling, rows)
        return TableCosts(
            memory=kept,
            gathered=gather_traffic(touched, row),
            updated=update_traffic(everywhere, row, state=state, gradients=share * pooling * vector),
            indices=0.0,
            vectors=0.0,
            crossing=0.0,
            reduced=rows * tables.width * sent,
        )
    touched = distinct_count(batch * pooling, rows)
    if way is Placement.TABLE:
        return TableCosts(
            memory=kept,
            gathered=gather_traffic(touched, row),
            updated=update_traffic(touched, row, state=state, gradients=batch * pooling * vector),
            indices=batch * pooling * _INDEX,
            vectors=batch * vector,
            crossing=batch * vector,
            reduced=0.0,
        )
    if way is Placement.ROW:
        # A sample's rows lie on several chips, and each of these sends a vector of its own.
        holders = distinct_count(pooling, float(chips))
        return TableCosts(
            memory=kept / chips,
            gathered=gather_traffic(touched / chips, row),
            updated=update_traffic(touched / chips, row, state=state, gradients=share * pooling * vector),
            indices=share * pooling * _INDEX,
            vectors=share * holders * vector,
            crossing=share * distinct_count(pooling, float(nodes)) * vector,
            reduced=0.0,
        )
    return TableCosts(
        memory=kept / chips,
        gathered=gather_traffic(touched, row / chips),
        updated=update_traffic(touched, row / chips, state=state / chips, gradients=share * pooling * vector),
        # Every chip has some columns of every row, so each learns of every index.
        indices=batch * pooling * _INDEX,
        vectors=share * vector,
        crossing=share * vector,
        reduced=0.0,
    )
