"""Published runs that ran, and such that ran out of memory: what the chance that a layout fits is held against.

The error of memory is the one that makes their outcomes likeliest, publications of many rows counting by the root of
their number. It is that of a new publication: how far sources differ, not how far rows of one do.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from volvelle.applications.measured_table import read_columns
from volvelle.applications.scores import Finding
from volvelle.applications.table_cells import column
from volvelle.applications.training.measurements import TrainingMeasurement
from volvelle.applications.training.rows import training_question
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.estimators.uncertainty import UnderUncertainty
from volvelle.quantities import percent
from volvelle.spread import LogStudent

BINS = 5
TRIED = tuple(np.round(np.arange(1.05, 3.0, 0.01), 2))
"""Errors of memory that are tried, as factors."""
_QUANTILES = (np.arange(2000) + 0.5) / 2000
_SAMPLES = 128
_LEAST = 1e-3
"""Chances further out than what the quantiles tell apart count as this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedRun(TrainingMeasurement):
    """A run that was tried."""

    ran: bool | None = column("ran", measured=True, needed=True)
    """False: it ran out of memory."""
    state_bytes: float | None = None
    """Of optimiser state a parameter, where it is not that of mixed-precision Adam."""
    gradients: str = ""
    """Their element type, where the software's habit does not tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedFit:
    """How a run that was tried fits by the model."""

    row: TriedRun
    chance: float
    """As stated."""
    room: float
    """Memory there is over memory needed, as a logarithm."""

    @property
    def ran(self) -> bool:
        """Whether it did."""
        return bool(self.row.ran)


@cache
def tried_fits() -> tuple[TriedFit, ...]:
    """All rows; a shipped row that cannot be asked about does not load."""
    catalogue, found = Catalogue(), []
    for row in read_columns("llm_ran_or_failed", TriedRun).rows:
        asked = training_question(row, catalogue, timed=False)
        if isinstance(asked, str):
            raise DescriptionError(f"row {row.head.row_id} of llm_ran_or_failed.csv cannot be asked about: {asked}")
        step = asked.work
        if row.state_bytes is not None:
            step = replace(step, optimiser_state=row.state_bytes)
        if row.gradients:
            step = replace(step, gradient_element=row.gradients)
        estimate = UnderUncertainty(estimator=ClosedForm(), samples=_SAMPLES).estimate(
            step, asked.system, asked.decision
        )
        room = float(np.log(estimate.capacity / estimate.memory_bytes))
        found.append(TriedFit(row=row, chance=estimate.fits or 0.0, room=room))
    return tuple(found)


def likeliest_error(runs: Sequence[TriedFit]) -> float:
    """The error of memory, a factor of one standard deviation, by which outcomes are likeliest."""
    sources = [one.row.head.group for one in runs]
    weights = np.array([sources.count(source) ** -0.5 for source in sources])
    room, ran = np.array([one.room for one in runs]), np.array([one.ran for one in runs])

    def likelihood(error: float) -> float:
        drawn = np.log(LogStudent(1.0, error).at(_QUANTILES))
        chance = np.clip(np.searchsorted(drawn, room) / len(drawn), _LEAST, 1.0 - _LEAST)
        return float(np.sum(weights * np.log(np.where(ran, chance, 1.0 - chance))))

    return max(TRIED, key=likelihood)


def left_out_errors(runs: Sequence[TriedFit]) -> dict[str, float]:
    """Publication → the error that all others tell."""
    sources = dict.fromkeys(one.row.head.group for one in runs)
    return {source: likeliest_error([one for one in runs if one.row.head.group != source]) for source in sources}


def chance_without(one: TriedFit, error: float) -> float:
    """The chance that a run fits with an error of memory that its publication did not tell."""
    return float(np.mean(np.log(LogStudent(1.0, error).at(_QUANTILES)) <= one.room))


def tried_findings() -> Iterator[Finding]:
    """Stated chances against what happened, as shipped and with publications left out; the furthest off named."""
    runs = tried_fits()
    errors = left_out_errors(runs)
    stated = np.array([one.chance for one in runs])
    apart = np.array([chance_without(one, errors[one.row.head.group]) for one in runs])
    ran = np.array([one.ran for one in runs])
    rows = []
    for place in range(BINS):
        inside = [np.minimum((chances * BINS).astype(int), BINS - 1) == place for chances in (stated, apart)]
        rows.append([_bin(chances[there], ran[there]) for chances, there in zip((stated, apart), inside, strict=True)])
    worst = sorted(runs, key=lambda one: -abs(one.ran - one.chance))[:5]
    yield Finding(
        key="tried",
        value={
            "runs": len(runs),
            "failed": int(np.sum(~ran)),
            "publications": len(errors),
            "error_left_out": errors,
            "bins": [{"stated": one[0], "left_out": one[1]} for one in rows],
            "worst": [
                {"row_id": one.row.head.row_id, "source": one.row.head.group, "chance": one.chance, "ran": one.ran}
                for one in worst
            ],
        },
        lines=(
            f"Of {len(runs)} runs of {len(errors)} publications that tell of failures, {int(np.sum(~ran))} ran out of "
            f"memory; the error of memory that they tell is {min(errors.values()):.2f} to {max(errors.values()):.2f} "
            "with publications left out. Furthest off: "
            + "; ".join(
                f"{one.row.head.row_id} ({one.row.head.group}) {'ran' if one.ran else 'failed'} at "
                f"{percent(one.chance, 0)}"
                for one in worst
            ),
        ),
        title="runs that were tried, by the chance that they fit",
        words=("chance to fit",),
        numbers=("runs", "stated", "ran", "left out: runs", "stated ", "ran "),
        cells=tuple(
            (
                f"{percent(place / BINS, 0)} to {percent((place + 1) / BINS, 0)}",
                *(cell for one in rows[place] for cell in _cells(one)),
            )
            for place in range(BINS)
        ),
    )


def _bin(chances: np.ndarray[tuple[int], np.dtype[np.float64]], ran: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> dict[str, float | None]:
    some = len(ran) > 0
    return {
        "runs": len(ran),
        "chance": float(np.mean(chances)) if some else None,
        "ran": float(np.mean(ran)) if some else None,
    }


def _cells(one: dict[str, float | None]) -> tuple[str, ...]:
    shares = (one["chance"], one["ran"])
    return (f"{one['runs']}", *("–" if share is None else percent(share, 0) for share in shares))
