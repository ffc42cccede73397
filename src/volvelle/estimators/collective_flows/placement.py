"""Which chips of a machine the members of one job, or of several, are."""

from collections.abc import Sequence
from enum import Enum
from math import prod

import numpy as np

from volvelle.errors import OutsideDomainError
from volvelle.system.cluster import Cluster
from volvelle.system.routing import Numbers


class Placement(Enum):
    """How units of the outermost dimension that a job spans are given to jobs and their ranks."""

    IN_ORDER = "in-order"
    """Job after job, rank after rank."""
    INTERLEAVED = "interleaved"
    """In turns: of two jobs one has the even units, the other the odd ones."""
    SHUFFLED = "shuffled"
    """By chance, as a scheduler deals what has become free."""


def placed(
    cluster: Cluster, along: Sequence[int], jobs: int, placement: Placement, *, seed: int = 0
) -> tuple[Numbers, ...]:
    """Chips of every job, by rank; each has `along` members in each dimension, innermost first."""
    outermost = max(place for place, members in enumerate(along) if members > 1)
    dimension, members = cluster.dimensions[outermost], along[outermost]
    if jobs * members > dimension.size:
        raise OutsideDomainError(
            f"{jobs} jobs of {members} units along {dimension.name} are more than its {dimension.size}; take a smaller "
            f"group, fewer jobs beside, or a larger machine than {cluster.name}"
        )
    match placement:
        case Placement.IN_ORDER:
            units = np.arange(jobs * members).reshape(jobs, members)
        case Placement.INTERLEAVED:
            units = np.arange(jobs * members).reshape(members, jobs).T
        case Placement.SHUFFLED:
            dealt = np.random.default_rng(seed).permutation(dimension.size)
            units = dealt[: jobs * members].reshape(jobs, members)
    inside = _inside(cluster, along[:outermost])
    span = prod(part.size for part in cluster.dimensions[:outermost])
    return tuple((own[:, None] * span + inside[None, :]).ravel() for own in units)


def _inside(cluster: Cluster, along: Sequence[int]) -> Numbers:
    """Chips of a unit that take part: the first so many along each dimension in it."""
    chips, span = np.zeros(1, dtype=np.int64), 1
    for part, members in zip(cluster.dimensions, along, strict=False):
        chips = (np.arange(members)[:, None] * span + chips[None, :]).ravel()
        span *= part.size
    return chips
