"""How far the time of a collective may be off, by measured rows on the same links and on others."""

from collections.abc import Collection, Iterable, Sequence
from math import exp

import numpy as np

from volvelle.applications.collectives.application import LONG
from volvelle.applications.collectives.measurements import CollectiveMeasurement
from volvelle.applications.cross_validation import REACH
from volvelle.applications.scores import RowValidation
from volvelle.catalogue import Catalogue
from volvelle.estimators.result import Range
from volvelle.laws.model_error import covering_error
from volvelle.system.cluster import Cluster

LEVEL = 0.8
FITTED = frozenset(
    {
        ("infinity-fabric-mi250x",),
        ("nvlink2-cube-mesh",),
        ("nvlink3",),
        ("nvlink3", "efa-400-per-node"),
        ("nvlink4",),
        ("nvlink4", "efa-3200-per-node"),
    }
)
"""Links that calibration rows of a collective library exchanged over, innermost first."""
ERRORS = {(False, True): 1.201, (True, True): 1.226, (True, False): 1.704, (False, False): 7.611}
"""One standard deviation as a factor, by whether a message is long and whether its links were fitted. What four fifths
of measured rows keep to, a publication counted once whatever its rows: those of one are off together. Rows over fitted
links are nearly all calibration rows, so that theirs is the error of a fit to itself; the six held out (AWS p5, by
another publication) are farther off. Rows over other links are held out."""


def collective_range(time: float, size: float, links: Sequence[str]) -> Range:
    """Where the time of a message over some links lies four times in five."""
    known = tuple(links) in FITTED
    factor = ERRORS[size > LONG, known] ** REACH
    told = "measured collectives over these links" if known else "held-out collectives over links that were not fitted"
    return Range(low=time / factor, high=time * factor, level=LEVEL, varied=(told,))


def links_of(cluster: Cluster, along: Iterable[float]) -> tuple[str, ...]:
    """Names of the links that a group with so many members along each dimension spans."""
    return tuple(part.link.name for part, count in zip(cluster.dimensions, along, strict=True) if count > 1)


def measured_errors(validation: RowValidation, catalogue: Catalogue) -> dict[tuple[bool, bool], float]:
    """The same factors, from scored rows; and which links were fitted, from those of the calibration."""
    found: dict[tuple[bool, bool], dict[str, list[float]]] = {}
    for scored in validation.rows:
        row = scored.row
        assert isinstance(row, CollectiveMeasurement), "collectives are scored by their own rows"
        if row.operation.startswith("osu"):
            continue
        cluster = catalogue.cluster(f"{row.cluster}/{row.chips}")
        known = links_of(cluster, (part.size for part in cluster.dimensions)) in FITTED
        kind = ((row.size or 0.0) > LONG, known)
        error = float(np.log(scored.predicted / scored.measured))
        found.setdefault(kind, {}).setdefault(row.head.group, []).append(error)
    return {kind: _factor(groups.values()) for kind, groups in found.items()}


def _factor(groups: Collection[Sequence[float]]) -> float:
    errors = np.concatenate([np.array(group) for group in groups])
    weights = np.concatenate([np.full(len(group), 1.0 / len(group)) for group in groups])
    return exp(covering_error(errors, weights, level=LEVEL) / REACH)
