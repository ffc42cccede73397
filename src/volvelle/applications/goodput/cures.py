"""What would help a run: things halved, and where it gets nowhere, what would cure it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from volvelle.applications.goodput.run_plan import RunPlan
from volvelle.applications.goodput.wall_time import (
    DETECTION,
    RESTART,
    REWORK,
    WORK,
    Circumstances,
    ettr_of,
    wall_time,
)
from volvelle.laws.price import rented_price
from volvelle.quantities import DAY

_HOPELESS = 0.05
"""Share of time besides recovery below which nobody would begin."""
_CURED = 0.5
"""The ratio that a cure is to reach."""
_MOST_REPLICAS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """Something halved, and what the run gains by it."""

    what: str
    days: float
    """Fewer."""
    usd: float | None
    """Less."""


def remedies(run: Circumstances, parts: Mapping[str, float], plan: RunPlan) -> tuple[Remedy, ...]:
    """What halving the restart, the stall or failures gains; intervals are chosen anew where none was given."""
    price = plan.prices[0] if plan.prices else None
    halved: dict[str, dict[str, Any]] = {
        "halve the restart": {
            "restart": np.asarray(run.restart) / 2,
            "storage_restart": np.asarray(run.storage_restart) / 2,
        },
        "halve the stall": {"stall": np.asarray(run.stall) / 2},
        "halve failures": {"rate": np.asarray(run.rate) / 2},
    }
    found = []
    for what, change in halved.items():
        saved = sum(parts.values()) - float(sum(wall_time(replace(run, **change)).values()))
        usd = None if price is None else float(rented_price(saved, plan.accelerators, per_chip_hour=price.middle))
        found.append(Remedy(what=what, days=saved / DAY, usd=usd))
    return tuple(sorted(found, key=lambda remedy: -remedy.days))


def infeasible(run: Circumstances, parts: Mapping[str, float]) -> tuple[str, tuple[str, ...]]:
    """Why the job gets nowhere, and what would cure it."""
    between, restart = float(run.between), float(np.asarray(run.restart))
    whole = sum(parts.values())
    ratio = parts[WORK] / whole
    recovering = (parts[REWORK] + parts[DETECTION] + parts[RESTART]) / whole
    if restart < between and recovering <= 1.0 - _HOPELESS:
        return "", ()
    problem = (
        f"a restart takes {restart / 60:.3g} min and failures are {between / 60:.3g} min apart: "
        f"{100 * ratio:.1g} % of the time is training"
    )
    cures = []
    free = replace(run, restart=0.0, interval=None)
    best = float(np.asarray(ettr_of(free)))
    if best > _CURED:
        cures.append(
            f"a restart of at most {between * np.log(best / _CURED) / 60:.3g} min would make {100 * _CURED:.0f} % "
            "training"
        )
    room = between * (1.0 - _CURED / best) - restart * float(np.asarray(run.detection)) if best > _CURED else 0.0
    if room > 0.0 and restart / room < _MOST_REPLICAS:
        cures.append(f"{max(2, int(np.ceil(restart / room)))} replicas that each restart alone would do as well")
    counts = np.geomspace(1.0, 1e-4, 400)
    fewer = replace(run, rate=np.asarray(run.rate) * counts, interval=None)
    enough = counts[np.asarray(ettr_of(fewer)) >= _CURED]
    if len(enough):
        cures.append(f"{100 * float(enough[0]):.2g} % of the accelerators would fail seldom enough")
    return problem, tuple(cures)
