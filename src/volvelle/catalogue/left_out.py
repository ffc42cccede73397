"""Calibration rows of any application with their publication left out of the fit: ln(measured / predicted).

Written by ``scripts/left_out_residuals.py`` (``data/measurements/left_out.csv.gz``); those of training are in
`volvelle.catalogue.residuals`.
"""

import csv
import gzip
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources
from typing import Any

from volvelle.catalogue.residuals import residuals


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A calibration row that its fit did not see."""

    application: str
    row_id: str
    source: str
    """What was left out: a publication, or a machine of a list."""
    regime: str
    """What rows like it are told by: a family of chips, a way of travelling, software, coarse before fine."""
    chips: int
    axis: str = ""
    """What else was left out with it, that nothing like it was fitted: a chip, a link, a size."""
    residual: float


LEFT_OUT_COLUMNS = tuple(part.name for part in fields(LeftOut))


@cache
def left_out_rows() -> tuple[LeftOut, ...]:
    """Of all applications; of training those with all of a kind left out."""
    file = resources.files("volvelle.catalogue") / "data" / "measurements" / "left_out.csv.gz"
    found = []
    for row in csv.DictReader(gzip.decompress(file.read_bytes()).decode().splitlines()):
        kinds: dict[str, Any] = {**row, "chips": int(row["chips"]), "residual": float(row["residual"])}
        found.append(LeftOut(**kinds))
    return tuple(found)


@cache
def left_out_of(application: str) -> tuple[LeftOut, ...]:
    """Of one application, training too."""
    own = tuple(row for row in left_out_rows() if row.application == application)
    if application != "training":
        return own
    return own + tuple(
        LeftOut(
            application=application,
            row_id=run.row_id,
            source=run.source,
            regime=run.family,
            chips=run.chips,
            residual=run.new_source,
        )
        for run in residuals()
    )
