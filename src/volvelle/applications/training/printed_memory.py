"""Memory that timed training runs print, against what the model says: no fit rests on it.

Of what an allocator reserved, the model has tensors and gaps between them; of what was allocated, tensors alone. What
drivers and communication libraries keep is in neither.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from volvelle.applications.measured_table import RowHead, read_columns
from volvelle.applications.scores import Finding
from volvelle.applications.table_cells import column
from volvelle.applications.training.measurements import training_measurements
from volvelle.applications.training.ran_or_failed import ALLOCATED, memory_question
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.quantities import percent

RESERVED = "reserved"
_TABLE = "llm_training_memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedMemory:
    """What a run printed; its identifier is that of its row in the table of training runs."""

    head: RowHead
    printed: float | None = column("printed_gib", measured=True, needed=True, scale=2.0**30)
    """Bytes on the chip with most."""
    counted: str = column("counted", default="", needed=True)
    """``reserved`` by an allocator, or ``allocated`` of it."""


@cache
def printed_amounts() -> tuple[tuple[PrintedMemory, float], ...]:
    """All rows, each with the bytes of the same kind that the model says."""
    runs = {row.head.row_id: row for row in training_measurements().rows}
    catalogue, found = Catalogue(), []
    for row in read_columns(_TABLE, PrintedMemory).rows:
        if row.counted not in (RESERVED, ALLOCATED):
            raise DescriptionError(
                f"row {row.head.row_id} of {_TABLE}.csv: counted is {row.counted!r}; use {RESERVED} or {ALLOCATED}"
            )
        asked = memory_question(runs[row.head.row_id], catalogue, table=_TABLE)
        estimate = ClosedForm().estimate(asked.work, asked.system, asked.decision)
        reserved = estimate.memory_bytes - asked.work.reserved
        found.append((row, float(reserved if row.counted == RESERVED else estimate.tensor_bytes)))
    return tuple(found)


def printed_findings() -> Iterator[Finding]:
    """How far amounts are off, by publication."""
    errors: dict[tuple[str, str, str], list[float]] = {}
    for row, said in printed_amounts():
        key = row.head.group, row.head.split, row.counted
        errors.setdefault(key, []).append(said / (row.printed or said) - 1.0)
    scores = {
        key: (len(own), float(np.median(np.abs(own))), float(np.mean(np.abs(own))), float(np.mean(own)))
        for key, own in errors.items()
    }
    names = ("rows", "median_abs_error", "mean_abs_error", "bias")
    yield Finding(
        key="printed_memory",
        value=[
            {"source": source, "split": split, "counted": counted, **dict(zip(names, score, strict=True))}
            for (source, split, counted), score in scores.items()
        ],
        title="memory that timed runs print",
        words=("publication", "split", "memory"),
        numbers=("rows", "median error", "mean error", "bias"),
        cells=tuple(
            (*key, str(score[0]), percent(score[1]), percent(score[2]), percent(score[3], 1, signed=True))
            for key, score in scores.items()
        ),
    )
