"""How far whole training steps are off, as estimators take it: by rows that their fit did not see.

What published runs leave open of constants, and how runs scatter around them, is written by
``scripts/fit_own_runs.py`` from calibration runs alone (``data/step_ranges.yaml``,
``data/measurements/open_constants.csv.gz``).
"""

from collections.abc import Sequence
from functools import cache
from math import exp, hypot, sqrt
from typing import NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict

from volvelle.catalogue.left_out import CHIP, SIZE_DOUBLINGS, LeftOut, publications_left_out
from volvelle.catalogue.model_errors import LEVEL, added_square, left_axes, model_error, tilt_by
from volvelle.catalogue.own_spread import spread_of
from volvelle.catalogue.packaged_rows import packaged_fields, packaged_rows
from volvelle.catalogue.residuals import residuals
from volvelle.catalogue.stacks import stack_entries
from volvelle.estimators.step_errors import SIZE, StepErrors, Table, TimedRuns
from volvelle.laws.model_error import covering_error
from volvelle.spread import model_reach


class StepRanges(BaseModel):
    """How far steps lie from what constants say."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    scatter: float
    """One standard deviation of ln(measured / predicted) of a run around what its constants say."""
    network: float
    """The same of what a run waits for the network: as collectives are off within a publication."""
    stand_in: float
    """The same of runs that are asked about with something in place of what they have, which has no price."""
    unstated_network: float
    """The same of what a run waits for a network that its publication does not state."""
    stretch: float
    """What four fifths of left-out runs keep to, each publication counted once, in standard deviations by that and by
    what others leave open of constants."""
    tilt: float = 0.0
    """By so much, as a logarithm, they keep to more above and to less below (`training_tilt`)."""
    source: str


@cache
def step_ranges() -> StepRanges:
    """As the file has it."""
    return StepRanges(**packaged_fields("step_ranges.yaml"))


class OpenOfRun(NamedTuple):
    """What is open of a published run."""

    constants: float
    """One standard deviation of ln(time) that runs of other publications leave open of its constants."""
    network: float
    """Share of its time that waits for the network."""
    stand_in: float
    """1 where something else is in place of what it has, 0 where not."""
    unstated_network: float
    """Share of its time that waits for a network that is not stated."""


@cache
def open_of_runs() -> dict[str, OpenOfRun]:
    """Row → what is open of it."""
    found = {}
    for row in packaged_rows("measurements/open_constants.csv.gz"):
        parts = (float(row[name]) for name in ("open", "network", "stand_in", "unstated_network"))
        found[row["row_id"]] = OpenOfRun(*parts)
    return found


def scales_of(rows: Sequence[LeftOut], ranges: StepRanges) -> Table:
    """One standard deviation of each run, as a logarithm."""
    known = np.array([open_of_runs()[row.row_id] for row in rows])
    deviations = np.array([1.0, ranges.network, ranges.stand_in, ranges.unstated_network])
    return np.asarray(np.sqrt(np.square(known * deviations).sum(axis=1) + ranges.scatter**2))


def stretch_by(rows: Sequence[LeftOut], ranges: StepRanges) -> float:
    """What four fifths of runs keep to in their standard deviations, each publication counted once.

    A question is a run of a publication to come: one more than there are is counted, not one more run.
    """
    groups = [row.source for row in rows]
    weights = np.array([1.0 / groups.count(name) for name in groups])
    errors = np.array([row.residual for row in rows])
    return covering_error(errors / scales_of(rows, ranges), weights, level=LEVEL)


@cache
def runs_left_out() -> tuple[LeftOut, ...]:
    """Runs of which all that others leave open is known: not those on chips that no other publication ran on."""
    return tuple(row for row in publications_left_out("training") if row.axis != CHIP)


@cache
def reaches_left_out(ranges: StepRanges | None = None) -> dict[str, float]:
    """Row → what four fifths of its like keep to, as a logarithm, by runs of all other publications."""
    ranges = ranges or step_ranges()
    rows = runs_left_out()
    found: dict[str, float] = {}
    for source in dict.fromkeys(row.source for row in rows):
        own = [row for row in rows if row.source == source]
        stretch = stretch_by([row for row in rows if row.source != source], ranges)
        found |= zip((row.row_id for row in own), (stretch * scales_of(own, ranges)).tolist(), strict=True)
    return found


@cache
def training_tilt(without: str = "") -> float:
    """What ranges of steps tilt by, by all left-out runs, or those of all other publications."""
    rows = [row for row in runs_left_out() if row.source != without]
    reaches = reaches_left_out()
    return tilt_by("training", rows, np.array([reaches[row.row_id] for row in rows]))


def stand_in_error() -> float:
    """One standard deviation of ln(time) that ranges add for something in place of what a step has."""
    return step_ranges().stretch / model_reach(LEVEL) * step_ranges().stand_in


def unstated_network_error(share: float) -> float:
    """The same for a network that is not stated, for which such a share of a step waits."""
    return step_ranges().stretch / model_reach(LEVEL) * step_ranges().unstated_network * share


@cache
def training_errors() -> StepErrors:
    """Of all calibration runs."""
    largest: dict[tuple[str, str, str, bool], int] = {}
    for run in residuals():
        key = (run.family, run.element, run.stack, run.mixture)
        largest[key] = max(run.chips, largest.get(key, 0))
    return StepErrors(
        inside={family: model_error("training", family).factor for family in sorted({key[0] for key in largest})},
        anywhere=model_error("training").factor,
        beyond={way: _added(way) for way in sorted(left_axes("training"))},
        timed=tuple(
            TimedRuns(family=family, element=element, stack=stack, mixture=mixture, chips=chips)
            for (family, element, stack, mixture), chips in largest.items()
        ),
        scatter=step_ranges().scatter,
        network=step_ranges().network,
        unpriced=exp(stand_in_error()),
        unknown_network=hypot(model_error("collectives").between, step_ranges().network),
        stretch=step_ranges().stretch,
        tilt=step_ranges().tilt,
        constants=_open,
    )


def _open(stack: str, family: str, element: str) -> Table | None:
    return spread_of(stack, family, element) if stack in stack_entries() else None


def _added(way: str) -> float:
    """What leaving a way adds, as a factor; of size, a doubling."""
    square = added_square("training", way) / (SIZE_DOUBLINGS if way == SIZE else 1)
    return exp(sqrt(square) / model_reach(LEVEL))
