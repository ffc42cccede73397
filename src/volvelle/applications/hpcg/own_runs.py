"""What runs of HPCG of one's own change: factors of a device drawn from what is known of others towards them."""

from collections.abc import Callable
from dataclasses import replace
from math import log

import numpy as np

from volvelle.applications.hpcg.estimator import HpcgFactors, HpcgModel
from volvelle.applications.hpcg.plan import hpcg_layout
from volvelle.applications.own_factor import own_factor, two_spreads
from volvelle.catalogue.left_out import left_out_of
from volvelle.errors import DescriptionError
from volvelle.interchange.logs.logged import Log
from volvelle.spread import Evidence, LogNormal
from volvelle.system.cluster import Cluster


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
    between, within = two_spreads([row for row in left_out_of("hpcg") if row.regime == "accelerator"])
    spread = factors.solver.spread
    between = max(between, log(spread.factor) if isinstance(spread, LogNormal) else 0.0)
    said = f"{len(runs)} own run{'' if len(runs) == 1 else 's'} of {log_file.file}"
    found = own_factor(np.array(errors), said, between=between, within=within)
    value = factors.solver.value * found.value
    return replace(
        factors,
        intensity=replace(factors.intensity, spread=None),
        streaming=replace(factors.streaming, spread=None),
        solver=replace(
            factors.solver,
            value=value,
            evidence=Evidence.MEASURED,
            source=said,
            spread=LogNormal(value, found.error),
            note="",
        ),
        own=found.note,
    )
