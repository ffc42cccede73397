"""Measured collectives that differ in size only, and how far a model is off on them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.collectives.measurements import CollectiveMeasurement
from volvelle.applications.collectives.prediction import CollectiveQuestion, collective_question
from volvelle.catalogue import Catalogue

Column = NDArray[np.float64]

_FEW = 10
"""Rows from which on a publication has its full weight."""


@dataclass(frozen=True, slots=True)
class Series:
    """Calibration rows that differ in size only."""

    group: str
    question: CollectiveQuestion
    sizes: Column
    times: Column
    rows: tuple[str, ...]
    """Ids of the rows."""


def series_of(rows: Sequence[CollectiveMeasurement], catalogue: Catalogue) -> list[Series]:
    """Usable rows, gathered into series in the order they come."""
    gathered: dict[tuple[object, ...], list[tuple[CollectiveMeasurement, CollectiveQuestion]]] = {}
    for row in rows:
        asked = collective_question(row, catalogue)
        if not isinstance(asked, str):
            key = (row.head.group, row.operation, row.system, row.cluster, row.chips, row.nodes, row.algorithm)
            gathered.setdefault(key, []).append((row, asked))
    return [
        Series(
            alike[0][0].head.group,
            alike[0][1],
            np.array([asked.work.size for _, asked in alike]),
            np.array([row.time for row, _ in alike], dtype=np.float64),
            tuple(row.head.row_id for row, _ in alike),
        )
        for alike in gathered.values()
    ]


def weighed(series: Sequence[Series], residuals: Column) -> float:
    """The mean of absolute residuals; every publication weighs alike, but one of a few rows less."""
    rows: dict[str, int] = {}
    for each in series:
        rows[each.group] = rows.get(each.group, 0) + len(each.times)
    weights = np.concatenate([np.full(len(each.times), 1.0 / max(rows[each.group], _FEW)) for each in series])
    return float(np.average(np.abs(residuals), weights=weights))
