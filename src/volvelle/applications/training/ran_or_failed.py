"""Published runs that ran, and such that ran out of memory: what the chance that a layout fits is held against.

Some print the memory they took; how far that is off, publications counting alike, is the error of memory. Runs fail at
less than that explains: for a moment, or between tensors, memory is taken that no tensor of ours has. How much, is what
makes outcomes likeliest, publications of many rows counting by the root of their number.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.measured_table import read_columns
from volvelle.applications.scores import Finding
from volvelle.applications.table_cells import column
from volvelle.applications.training.measurements import TrainingMeasurement
from volvelle.applications.training.rows import TrainingQuestion, training_question
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError
from volvelle.estimators.calibration import with_constants
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.estimators.uncertainty import UnderUncertainty
from volvelle.laws.model_error import chance_to_fit, chance_to_fit_too, likelihood_of_alike
from volvelle.quantities import percent

ALLOCATED = "allocated"
"""Amounts of memory that an allocator gave to tensors."""
BINS = 5
_SHARES = ("chance", "ran", "by_chance")
TRIED = tuple(place / 100 for place in range(100, 300))
"""Factors that are tried."""
_COARSE = 10
"""Every so many of them first, then those near the likeliest: likelihoods have one top."""
_SAMPLES = 128
_OTHER = 1e-6
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
    loss_bytes: float | None = None
    """Bytes a logit that the loss needs, where it is not the software's habit."""
    memory: float | None = column("memory_gb", scale=1e9)
    """Bytes of a chip, where they are printed."""
    counted: str = ""
    """``allocated`` where gaps and what software keeps beside tensors are not in them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedFit:
    """How a run that was tried fits by the model."""

    row: TriedRun
    chance: float
    """As stated."""
    room: float
    """Memory there is over memory needed, as a logarithm."""

    needed: float
    """Bytes of what is printed, by the model."""

    @property
    def ran(self) -> bool:
        """Whether it did."""
        return bool(self.row.ran)

    @property
    def told(self) -> bool:
        """Whether errors may rest on it: its publication is not held out."""
        return self.row.head.split == "calibration"


def memory_question(row: TrainingMeasurement, catalogue: Catalogue, *, table: str) -> TrainingQuestion:
    """How much memory a shipped row takes, of which nothing is assumed because it ran."""
    asked = training_question(row, catalogue, timed=False)
    if isinstance(asked, str):
        raise DescriptionError(f"row {row.head.row_id} of {table}.csv cannot be asked about: {asked}")
    return asked


@cache
def tried_fits() -> tuple[TriedFit, ...]:
    """All rows; a shipped row that cannot be asked about does not load."""
    catalogue, found = Catalogue(), []
    for row in read_columns("llm_ran_or_failed", TriedRun).rows:
        asked = memory_question(row, catalogue, table="llm_ran_or_failed")
        step = asked.work
        if row.state_bytes is not None:
            step = replace(step, optimiser_state=row.state_bytes, master=0.0)  # weights are in 16 bits alone
        if row.gradients:
            step = replace(step, gradient_element=row.gradients)
        system = asked.system
        if row.loss_bytes is not None:
            system = with_constants(system, dict.fromkeys(("loss_bytes", "sharded_loss_bytes"), row.loss_bytes))
        estimate = UnderUncertainty(estimator=ClosedForm(), samples=_SAMPLES).estimate(step, system, asked.decision)
        room = float(np.log(estimate.capacity / estimate.memory_bytes))
        needed = estimate.tensor_bytes if row.counted == ALLOCATED else estimate.memory_bytes
        found.append(TriedFit(row=row, chance=estimate.fits or 0.0, room=room, needed=needed))
    return tuple(found)


def printed_error(runs: Sequence[TriedFit]) -> float:
    """How far printed amounts of memory are off, one standard deviation as a factor, publications counting alike."""
    return float(np.exp(np.sqrt(np.mean([np.mean(own**2) for own in _printed(runs).values()]))))


def likeliest_spike(runs: Sequence[TriedFit], error: float) -> float:
    """By what factor memory may be more than such an error of it explains, so that outcomes are likeliest."""
    runs = [one for one in runs if one.told]

    def likelihood(spike: float) -> float:
        return _likelihood(runs, chances(runs, error, spike))

    near = TRIED.index(max(TRIED[::_COARSE], key=likelihood))
    return max(TRIED[max(0, near - _COARSE) : near + _COARSE], key=likelihood)


def _likelihood(runs: Sequence[TriedFit], stated: NDArray[np.float64]) -> float:
    """Of what happened, by stated chances, as a logarithm."""
    sources = [one.row.head.group for one in runs]
    weights = np.array([sources.count(source) ** -0.5 for source in sources])
    chance = np.clip(stated, _LEAST, 1.0 - _LEAST)
    ran = np.array([one.ran for one in runs])
    return float(np.sum(weights * np.log(np.where(ran, chance, 1.0 - chance))))


def likeliest_alike(runs: Sequence[TriedFit], error: float, spike: float) -> float:
    """With which chance the model is off alike for two runs of a publication, so that all they tell is likeliest.

    By amounts that are printed; and by outcomes, each run told which other one of its publication, of another need,
    took most of its memory and ran. Publications of many rows count by the root of their number.
    """
    told = [(one, found) for one in runs if one.told and (found := _fullest_other(one, runs)) is not None]
    asked, rooms = [one for one, _ in told], np.exp([one.room for one, _ in told])
    ran = rooms * np.exp([-other for _, other in told])
    factors = {"error": error, "spike": spike}
    alone, both = (chance_to_fit_too(rooms, 1.0, ran=ran, alike=alike, **factors) for alike in (0.0, 1.0))
    printed = [own for own in _printed(runs).values() if len(own) > 1]

    def likelihood(share: float) -> float:
        amounts = sum(likelihood_of_alike(own, error=error, alike=share) / len(own) ** 0.5 for own in printed)
        return float(amounts) + _likelihood(asked, (1.0 - share) * alone + share * both)

    return max((place / 20 for place in range(20)), key=likelihood)


def _printed(runs: Sequence[TriedFit]) -> dict[str, NDArray[np.float64]]:
    """Publication → ln(printed / predicted) of its amounts, of those that tell."""
    found: dict[str, list[float]] = {}
    for one in runs:
        if one.told and one.row.memory is not None:
            found.setdefault(one.row.head.group, []).append(float(np.log(one.row.memory / one.needed)))
    return {group: np.array(errors) for group, errors in found.items()}


def _fullest_other(one: TriedFit, runs: Sequence[TriedFit]) -> float | None:
    """Room that the fullest other run of a publication had, of those that ran, as a logarithm; None: none did."""
    group = one.row.head.group
    rooms = [run.room for run in runs if run.row.head.group == group and run.ran and abs(run.room - one.room) > _OTHER]
    return min(rooms, default=None)


def chances(runs: Sequence[TriedFit], error: float, spike: float) -> NDArray[np.float64]:
    """Chances that runs fit with such an error of memory and such spikes."""
    return chance_to_fit(np.exp([one.room for one in runs]), 1.0, error=error, spike=spike)


@cache
def left_out_chances(runs: tuple[TriedFit, ...]) -> tuple[dict[str, float], NDArray[np.float64]]:
    """Publication → the spike that all others tell; and chances of runs by that of their own."""
    found, told = {}, np.zeros(len(runs))
    for source in dict.fromkeys(one.row.head.group for one in runs):
        apart = [one for one in runs if one.row.head.group != source]
        error = printed_error(apart)
        found[source] = likeliest_spike(apart, error)
        own = [place for place, one in enumerate(runs) if one.row.head.group == source]
        told[own] = chances([runs[place] for place in own], error, found[source])
    return found, told


def tried_findings() -> Iterator[Finding]:
    """Stated chances against what happened, as shipped and with publications left out; the furthest off named."""
    runs = tried_fits()
    spikes, apart = left_out_chances(runs)
    error = printed_error(runs)
    alike = likeliest_alike(runs, error, likeliest_spike(runs, error))
    stated = np.array([one.chance for one in runs])
    ran = np.array([one.ran for one in runs])
    rows = []
    for place in range(BINS):
        inside = [np.minimum((each * BINS).astype(int), BINS - 1) == place for each in (stated, apart)]
        rows.append([_bin(each[there], ran[there]) for each, there in zip((stated, apart), inside, strict=True)])
    worst = sorted(runs, key=lambda one: -abs(one.ran - one.chance))[:5]
    yield Finding(
        key="tried",
        value={
            "runs": len(runs),
            "failed": int(np.sum(~ran)),
            "publications": len(spikes),
            "spikes_left_out": spikes,
            "printed_error": printed_error(runs),
            "alike": alike,
            "bins": [{"stated": one[0], "left_out": one[1]} for one in rows],
            "worst": [
                {"row_id": one.row.head.row_id, "source": one.row.head.group, "chance": one.chance, "ran": one.ran}
                for one in worst
            ],
        },
        lines=(
            f"Of {len(runs)} runs of {len(spikes)} publications that tell of failures, {int(np.sum(~ran))} ran out of "
            f"memory. Printed amounts are off by a factor of {printed_error(runs):.2f}, and runs take more by one of "
            f"{min(spikes.values()):.2f} to {max(spikes.values()):.2f}, publications left out; two runs of one "
            f"are off alike with a chance of {percent(alike, 0)}. After ± is what so few runs differ by. Furthest off: "
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


def _bin(told: NDArray[np.float64], ran: NDArray[np.bool_]) -> dict[str, float | None]:
    """Runs of a bin; `by_chance` is one standard deviation of the share that so many runs of such chances show."""
    some = len(ran) > 0
    return {
        "runs": len(ran),
        "chance": float(np.mean(told)) if some else None,
        "ran": float(np.mean(ran)) if some else None,
        "by_chance": float(np.sqrt(np.sum(told * (1.0 - told)))) / len(ran) if some else None,
    }


def _cells(one: dict[str, float | None]) -> tuple[str, ...]:
    stated, ran, scatter = ("–" if share is None else percent(share, 0) for share in map(one.get, _SHARES))
    return f"{one['runs']}", stated, f"{ran} ± {scatter}"
