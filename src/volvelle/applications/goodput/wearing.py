"""Failures beside those of clusters that were watched: of parts that wear out, and of capacity that is taken away."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from volvelle.applications.goodput.run_plan import PREEMPTION, JobHazard, PartHazard
from volvelle.catalogue.reliability import hazards_by_age, own_ages
from volvelle.errors import DescriptionError
from volvelle.laws.reliability.hazards import hazard_at_age
from volvelle.quantities import JULIAN_YEAR
from volvelle.system.cluster import Cluster

Batch = Literal["old", "new"]
BATCHES: tuple[Batch, ...] = ("old", "new")
"""Of Titan's GPUs: those that wore out from their second year on, and those that replaced them."""
WEAR = "worn accelerators"
_PLACES = 256
"""Ages of a run at which the rate is looked up."""


def worn(
    hazard: JobHazard, cluster: Cluster, *, age: float, work: float, batch: Batch | None, file: Path | str | None
) -> tuple[JobHazard, tuple[str, ...]]:
    """The same with accelerators of an age in years that wear out, and what is to be said of it.

    They do as one's own file says or as a batch of Titan's did, the old one unless another is named. Deaths come on top
    of what stops jobs on clusters that were watched, whose ages nobody states.
    """
    stated = () if file is None else own_ages(Path(file))
    if stated and batch is not None:
        raise DescriptionError(f"{Path(file or '').name} states ages of its own; leave wear out, or its ages")
    ages = stated or hazards_by_age(batch or BATCHES[0])
    whose = "as stated by age" if stated else f"as Titan's {batch or BATCHES[0]} batch did"
    first, last = ages[0][0], ages[-1][1]
    if not first <= age < last:
        raise DescriptionError(
            f"accelerators are {age:g} years old, and ages {'of the file' if stated else 'of that batch of Titan'} go "
            f"from {first:g} to {last:g} years; state ages that hold it in a file of your own (hazard), or leave age "
            "out"
        )
    ends = age + work / JULIAN_YEAR
    reached = age + (np.arange(_PLACES) + 0.5) / _PLACES * work / JULIAN_YEAR
    rates = hazard_at_age(reached, since=[since for since, *_ in ages], rates=[rate for *_, rate in ages])
    dying = PartHazard(part=WEAR, count=float(cluster.accelerators), rate=float(np.mean(rates)))
    basis = f"{hazard.basis}; accelerators of {age:g} years wear out {whose}, {_yearly(dying.rate)} of them a year"
    note = (
        f"failures: accelerators are {ends:.3g} years old when the run ends, and rates by age end at {last:g} years; "
        "the last is taken from there on"
    )
    return replace(hazard, parts=(*hazard.parts, dying), basis=basis), (note,) if ends > last else ()


def preempted(hazard: JobHazard, *, every: float) -> JobHazard:
    """The same on capacity that is taken away every so many seconds, on average."""
    taken = PartHazard(part=PREEMPTION, count=1.0, rate=1.0 / every)
    return replace(
        hazard,
        parts=(*hazard.parts, taken),
        basis=f"{hazard.basis}; preempted every {every / 3600:.3g} h, as stated",
    )


def _yearly(rate: float) -> str:
    return f"{100 * rate * JULIAN_YEAR:.2g} %"
