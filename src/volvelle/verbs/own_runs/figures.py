"""Single figures of a machine that logs of one's own tell: of Linpack, of products, of power, of memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, sqrt

import numpy as np

from volvelle.applications.hpl.constants import nearest_constants
from volvelle.applications.hpl.own_runs import own_linpack as linpack_factor
from volvelle.applications.kernels.own_products import sustained_ratio
from volvelle.applications.own_factor import FREEDOM, OwnFactor
from volvelle.catalogue import Catalogue
from volvelle.catalogue.own_calibrations import KeptRan
from volvelle.catalogue.own_spread import own_runs_spread
from volvelle.errors import DescriptionError
from volvelle.estimators.calibration import fitted_constants
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.interchange.logs.logged import Log, LoggedGemm
from volvelle.interchange.logs.run_settings import reserved_memory
from volvelle.laws.shrinkage import shrunk_shift
from volvelle.quantities import FLOP_PER_SECOND, SECONDS, show
from volvelle.system.cluster import Cluster
from volvelle.verbs.own_runs.questions import OwnRun
from volvelle.workload.elements import element_bytes

_NARROW = 2
_LEAST = 0.01
"""One standard deviation that runs of a machine differ by at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnMemory:
    """What own runs tell of the memory of others."""

    ratio: float
    """What chips reserve over what is predicted."""
    error: float
    """How far that may be off, one standard deviation as a factor."""


def own_linpack(logs: Sequence[Log], on: str, catalogue: Catalogue) -> OwnFactor | None:
    """What runs of Linpack say of the machine; None: there are none."""
    given = [log for log in logs if log.linpack]
    if not given:
        return None
    template, slash, count = on.partition("/")
    for log in given:
        for run in log.linpack:
            if slash and run.p * run.q > int(count):
                raise DescriptionError(
                    f"{log.file}, line {run.line}: {run.p} × {run.q} processes ran, and --on has {count} chips"
                )
    constants = nearest_constants(catalogue.node(template).chip.family)
    return linpack_factor(constants, given, machine=lambda chips: catalogue.cluster(f"{template}/{chips}"))


def own_products(rows: Sequence[LoggedGemm], cluster: Cluster, element: str | None) -> float | None:
    """What large products sustain over what the catalogue says of the chip; None: there are none."""
    ratios, narrow = [], False
    for row in rows:
        kind = row.element or element
        if kind is None:
            raise DescriptionError(f"line {row.line} of the products does not say the element type; give --element")
        sizes = {"m": row.m, "n": row.n, "k": row.k, "batch": row.batch}
        peak = float(np.max(cluster.chip.matrix_rate(kind)))
        rate = 2.0 * row.batch * row.m * row.n * row.k / row.seconds
        if rate > peak:
            raise DescriptionError(
                f"line {row.line} of the products: {row.m} × {row.n} × {row.k} in {show(row.seconds, SECONDS)} are "
                f"{show(rate, FLOP_PER_SECOND)}, above the {kind} peak of {cluster.chip.name}, "
                f"{show(peak, FLOP_PER_SECOND)}; check --element and --on"
            )
        ratio = sustained_ratio(cluster, kind, seconds=row.seconds, **sizes)
        if ratio is not None:
            ratios.append(ratio)
            narrow = narrow or element_bytes(kind) < _NARROW
    if not ratios:
        return None
    known = own_runs_spread().narrow_products if narrow else own_runs_spread().products
    shift = shrunk_shift(np.array(ratios), centre=0.0, between=known.between, within=known.within, freedom=FREEDOM)
    return exp(shift.shift)


def own_power(runs: Sequence[OwnRun]) -> float | None:
    """Watts of a busy chip, the middle of the runs that say it; None: none does."""
    watts = sorted(one.logged.power for one in runs if one.logged.power)
    return watts[len(watts) // 2] if watts else None


def own_ran(runs: Sequence[OwnRun]) -> list[KeptRan]:
    """What runs needed of their chips' memory by prediction, runs of one layout once."""
    found: dict[float, KeptRan] = {}
    for one in runs:
        asked = one.run.question
        predicted = ClosedForm().estimate(asked.work, asked.system, asked.decision)
        # Rounded up, so that the run itself needs no more.
        needed = float(f"{predicted.memory_bytes * (1.0 + 1e-6):.7g}")
        found.setdefault(needed, KeptRan(run=one.place, needed=needed, capacity=predicted.capacity))
    return list(found.values())


def own_memory(runs: Sequence[OwnRun]) -> OwnMemory | None:
    """What chips reserve over what is predicted, by runs that say it, those of one layout as one; None: none does.

    Runs of one machine are off alike in part only: what its software does of other layouts is another thing.
    """
    ratios: dict[float, list[float]] = {}
    between = within = 0.0
    for one in runs:
        reserved = reserved_memory(one.logged)
        if reserved is not None:
            asked = one.run.question
            predicted = ClosedForm().estimate(asked.work, asked.system, asked.decision).memory_bytes
            ratios.setdefault(predicted, []).append(float(np.log(reserved / predicted)))
            fitted = fitted_constants(asked.system, asked.work.element)
            error, alike = float(np.log(fitted.memory_error or 1.0)), float(fitted.memory_alike)
            between, within = error * sqrt(alike), max(error * sqrt(1.0 - alike), _LEAST)
    if not ratios:
        return None
    means = np.array([np.mean(own) for own in ratios.values()])
    found = shrunk_shift(means, centre=0.0, between=between, within=within, freedom=FREEDOM)
    return OwnMemory(ratio=exp(found.shift), error=exp(found.scale))
