"""Whether chances of one layout being faster than another are what measured pairs of layouts show."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import combinations
from math import log

import numpy as np

from volvelle.applications.scores import Finding, RowValidation
from volvelle.applications.training.layouts import validate_layouts
from volvelle.catalogue.residuals import pair_spread
from volvelle.laws.model_error import chance_of_order
from volvelle.quantities import percent

_BINS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ChanceBin:
    """Pairs of layouts whose order is stated with nearly the same chance."""

    rows: str
    """Calibration rows, or held-out ones, of both layouts."""
    pairs: int
    stated: float
    """Mean of the chances stated."""
    observed: float
    """Share of the pairs in the order predicted."""


def chance_bins(validation: RowValidation) -> tuple[ChanceBin, ...]:
    """Pairs of runs that differ in their layout alone, by the chance stated for their order, in five bins."""
    found: dict[tuple[str, int], list[tuple[float, bool]]] = {}
    for contest in validate_layouts(validation, groups=None):
        for first, second in combinations(contest.runs, 2):
            fitted = {run.head.split == "calibration" for run in (first, second)}
            lead = log(second.predicted / first.predicted)
            if len(fitted) == 1 and lead:
                chance = float(chance_of_order(lead, spread=pair_spread()))
                right = (lead > 0) == (second.measured > first.measured)
                place = min(int((chance - 0.5) * 2 * _BINS), _BINS - 1)
                found.setdefault(("calibration" if fitted == {True} else "held-out", place), []).append((chance, right))
    return tuple(
        ChanceBin(
            rows=rows,
            pairs=len(pairs),
            stated=float(np.mean([chance for chance, _ in pairs])),
            observed=float(np.mean([right for _, right in pairs])),
        )
        for (rows, _), pairs in sorted(found.items())
    )


def pair_findings(validation: RowValidation) -> Iterator[Finding]:
    """The bins as a table."""
    bins = chance_bins(validation)
    if bins:
        yield Finding(
            key="order_chances",
            value=[asdict(one) for one in bins],
            title="pairs of layouts in the order predicted",
            words=("rows",),
            numbers=("pairs", "stated", "observed"),
            cells=tuple((one.rows, str(one.pairs), percent(one.stated), percent(one.observed)) for one in bins),
        )
