"""How likely runs fit, by the model, that are known to have run.

No run that failed for want of memory is in the table: whatever chance is stated, all of these ran. So this tells of
chances that are too low, not of ones that are too high.
"""

from collections.abc import Iterator

from volvelle.applications.scores import Finding, RowValidation, ScoredRow
from volvelle.estimators.result import TrainingEstimate
from volvelle.quantities import percent

BINS = 5
UNLIKELY = 0.05
"""A chance below which the model all but says that a run cannot have run."""


def fits_findings(validation: RowValidation) -> Iterator[Finding]:
    """Runs by the chance that they fit, calibration runs apart from held-out ones, and which all but should not."""
    chances = [
        (row, row.estimate.fits)
        for row in validation.rows
        if isinstance(row.estimate, TrainingEstimate) and row.estimate.fits is not None
    ]
    if not chances:
        return
    counts = {fitted: [0] * BINS for fitted in (True, False)}
    for row, chance in chances:
        counts[_calibration(row)][min(int(chance * BINS), BINS - 1)] += 1
    unlikely = [(row, chance) for row, chance in chances if chance < UNLIKELY]
    ends = [f"{percent(place / BINS, 0)} to {percent((place + 1) / BINS, 0)}" for place in range(BINS)]
    yield Finding(
        key="fits",
        value={
            "rows": len(chances),
            "calibration": counts[True],
            "heldout": counts[False],
            "unlikely": [{"row_id": row.head.row_id, "source": row.head.group, "chance": c} for row, c in unlikely],
        },
        lines=(
            f"Of {len(chances)} runs, which all ran, {len(unlikely)} have a chance to fit below {percent(UNLIKELY, 0)}"
            + (f": {', '.join(_named(unlikely))}" if unlikely else ""),
        ),
        title="runs that ran, by the chance that they fit",
        words=("chance to fit",),
        numbers=("calibration runs", "held-out runs"),
        cells=tuple((ends[place], str(counts[True][place]), str(counts[False][place])) for place in range(BINS)),
    )


def _calibration(row: ScoredRow) -> bool:
    return row.head.split.startswith("calibration")


def _named(unlikely: list[tuple[ScoredRow, float]]) -> Iterator[str]:
    """Publications, and how many of their runs."""
    sources = [row.head.group for row, _ in unlikely]
    yield from (f"{sources.count(source)} of {source}" for source in dict.fromkeys(sources))
