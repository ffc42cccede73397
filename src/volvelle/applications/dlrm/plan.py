"""Placements of a recommendation model's tables on a machine.

Small tables are copied to every chip up to some size; larger ones are placed whole, by rows or by columns, or each by
its own share of the lookups. Every threshold and every way is priced.
"""

from collections.abc import Iterator
from functools import lru_cache

from volvelle.applications.dlrm.estimator import DlrmStep
from volvelle.errors import MappingError
from volvelle.mapping.table_placement import Placement, TablePlacement
from volvelle.workload.families.dlrm import Dlrm

_CUT = (Placement.ROW, Placement.COLUMN)


def placements(shape: Dlrm, chips: int) -> tuple[TablePlacement, ...]:
    """Every placement that is tried, each once."""
    return tuple(dict.fromkeys(_placements(shape, chips)))


def _placements(shape: Dlrm, chips: int) -> Iterator[TablePlacement]:
    if not shape.tables:
        raise MappingError(f"model {shape.name!r} has no tables to place")
    kinds = range(len(shape.tables))
    by_size = sorted(kinds, key=lambda each: shape.tables[each].rows * shape.tables[each].width)
    lookups = [each.count * each.pooling * each.width for each in shape.tables]
    share = sum(lookups) / chips
    for copied in range(len(shape.tables) + 1):
        small = set(by_size[:copied])
        for cut in _CUT:
            for busy in (0.0, 0.25, 0.5, 1.0, 2.0, float("inf")):
                # A table whose lookups alone are more than that share of a chip's is cut; the others stay whole.
                yield TablePlacement(
                    ways=tuple(
                        Placement.REPLICATED
                        if kind in small
                        else cut
                        if lookups[kind] / shape.tables[kind].count > busy * share
                        else Placement.TABLE
                        for kind in kinds
                    )
                )


@lru_cache(maxsize=256)
def candidates(step: DlrmStep, chips: int) -> tuple[tuple[DlrmStep, TablePlacement], ...]:
    """A step with every placement that is tried."""
    return tuple((step, placement) for placement in placements(step.shape, chips))
