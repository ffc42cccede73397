"""Measured collectives, asked of the command one by one. Of sixty, 53 are rows that links were fitted to."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.everyday.asking import ask
from volvelle.applications.collectives.application import COLLECTIVES
from volvelle.applications.collectives.measurements import CollectiveMeasurement
from volvelle.applications.collectives.prediction import stated_algorithm
from volvelle.applications.scores import ScoredRow
from volvelle.applications.validation import validate

ROWS = 60
MEDIAN, HELD_OUT, WITHIN = 0.15, 0.35, 0.8
"""Median errors of fitted and of held-out rows at the most, and the share that lies in its 80 % range at the least."""


def measured() -> list[ScoredRow]:
    """Every so many of the rows that a library ran by an algorithm that it has there."""

    def asked(row: object) -> bool:
        assert isinstance(row, CollectiveMeasurement)
        unlike = row.library.startswith("TransferBench") or "SHARP" in row.algorithm or row.operation.startswith("osu")
        return not unlike and (row.size or 0.0) >= 1.0

    rows = [scored for scored in validate(COLLECTIVES).rows if asked(scored.row)]
    return [rows[round(place)] for place in np.linspace(0, len(rows) - 1, ROWS)]


def test_sixty_measured_rows_are_answered_by_the_command_with_their_errors(tmp_path: Path) -> None:
    errors: dict[str, list[float]] = {}
    inside = 0
    for scored in measured():
        row = scored.row
        assert isinstance(row, CollectiveMeasurement)
        algorithm = stated_algorithm(row.algorithm).value if row.operation == "all_reduce" else "nested"
        words = (row.operation, f"{row.size} B", f"--on={row.cluster}/{row.chips}", f"--algorithm={algorithm}")
        reply = ask(tmp_path, "collective", *words, "--json")
        assert reply.status == 0, reply.err
        document = json.loads(reply.out)
        assert document["seconds"] == pytest.approx(scored.predicted, rel=1e-12), scored.label
        errors.setdefault(row.head.split, []).append(abs(document["seconds"] / scored.measured - 1.0))
        inside += document["range"]["low"] <= scored.measured <= document["range"]["high"]
    assert {split: len(each) for split, each in errors.items()} == {"calibration": 53, "heldout": 7}
    medians = {split: float(np.median(each)) for split, each in errors.items()}
    print(f"median errors {medians}, {inside} of {ROWS} inside their ranges")
    assert medians["calibration"] <= MEDIAN
    assert medians["heldout"] <= HELD_OUT
    assert inside >= WITHIN * ROWS
