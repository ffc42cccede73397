"""What other tools predict of measured rows, beside what the model says of the same ones."""

import csv
from collections.abc import Iterable, Mapping
from functools import cache

import numpy as np

from volvelle.applications.measured_table import shipped_table
from volvelle.applications.scores import Finding, ScoredRow, error_numbers
from volvelle.applications.table_cells import table_text
from volvelle.quantities import percent

_DOUBTFUL = ("heldout_secondary", "calibration_noisy", "excluded")


def peers_finding(rows: Iterable[ScoredRow]) -> Finding:
    """Errors of every peer on the rows that it answers, and the model's on these, by table and figure."""
    sides: dict[tuple[str, str, str], list[tuple[float, float, bool]]] = {}
    for row in rows:
        if row.head.split in _DOUBTFUL:
            continue
        for peer, predicted in _predictions().get(row.head.row_id, {}).items():
            key = (row.head.group.partition(" ")[0], peer, row.within.get("measure", ""))
            held = row.head.split == "heldout"
            sides.setdefault(key, []).append((predicted / row.measured - 1.0, row.error, held))
    found = [
        {
            "table": table,
            "peer": peer,
            "measure": measure,
            "rows": len(errors),
            "held_out_rows": sum(held for *_, held in errors),
            "of_peer": error_numbers(np.array([one for one, _, _ in errors])),
            "ours": error_numbers(np.array([one for _, one, _ in errors])),
        }
        for (table, peer, measure), errors in sorted(sides.items())
    ]
    return Finding(
        key="peers",
        value=found,
        title="other tools on the same rows: median and mean error, theirs and ours" if found else "",
        words=("table", "tool", "figure"),
        numbers=("rows", "median", "mean", "our median", "our mean"),
        cells=tuple(
            (
                str(one["table"]).replace("_", " "),
                str(one["peer"]),
                str(one["measure"]),
                str(one["rows"]),
                *(percent(side[name]) for side in (_of(one, "of_peer"), _of(one, "ours")) for name in _SHOWN),
            )
            for one in found
        ),
    )


_SHOWN = ("median_abs_error", "mean_abs_error")


def _of(one: Mapping[str, object], side: str) -> Mapping[str, float]:
    numbers = one[side]
    assert isinstance(numbers, dict), "errors are numbers by name"
    return numbers


@cache
def _predictions() -> Mapping[str, Mapping[str, float]]:
    """Row and figure → tool → what it predicts, in seconds or tokens a second."""
    found: dict[str, dict[str, float]] = {}
    for row in csv.DictReader(table_text(shipped_table("serving_peers")).splitlines()):
        found.setdefault(f"{row['row_id']} {row['measure']}", {})[row["peer"]] = float(row["predicted"])
    return found
