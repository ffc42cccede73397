"""How far predictions of measured training runs are off: as fitted, with each run left out, with its source left out.

Written by ``scripts/fit_stacks.py`` from calibration rows alone (``data/measurements/residuals.csv.gz``).
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from math import exp, log, sqrt
from statistics import median
from typing import Any

from volvelle.catalogue.packaged_rows import packaged_rows
from volvelle.mapping.kinds import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Residual:
    """A measured run, and ln(measured / predicted) three times."""

    row_id: str
    source: str
    """The publication it is from."""
    model: str
    accelerator: str
    chips: int
    family: str
    """Of the chip."""
    element: str
    stack: str
    mixture: bool
    kind: str
    """Of its layout, as `Kind` names it."""
    parameters: float
    utilisation: float
    """Of the dense peak, as measured."""
    fitted: float
    new_row: float
    """With a fifth of all runs, this one among them, left out of the fit."""
    new_source: float
    """With all runs of its source left out."""

    @property
    def error(self) -> float:
        """Of the prediction, relative to what was measured."""
        return exp(-self.fitted) - 1.0

    @property
    def left_out_error(self) -> float:
        """The same with all runs of its source left out of the fit."""
        return exp(-self.new_source) - 1.0


RESIDUAL_COLUMNS = tuple(part.name for part in fields(Residual))
_NUMBERS = ("parameters", "utilisation", "fitted", "new_row", "new_source")


@cache
def residuals() -> tuple[Residual, ...]:
    """Of all calibration runs."""
    found = []
    for row in packaged_rows("measurements/residuals.csv.gz"):
        kinds: dict[str, Any] = {**row, "chips": int(row["chips"]), "mixture": row["mixture"] == "1"}
        found.append(Residual(**kinds | {name: float(row[name]) for name in _NUMBERS}))
    return tuple(found)


_FAR = 4.0
"""A distance from which on a run says nothing of another."""


def runs_like(
    *, family: str, element: str, stack: str, mixture: bool, parameters: float, chips: int, most: int = 3
) -> Sequence[Residual]:
    """Measured runs that are most like one, nearest first; one of each model and source.

    A factor e in parameters counts 1, one in chips a half; another family of chips 2, dense against experts 2, another
    element type 1, other software 1.
    """

    def distance(run: Residual) -> float:
        other = 2.0 * (run.family != family) + 2.0 * (run.mixture != mixture)
        other += (run.element != element) + (run.stack != stack)
        return other + abs(log(run.parameters / parameters)) + abs(log(run.chips / chips)) / 2.0

    nearest: dict[tuple[str, str], tuple[float, Residual]] = {}
    for run in residuals():
        key, far = (run.source, run.model), distance(run)
        if far < _FAR and (key not in nearest or far < nearest[key][0]):
            nearest[key] = far, run
    return [run for _, run in sorted(nearest.values(), key=lambda pair: pair[0])[:most]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What measured runs say of layouts of one kind."""

    runs: int
    sources: int
    """Publications they are from."""
    bias: float | None
    """Of predictions of a publication that was not fitted to, relative to what was measured: the median of medians
    over publications. None: none were measured."""


@cache
def measured_kind(kind: Kind, *, mixture: bool) -> Measured:
    """What is known of a kind of layout from calibration runs, of dense models or of mixtures of experts."""
    errors: dict[str, list[float]] = {}
    for run in residuals():
        if run.kind == kind.name.lower() and run.mixture == mixture:
            errors.setdefault(run.source, []).append(run.new_source)
    return Measured(
        runs=sum(map(len, errors.values())),
        sources=len(errors),
        bias=exp(-median(map(median, errors.values()))) - 1.0 if errors else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutPairs:
    """Runs of one model on one machine by two layouts, and what they say of errors that layouts have of their own."""

    of_kind: float
    """One standard deviation of the error that layouts of one kind share, of ln(time)."""
    own: float
    """The same of that of each."""
    same_kind: int
    """Pairs of one kind, which differ by the second alone."""
    other_kind: int
    """Pairs of two kinds, which differ by both."""
    sources: int
    """Publications."""


@cache
def layout_pairs() -> LayoutPairs:
    """Of all calibration runs, each with its publication left out of the fit."""
    groups: dict[tuple[object, ...], list[Residual]] = {}
    for run in residuals():
        alike = (run.source, run.model, run.accelerator, run.chips, run.element, run.stack)
        groups.setdefault(alike, []).append(run)
    squares: dict[bool, list[float]] = {True: [], False: []}
    for runs in groups.values():
        for place, first in enumerate(runs):
            for second in runs[place + 1 :]:
                squares[first.kind == second.kind].append((first.new_source - second.new_source) ** 2)
    same, other = (sum(squares[alike]) / len(squares[alike]) for alike in (True, False))
    return LayoutPairs(
        of_kind=sqrt(max(0.0, other - same) / 2.0),
        own=sqrt(same / 2.0),
        same_kind=len(squares[True]),
        other_kind=len(squares[False]),
        sources=len({runs[0].source for runs in groups.values() if len(runs) > 1}),
    )


def layout_spreads() -> tuple[float, float]:
    """One standard deviation of the error that layouts of one kind share, and of that of each, of ln(time)."""
    found = layout_pairs()
    return found.of_kind, found.own


@cache
def pair_spread() -> float:
    """One standard deviation of the error of ln(time / time) of two layouts of one model on one machine."""
    groups: dict[tuple[object, ...], list[float]] = {}
    for run in residuals():
        alike = (run.source, run.model, run.accelerator, run.chips, run.element, run.stack)
        groups.setdefault(alike, []).append(run.new_source)
    squares = freedom = 0.0
    for errors in groups.values():
        centre = sum(errors) / len(errors)
        squares += sum((error - centre) ** 2 for error in errors)
        freedom += len(errors) - 1
    return sqrt(2.0 * squares / freedom)
