"""Three numbers that are never pooled: new rows of software that was fitted, new releases of it, new sources.

The first and the last come from the fit of software stacks with runs, or whole sources, left out in turn
(`catalogue.residuals`); releases are held-out rows, scored when it runs.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.scores import Finding, RowValidation, error_numbers, score
from volvelle.catalogue.residuals import Residual, residuals
from volvelle.quantities import percent

NEWER_RELEASES = ("megatron-bridge-26.04.01",)
"""Held-out groups that are later releases of software that was fitted."""


def left_out_findings(validation: RowValidation) -> Iterator[Finding]:
    """The three numbers, and every source by itself against one constant share of peak, worst first."""
    runs = residuals()
    shipped = {run.row_id for run in runs}
    if not any(row.head.split == "calibration" and row.head.row_id in shipped for row in validation.rows):
        return  # a file of one's own
    rows = left_out_numbers(np.array([run.new_row for run in runs]))
    newer = score(row for row in validation.rows if row.head.group in NEWER_RELEASES and row.head.split == "heldout")
    sources = left_out_numbers(np.array([run.new_source for run in runs]))
    tables = sorted(_by_source(runs), key=lambda entry: -float(entry["median_abs_error"]))
    ours, constant = (float(np.mean([float(one[name]) for one in tables])) for name in ("median_abs_error", _CONSTANT))
    value = {
        "new_rows": rows,
        "new_releases": newer.numbers(),
        "new_sources": {**sources, "mean_of_medians": ours, "constant_share_mean_of_medians": constant},
        "by_source": tables,
    }
    yield Finding(
        key="left_out",
        value=value,
        lines=(
            f"New rows of fitted software: {_words(rows)} (a fifth left out in turn)",
            f"New release of fitted software: {_words(newer.numbers())}",
            f"New sources: {_words(sources)} (each left out in turn); mean of the sources' medians {percent(ours)}, "
            f"with one constant share of peak {percent(constant)}",
        ),
        title="sources left out of the fit, worst first",
        words=("source",),
        numbers=("runs", "median error", "bias", "one constant share of peak"),
        cells=tuple(
            (
                str(one["source"]),
                str(one["rows"]),
                f"{percent(one['median_abs_error'])}",
                f"{percent(one['bias'], 1, signed=True)}",
                f"{percent(one[_CONSTANT])}",
            )
            for one in tables
        ),
    )


_CONSTANT = "constant_share_median_abs_error"


def _by_source(runs: Sequence[Residual]) -> Iterator[dict[str, str | float]]:
    """Scores of each source left out; beside them those of one share of peak, the median of all others' medians."""
    source = np.array([run.source for run in runs])
    errors = np.array([run.new_source for run in runs])
    shares = np.array([run.utilisation for run in runs])
    medians = {name: float(np.median(shares[source == name])) for name in sorted(set(source.tolist()))}
    for name in medians:
        own = source == name
        constant = shares[own] / np.median([share for other, share in medians.items() if other != name]) - 1.0
        yield {"source": name, **left_out_numbers(errors[own]), _CONSTANT: float(np.median(np.abs(constant)))}


def left_out_numbers(errors: NDArray[np.float64]) -> dict[str, float]:
    """As scores of rows, from ln(measured / predicted)."""
    return {"rows": len(errors), **error_numbers(np.exp(-errors) - 1.0)}


def _words(numbers: dict[str, float]) -> str:
    if not numbers["rows"]:
        return "no rows"
    return (
        f"median error {percent(numbers['median_abs_error'])}, mean {percent(numbers['mean_abs_error'])}, "
        f"bias {percent(numbers['bias'], 1, signed=True)}, {numbers['rows']:.0f} rows"
    )
