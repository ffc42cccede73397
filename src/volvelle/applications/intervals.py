"""Whether ranges hold what they promise: the share of measured rows within them, by application and by publication.

Held-out rows are scored by the ranges that models give. Publications of calibration rows are scored by the error that
all others have, with the constants of a fit that did not see them.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.least_widths import alike_width, least_width, width_if_drawn
from volvelle.applications.measured_table import Split
from volvelle.applications.registry import application
from volvelle.applications.scores import ScoredRow
from volvelle.applications.validation import validate
from volvelle.catalogue import Catalogue
from volvelle.catalogue.left_out import LeftOut, publications_left_out
from volvelle.catalogue.model_errors import (
    LEVEL,
    ModelErrorRegime,
    axis_error,
    error_freedom,
    error_reach,
    left_axes,
    model_error,
)
from volvelle.catalogue.training_errors import reaches_left_out, runs_left_out, training_tilt
from volvelle.spread import tilted

LEVELS = (0.5, 0.8, 0.95)
RANGED = ("training", "hpl", "hpcg", "fft", "dlrm", "collectives")
"""Applications whose predictions have ranges and whose rows were left out of fits."""
PLAIN = 0.35
"""A range that anybody could give: so much more or less."""
LARGE = 20
"""Rows from which on a publication is scored by itself."""
HELD_OUT: tuple[Split, ...] = ("heldout", "heldout_interp", "heldout_secondary")
Column = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RangedRow:
    """What was measured over what was predicted, and the ends of the range over it, as logarithms."""

    error: float
    low: float
    """Of four fifths, at most zero."""
    high: float
    """Likewise, at least zero."""
    application: str = ""
    """Of which errors its range is: some have longer tails."""

    @classmethod
    def of(cls, row: ScoredRow, application: str = "") -> "RangedRow | None":
        """A scored row; None: its prediction has no range."""
        if row.low is None or row.high is None or row.low <= 0:
            return None
        ends = log(row.low / row.predicted), log(row.high / row.predicted)
        return cls(
            error=log(row.measured / row.predicted),
            low=min(ends[0], 0.0),
            high=max(ends[1], 0.0),
            application=application,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How ranges do on some rows."""

    name: str
    rows: int
    covered: tuple[float, ...]
    """Share of rows within the ranges of 50, 80 and 95 %."""
    bias: float
    """Median of measured over predicted, less one."""
    half_width: float
    """Mean of half of the logarithm of high over low, of four fifths."""
    plain_covered: float
    """Share of rows within a plain ± 35 %."""
    narrower: float
    """How much narrower ranges are in the mean than ± 35 %, widened or narrowed until they hold as many rows."""


def coverage_of(name: str, rows: Sequence[RangedRow]) -> Coverage:
    """Shares of rows within ranges; ends of other levels as the model's error has them."""
    error, low, high = (np.array([getattr(row, part) for row in rows]) for part in ("error", "low", "high"))
    # By how much a range of four fifths has to be stretched to hold a row.
    needed = np.where(error < 0, error / np.minimum(low, -1e-12), error / np.maximum(high, 1e-12))
    plain = np.abs(np.expm1(error)) <= PLAIN
    widths = (high - low) / 2.0
    stretched = float(np.quantile(needed, float(np.mean(plain)), method="higher")) * float(np.mean(widths))
    return Coverage(
        name=name,
        rows=len(rows),
        covered=tuple(float(np.mean(needed <= _stretches(rows, level) * (1 + 1e-9))) for level in LEVELS),
        bias=float(np.expm1(np.median(error))),
        half_width=float(np.mean(widths)),
        plain_covered=float(np.mean(plain)),
        narrower=_narrower(stretched),
    )


def _narrower_if_drawn(rows: Sequence[RangedRow]) -> tuple[float, float, float]:
    """What four fifths of draws keep to, and the median: what ranges of these widths give where all they say is so."""
    low, high = (np.array([getattr(row, part) for row in rows]) for part in ("low", "high"))
    freedom = np.array([error_freedom(row.application) for row in rows])
    widths = width_if_drawn(low, high, freedom, plain=PLAIN)
    least, middle, most = (_narrower(float(np.quantile(widths, share))) for share in (0.9, 0.5, 0.1))
    return least, middle, most


def _narrower(half_width: float) -> float:
    """Than ± 35 %."""
    return 1.0 - half_width / ((log(1 + PLAIN) - log(1 - PLAIN)) / 2.0)


