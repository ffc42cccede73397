"""Calibration rows of any application with their publication left out of the fit: ln(measured / predicted).

Written by ``scripts/left_out_residuals.py`` (``data/measurements/left_out.csv.gz``); those of training are in
`volvelle.catalogue.residuals`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from volvelle.catalogue.packaged_rows import packaged_rows
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


CHIP, SOFTWARE = "chip", "software"
LEFT_ALONE = frozenset({SOFTWARE})
"""Ways that publications leave by themselves, which are among the rest too."""
SIZE_DOUBLINGS = 5
"""By how many doublings of chips runs are larger than any that is left, where the size of a training run is left."""
LEFT_OUT_COLUMNS = tuple(part.name for part in fields(LeftOut))


@cache
def left_out_rows() -> tuple[LeftOut, ...]:
    """Of all applications; of training those with all of a kind left out."""
    found = []
    for row in packaged_rows("measurements/left_out.csv.gz"):
        kinds: dict[str, Any] = {**row, "chips": int(row["chips"]), "residual": float(row["residual"])}
        found.append(LeftOut(**kinds))
    return tuple(found)


def alone_with_software(runs: Sequence[tuple[str, str, str]]) -> list[bool]:
    """Of runs by source, family of chips and stack: whether no other source has the stack on that family."""
    sources: dict[tuple[str, str], set[str]] = {}
    for source, *software in runs:
        sources.setdefault((software[0], software[1]), set()).add(source)
    return [len(sources[family, stack]) == 1 for _, family, stack in runs]


@cache
def left_out_of(application: str) -> tuple[LeftOut, ...]:
    """Of one application, training too."""
    own = tuple(row for row in left_out_rows() if row.application == application)
    return own + publications_left_out(application) if application == "training" else own


@cache
def publications_left_out(application: str) -> tuple[LeftOut, ...]:
    """Rows that nothing but their publication was left out with.

    Those of training name an axis where their publication is alone on their family of chips, or alone with its software
    there.
    """
    if application != "training":
        return tuple(row for row in left_out_of(application) if not row.axis)
    runs = residuals()
    alone = alone_with_software([(run.source, run.family, run.stack) for run in runs])
    sources: dict[str, set[str]] = {}
    for run in runs:
        sources.setdefault(run.family, set()).add(run.source)
    return tuple(
        LeftOut(
            application=application,
            row_id=run.row_id,
            source=run.source,
            regime=run.family,
            chips=run.chips,
            axis=CHIP if len(sources[run.family]) == 1 else SOFTWARE if other else "",
            residual=run.new_source,
        )
        for run, other in zip(runs, alone, strict=True)
    )
