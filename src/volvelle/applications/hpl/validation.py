"""Models of High-Performance Linpack held against measured runs."""

from collections.abc import Callable, Iterable

import numpy as np

from volvelle.applications.hpl.measurements import HplMeasurement, hpl_measurements
from volvelle.applications.hpl.panels import PanelByPanel
from volvelle.applications.hpl.rows import hpl_question
from volvelle.applications.measured_table import MeasuredTable
from volvelle.applications.scores import RowValidation, ScoredRow, SkippedRow, row_document
from volvelle.applications.training.measurements import TrainingSplit
from volvelle.catalogue import Catalogue
from volvelle.errors import VolvelleError

__all__ = ["hpl_document", "scored_run", "validate_hpl"]

QUANTITY = "FLOP/s of the whole run (Rmax)"


def validate_hpl(
    measured: MeasuredTable[HplMeasurement] | None = None,
    *,
    catalogue: Catalogue | None = None,
    splits: Iterable[TrainingSplit] | None = None,
    advance: Callable[[], None] | None = None,
) -> RowValidation:
    """Predict every row that can be, panel by panel, and say of every other why not."""
    measured = hpl_measurements() if measured is None else measured
    catalogue = Catalogue() if catalogue is None else catalogue
    wanted = None if splits is None else set(splits)
    rows: list[ScoredRow] = []
    skipped = [SkippedRow.of(row, row.reason) for row in measured.unread if wanted is None or row.split in wanted]
    for row in measured.rows:
        if wanted is None or row.head.split in wanted:
            found = scored_run(row, catalogue)
            if isinstance(found, ScoredRow):
                rows.append(found)
            else:
                skipped.append(found)
        if advance is not None:
            advance()
    return RowValidation(quantity=QUANTITY, rows=tuple(rows), skipped=tuple(skipped))


def scored_run(row: HplMeasurement, catalogue: Catalogue) -> ScoredRow | SkippedRow:
    """One row with its prediction, or why there is none."""
    if row.head.split == "excluded":
        return SkippedRow.of(row.head, f"excluded: {row.head.excluded_because}")
    asked = hpl_question(row, catalogue)
    if isinstance(asked, str):
        return SkippedRow.of(row.head, asked)
    try:
        answer = PanelByPanel(constants=asked.constants).run(asked.problem, asked.cluster, asked.grid)
    except VolvelleError as error:
        return SkippedRow.of(row.head, f"the model refuses: {error}")
    assert row.rate is not None, "a row without a rate puts no question"
    low, high = answer.rate_range or (answer.rate, answer.rate)
    return ScoredRow(
        head=row.head,
        label=f"{row.system or row.computer}: {asked.grid.processes} {asked.cluster.chip.name}",
        measured=row.rate,
        predicted=answer.rate,
        low=low,
        high=high,
        assumed=asked.assumed,
    )


def hpl_document(found: RowValidation) -> dict[str, object]:
    """A validation as plain values, with the sets of rows that the targets are about."""
    sets = {
        "top500_gpu_heldout": [row for row in found.rows if row.head.group == "top500" and row.head.split == "heldout"],
        "kim2021_systems": [row for row in found.rows if row.head.group == "kim2021-tables-1-2"],
        "kim2021_cluster": [row for row in found.rows if row.head.group == "kim2021-table-5"],
    }
    sets["top500_gpu_heldout"] = [row for row in sets["top500_gpu_heldout"] if "a64fx" not in row.label]
    document = row_document(found)
    document["sets"] = {
        name: {
            "rows": len(rows),
            "median_abs_error": float(np.median([abs(row.error) for row in rows])) if rows else None,
            "mean_abs_error": float(np.mean([abs(row.error) for row in rows])) if rows else None,
            "bias": float(np.mean([row.error for row in rows])) if rows else None,
        }
        for name, rows in sets.items()
    }
    return document
