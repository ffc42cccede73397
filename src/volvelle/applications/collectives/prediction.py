"""What the model says for a measured collective: the catalogue's cluster, the package's own laws."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import final

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.collectives.collective_error import collective_range, links_of
from volvelle.applications.collectives.measured_groups import Spanned
from volvelle.applications.collectives.measurements import CollectiveMeasurement
from volvelle.applications.contract import Question
from volvelle.catalogue import Catalogue
from volvelle.estimators.collectives import LAWS, Algorithm, Law
from volvelle.estimators.contract import Estimator
from volvelle.estimators.rates import SustainedRates
from volvelle.estimators.result import Contribution, Estimate
from volvelle.laws.collectives import all_to_all_time, point_to_point_time
from volvelle.system.cluster import Cluster
from volvelle.system.topologies import FullyConnected

Column = NDArray[np.float64]

_COLLECTIVES = {kind.value.replace("-", "_"): kind for kind in LAWS}
"""By their names in measured tables."""
_MESSAGES = ("osu_bw", "osu_bibw", "osu_latency")
_SHORT = 2.0**20


def why_unusable(row: CollectiveMeasurement) -> str | None:
    """Why a row cannot be held against the model; None where it can."""
    copied = row.head.group.startswith("peers-") and row.library.startswith("torch")
    reasons = {
        f"excluded by the split: {row.head.flags}": row.head.split == "excluded",
        "the source does not state how many chips took part": row.chips is None,
        "one chip alone exchanges nothing": row.chips == 1 and row.operation not in _MESSAGES,
        "the source does not state the size of the message": row.size is None,
        "the source states neither a time nor a bandwidth": row.time is None,
        "no entry of the catalogue describes the system": not row.cluster,
        f"no law for {row.operation}": row.operation not in (*_COLLECTIVES, *_MESSAGES),
        "timed with the copies between a list of tensors and one buffer": copied
        and (
            row.operation in ("all_gather", "reduce_scatter")
            or ("nnscaler" in row.head.group and row.operation != "all_reduce")
        ),
        "the source saves one node and two alike for 16 dies": "nnscaler" in row.head.group and row.chips == 16,
        "how the dies of this node are wired is not published; only short messages are held against the model": (
            "nnscaler" in row.head.group and (row.size or 0.0) > _SHORT
        ),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Collective:
    """What is timed; how it is done is the algorithm's."""

    operation: str
    chips: int
    nodes: int | None
    library: str
    size: float
    """Bytes."""


CollectiveQuestion = Question[Collective, str, None]
"""A collective by the algorithm that its source names; empty: the library's choice. Constants are the links' own."""

# A thousand rows ask for a few dozen clusters.
_named_cluster = lru_cache(maxsize=1024)(Catalogue.cluster)


def collective_question(row: CollectiveMeasurement, catalogue: Catalogue) -> CollectiveQuestion | str:
    """What a row asks, or why it asks nothing."""
    reason = why_unusable(row)
    if reason is not None:
        return reason
    assert row.chips is not None, "a row without is unusable"
    assert row.size is not None, "a row without is unusable"
    # As many chips as took part; of a message between two, the whole machine.
    count = 1024 if row.operation in _MESSAGES else row.chips
    asked = Collective(operation=row.operation, chips=row.chips, nodes=row.nodes, library=row.library, size=row.size)
    return Question(
        candidates=((asked, row.algorithm),),
        system=_named_cluster(catalogue, f"{row.cluster}/{count}"),
        calibration=None,
    )


@final
@dataclass(frozen=True, slots=True)
class CollectiveTime(Estimator[Collective, str]):
    """The package's own laws of collectives, on the catalogue's links."""

    def estimate(self, asked: Collective, system: Cluster, algorithm: str) -> Estimate[Collective, str]:
        """The time of one collective."""
        time = float(collective_times(asked, system, algorithm, np.array([asked.size]))[0])
        law = point_to_point_time if asked.operation in _MESSAGES else _law(asked.operation, algorithm)
        told = getattr(law, "__name__", "")
        return Estimate(
            workload=asked,
            decision=algorithm,
            contributions=(
                Contribution(
                    name=asked.operation,
                    part="network",
                    time=time,
                    exposed=True,
                    resource="network",
                    law=told,
                ),
            ),
            chips=asked.chips,
            ranges={"time": collective_range(time, asked.size, _crossed(asked, system))},
        )


def _crossed(asked: Collective, system: Cluster) -> Spanned:
    """Links that a collective goes over; a message between two nodes those of the outermost."""
    if asked.operation in _MESSAGES:
        return tuple((part.link.name, 2.0) for part in system.dimensions[: 1 if (asked.nodes or 1) < 2 else None])
    return links_of(system, (part.size for part in system.dimensions))


def collective_times(asked: Collective, cluster: Cluster, algorithm: str, sizes: Column) -> Column:
    """Seconds of a collective at many sizes."""
    if asked.operation in _MESSAGES:
        return _message_times(cluster, asked.nodes, sizes)
    element = next(iter(cluster.chip.matrix_rates))
    tiers = SustainedRates.of(cluster, element, software=False).tiers(float(asked.chips), 1.0)
    if asked.library.startswith("TransferBench"):
        # Copies without a collective library: nothing is launched, no pipeline filled.
        tier = tiers[0]
        return np.asarray(all_to_all_time(sizes, tier.chips, rate=tier.rate, latency=0.0, bisection=tier.bisection))
    if "SHARP" in algorithm:
        tiers = [replace(tier, reduces=True) for tier in tiers]
    return np.asarray(_law(asked.operation, algorithm)(sizes, tiers))


def stated_algorithm(said: str) -> Algorithm:
    """The algorithm that a source names; what the library chose is taken to be what training uses."""
    return Algorithm.RING if said.startswith("Ring") and "Tree" not in said else Algorithm.NESTED


def _law(operation: str, algorithm: str) -> Law:
    known = LAWS[_COLLECTIVES[operation]]
    return known.get(stated_algorithm(algorithm), known[Algorithm.NESTED])


def _message_times(cluster: Cluster, nodes: int | None, sizes: Column) -> Column:
    """One message between two chips of a node, or of two nodes, by a library that launches nothing on the chip."""
    dimension = cluster.dimensions[0 if nodes == 1 else 1]
    rate = dimension.link.sustained
    if isinstance(dimension.topology, FullyConnected):
        rate = rate / (dimension.size - 1)  # a chip's links are shared over its neighbours
    return np.asarray(point_to_point_time(sizes, rate=rate, latency=dimension.link.latency))
