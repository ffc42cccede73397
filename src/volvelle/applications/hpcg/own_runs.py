"""What runs of HPCG of one's own change: factors of a device drawn from what is known of others towards them."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.hpcg.estimator import HpcgFactors, HpcgModel
from volvelle.applications.hpcg.plan import hpcg_layout
from volvelle.catalogue.left_out import left_out_of
from volvelle.errors import DescriptionError
from volvelle.interchange.logs.logged import Log
from volvelle.laws.model_error import two_levels
from volvelle.laws.shrinkage import shrunk_shift, student_reach
from volvelle.quantities import percent
from volvelle.spread import Evidence, LogNormal
from volvelle.system.cluster import Cluster

_LEVEL = 0.8
_FREEDOM = 4.0
"""Rows as well as which the scatter within a machine is known."""
_FAR = 3.5
"""Standard deviations between own runs at which they disagree."""


@cache
def _spreads() -> tuple[float, float]:
    """Between machines and within one, by runs on accelerators whose machine the fit did not see."""
    rows = [row for row in left_out_of("hpcg") if row.regime == "accelerator"]
    _, between, within = two_levels(np.array([row.residual for row in rows]), [row.source for row in rows], centre=0.0)
    return between, within


def own_factors(
    factors: HpcgFactors, log_file: Log, *, machine: Callable[[int], Cluster], devices: int | None = None
) -> HpcgFactors:
    """The factors as own runs have them.

    `machine` makes a machine of so many devices; a run has as many `devices` as ranks where it is not said. What own
    runs measure is the product of intensity, streaming and solver, so that the solver takes all that is left of their
    doubt; losses between nodes stay as they are, for runs on more nodes than one's own.
    """
    runs = log_file.gradients
    if not runs:
        why = "; ".join(f"line {one.line}: {one.why}" for one in log_file.refused) or f"it is of {log_file.tool}"
        raise DescriptionError(f"{log_file.file} has no run of HPCG that can be taken: {why}")
    errors = []
    for run in runs:
        count = devices or run.ranks
        if count is None:
            raise DescriptionError(
                f"{log_file.file}, line {run.line}: how many ranks ran is not said; give --run-devices"
            )
        cluster = machine(count)
        predicted = HpcgModel(factors=factors).rate(cluster, hpcg_layout(cluster, factors))
        errors.append(log(run.flop_rate / float(np.max(predicted))))
    scatter, within = np.array(errors), _spreads()[1]
    spread = factors.solver.spread
    between = max(_spreads()[0], log(spread.factor) if isinstance(spread, LogNormal) else 0.0)
    found = shrunk_shift(scatter, centre=0.0, between=between, within=within, freedom=_FREEDOM)
    # A log-normal factor whose range at the level asked for is Student's.
    scale = found.scale * student_reach(found.freedom, level=_LEVEL) / student_reach(1e6, level=_LEVEL)
    value = factors.solver.value * exp(found.shift)
    said = f"{len(runs)} own run{'' if len(runs) == 1 else 's'} of {log_file.file}"
    return replace(
        factors,
        intensity=replace(factors.intensity, spread=None),
        streaming=replace(factors.streaming, spread=None),
        solver=replace(
            factors.solver,
            value=value,
            evidence=Evidence.MEASURED,
            source=said,
            spread=LogNormal(value, exp(scale)),
            note="",
        ),
        own=_note(said, scatter, found.shift, within, between),
    )


def _note(said: str, errors: NDArray[np.float64], shift: float, within: float, between: float) -> str:
    off, taken = (f"{100.0 * (exp(error) - 1.0):+.1f} %" for error in (float(errors.mean()), shift))
    words = f"{said}: {off} from what other machines say, of which {taken} is taken over"
    deviation = float(np.max(np.abs(errors - errors.mean()))) / within
    if deviation > _FAR:
        words += (
            f"; they disagree by {deviation:.0f} standard deviations of runs on one machine ({percent(within, 0)}): "
            "two machines, two builds, or too small a grid?"
        )
    if abs(float(errors.mean())) > 2.0 * between:
        words += "; that is further than machines lie apart: is it the machine that is named, all of its devices?"
    return words