def _stretches(rows: Sequence[RangedRow], level: float) -> Column:
    """How far ranges of a level reach, in those of four fifths."""
    told = {word: error_reach(word, level) / error_reach(word, LEVEL) for word in {row.application for row in rows}}
    return np.array([told[row.application] for row in rows])


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalReport:
    """Ranges held against measured rows."""

    overall: Coverage
    """Of held-out rows, where neither a setting is unstated nor a neighbour was fitted."""
    applications: tuple[Coverage, ...]
    """The same by application."""
    splits: tuple[Coverage, ...]
    """By application and the other kinds of held-out rows."""
    publications: tuple[Coverage, ...]
    """Of calibration rows, those with 20 and more left out of the fit in turn, the least covered first."""
    regimes: tuple[ModelErrorRegime, ...]
    """What the ranges rest on."""
    alike_narrower: float
    """How much narrower than ± 35 % one width an application is, known beforehand, that holds as many of each."""
    most_narrower: float
    """Likewise, that holds as many of all: more of one application than of another, where that is cheap."""
    drawn_narrower: tuple[float, float, float]
    """The same of these ranges, were errors drawn from them: least of four fifths of draws, median, most."""

    @property
    def in_band(self) -> float:
        """Share of those publications of which 65 to 95 % lie in their four fifths."""
        return float(np.mean([0.65 <= one.covered[1] <= 0.95 for one in self.publications]))


def interval_report(
    words: Iterable[str] = RANGED, *, catalogue: Catalogue | None = None, advance: Callable[[], None] | None = None
) -> IntervalReport:
    """All applications, or some; `advance` is called after every row."""
    asked = tuple(words)
    rows: dict[tuple[str, str], list[RangedRow]] = {}
    for word in asked:
        one = application(word)
        validation = validate(one, catalogue=catalogue, splits=HELD_OUT, advance=advance)
        for scored in one.narrowed(validation).rows:
            found = RangedRow.of(scored, word)
            if found is not None:
                split = "that contradict themselves" if one.contradiction(scored.row) else scored.head.split
                rows.setdefault((word, split), []).append(found)
    strict = {word: rows[word, HELD_OUT[0]] for word in asked if (word, HELD_OUT[0]) in rows}
    overall = coverage_of("all", [row for own in strict.values() for row in own])
    errors = {word: np.array([row.error for row in own]) for word, own in strict.items()}
    drawn = _narrower_if_drawn([row for own in strict.values() for row in own])
    return IntervalReport(
        overall=overall,
        alike_narrower=_narrower(alike_width(errors, overall.plain_covered)),
        most_narrower=_narrower(least_width(errors, overall.plain_covered)),
        drawn_narrower=drawn,
        applications=tuple(coverage_of(word, own) for word, own in strict.items()),
        splits=tuple(
            coverage_of(f"{word}, {split.removeprefix('heldout_')}", own)
            for (word, split), own in rows.items()
            if split != HELD_OUT[0]
        ),
        publications=tuple(sorted(_publications(asked), key=lambda one: one.covered[1])),
        regimes=tuple(_regimes(asked)),
    )


def _publications(words: Iterable[str]) -> Iterable[Coverage]:
    """Publications by the error that all others have."""
    for word in words:
        rows = runs_left_out() if word == "training" else publications_left_out(word)
        for source in dict.fromkeys(row.source for row in rows):
            own = [row for row in rows if row.source == source]
            if len(own) >= LARGE:
                sides = list(_sides(word, own, source))
                yield coverage_of(
                    f"{word}: {source}",
                    [
                        RangedRow(error=row.residual, low=low, high=high, application=word)
                        for row, (low, high) in zip(own, sides, strict=True)
                    ],
                )


def _sides(word: str, rows: Sequence[LeftOut], source: str) -> Iterable[tuple[float, float]]:
    """What four fifths of rows like these keep to below and above, by all other publications."""
    if word != "training":
        return (model_error(word, row.regime, (row.axis,) if row.axis else (), without=source).sides for row in rows)
    tilt, known = training_tilt(source), reaches_left_out()
    return ((tilted(np.array([-known[row.row_id], known[row.row_id]]), tilt).tolist()) for row in rows)


def _regimes(words: Iterable[str]) -> Iterable[ModelErrorRegime]:
    for word in words:
        names = ["", *dict.fromkeys(row.regime for row in publications_left_out(word))]
        found = (model_error(word, name) for name in names)
        yield from (replace(one, tilt=training_tilt()) for one in found) if word == "training" else found
        yield from (axis_error(word, axis) for axis in sorted(left_axes(word)))
