"""How far off rows are that a fit did not see: one group after the other is left out, and predicted from the rest."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from volvelle.applications.system_levels import LabelledShare, system_levels
from volvelle.catalogue.left_out import LeftOut
from volvelle.laws.model_error import covering_error, few_groups_deviation
from volvelle.spread import standard_normal

REACH = float(standard_normal(0.9))
"""Standard deviations of a normal distribution that hold four fifths."""
_LEVEL = 0.8


Case = TypeVar("Case")
Scores = Callable[[Sequence[Case], Sequence[Case]], list[float] | None]
"""Fits to the first cases and predicts the second: logarithms of predicted over measured. None: too few to fit to."""


def cross_validated(
    cases: Sequence[Case], groups: Sequence[Callable[[Case], bool]], score: Scores[Case]
) -> list[list[float]]:
    """Errors of every group that can be left out."""
    found = []
    for inside in groups:
        out = [case for case in cases if inside(case)]
        rest = [case for case in cases if not inside(case)]
        errors = score(rest, out) if out and rest else None
        if errors:
            found.append(errors)
    return found


def by_value(cases: Sequence[Case], label: Callable[[Case], Hashable]) -> list[Callable[[Case], bool]]:
    """One group for every value of a label."""

    def having(value: Hashable) -> Callable[[Case], bool]:
        return lambda case: label(case) == value

    return [having(value) for value in dict.fromkeys(map(label, cases))]


def by_size(cases: Sequence[Case], size: Callable[[Case], float]) -> list[Callable[[Case], bool]]:
    """The sizes within a doubling of the largest, and those within one of the smallest."""
    fewest = min(map(size, cases))
    return [largest(cases, size), lambda case: size(case) < 2 * fewest]


def largest(cases: Sequence[Case], size: Callable[[Case], float]) -> Callable[[Case], bool]:
    """The sizes within a doubling of the largest."""
    most = max(map(size, cases))
    return lambda case: 2 * size(case) > most


def rows_error(groups: Sequence[Sequence[float]], *, groups_alike: bool = False) -> float:
    """One standard deviation as a factor, by what four fifths of new rows keep to; 1 where nothing was left out.

    Rows count alike; with `groups_alike` groups do, however many rows each has.
    """
    errors = np.array([error for group in groups for error in group])
    if not errors.size:
        return 1.0
    weights = np.array([1.0 / len(group) if groups_alike else 1.0 for group in groups for _ in group])
    weights *= errors.size / weights.sum()
    return float(np.exp(covering_error(errors, weights, level=_LEVEL) / REACH))


def groups_error(groups: Sequence[Sequence[float]]) -> float:
    """One standard deviation of whole groups as a factor, each by its middle error; 1 where nothing was left out."""
    if not groups:
        return 1.0
    return float(np.exp(few_groups_deviation(np.array([np.median(group) for group in groups]))))


def systems_left_out(
    application: str, runs: Sequence[LabelledShare], rows: Iterable[tuple[str, int]]
) -> Iterator[LeftOut]:
    """ln(reached / level of its label) of every run by the other systems; not of labels that these have none of.

    `rows` say the identifier and the chips of each. The middle of a system's is what `system_levels.left_out_error`
    finds of it, with the other sign.
    """
    for run, (row_id, chips) in zip(runs, rows, strict=True):
        level = system_levels([other for other in runs if other.system != run.system]).get(run.label)
        if level is not None:
            yield LeftOut(
                application=application,
                row_id=row_id,
                source=run.system,
                regime=run.label,
                chips=chips,
                residual=float(np.log(run.share)) - level,
            )
