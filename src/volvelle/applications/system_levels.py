"""Levels of runs by a label, such as their family, when every system counts once however often it ran."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np


class LabelledShare(NamedTuple):
    """The share of an ideal that one run reached."""

    label: str
    system: str
    share: float


def system_levels(runs: Sequence[LabelledShare]) -> dict[str, float]:
    """Logarithm of the share of each label: the middle of its systems, each by the middle of its runs."""
    found: dict[str, dict[str, list[float]]] = {}
    for run in runs:
        found.setdefault(run.label, {}).setdefault(run.system, []).append(float(np.log(run.share)))
    return {
        label: float(np.median([np.median(logs) for logs in systems.values()]))
        for label, systems in sorted(found.items())
    }


def distance_from_levels(runs: Sequence[LabelledShare], levels: Mapping[str, float]) -> float:
    """Mean distance of runs from the level of their label, every system counting once."""
    by_system: dict[str, list[float]] = {}
    for run in runs:
        by_system.setdefault(run.system, []).append(abs(float(np.log(run.share)) - levels[run.label]))
    return float(np.mean([np.mean(distances) for distances in by_system.values()]))


def left_out_error(rest: Sequence[LabelledShare], out: Sequence[LabelledShare]) -> list[float] | None:
    """Middle error of a system's runs by the levels of the others; None where these have none of its labels."""
    known = system_levels(rest)
    errors = [known[run.label] - float(np.log(run.share)) for run in out if run.label in known]
    return [float(np.median(errors))] if errors else None
