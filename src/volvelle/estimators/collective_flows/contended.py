"""How long a collective takes as flows on a machine's links: in order, as it is placed, and beside other jobs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from volvelle.errors import OutsideDomainError
from volvelle.estimators.collective_flows.algorithms import broadcast, direct, halving_doubling, in_network, two_trees
from volvelle.estimators.collective_flows.exchange import (
    Exchange,
    at_once,
    check_count,
    flows_of,
    flows_on_ports,
    shifted,
)
from volvelle.estimators.collective_flows.placement import Placement, placed
from volvelle.estimators.collective_flows.rings import axes_of, channels_of, nested_rings, rail_rings
from volvelle.estimators.collectives import LAWS, Algorithm
from volvelle.estimators.rates import SustainedRates
from volvelle.laws.nested_collectives import nested_all_reduce_time
from volvelle.simulation.flow.flows import flow_times
from volvelle.system.cluster import Cluster
from volvelle.system.network import Network
from volvelle.system.routing import Numbers, Routing
from volvelle.workload.tensor_layout import Collective

_MOST_CHIPS = 65_536
_MOST_CONTENDED = 200_000
"""Messages that are still timed where each may end at a moment of its own: half a minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A collective that some chips run."""

    kind: Collective
    size: float
    """Bytes of the whole tensor."""
    algorithm: Algorithm = Algorithm.NESTED


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkUse:
    """What a link has to do with the time of an exchange."""

    name: str
    limited: float
    """Seconds of flows whose rate it has set."""
    used: float
    """Bytes that crossed it, over what it could carry until the last flow ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContendedTime:
    """The time of a collective as flows, step by step from its law to what it shares links with."""

    ideal: float
    """By the law of the same algorithm: no launching, no filling, no fitted contention, a latency a step."""
    in_order: float
    """As flows, ranks in order, alone."""
    alone: float
    """As it is placed, alone."""
    beside: float
    """As it is placed, beside the other jobs."""
    messages: int
    """Of this job."""
    limiting: LinkUse
    """The link that held flows up longest, with all jobs running."""

    @property
    def causes(self) -> Mapping[str, float]:
        """By what factor each makes it longer; their product is all of it."""
        return {
            "routes, ranks in order": self.in_order / self.ideal,
            "placement of ranks": self.alone / self.in_order,
            "other jobs": self.beside / self.alone,
        }

    @property
    def factor(self) -> float:
        """Over the law of the same algorithm."""
        return self.beside / self.ideal


def contended_time(
    cluster: Cluster,
    job: Job,
    along: Sequence[int],
    *,
    beside: Sequence[Job] = (),
    placement: Placement = Placement.IN_ORDER,
    routing: Routing | None = None,
    seed: int = 0,
) -> ContendedTime:
    """Time of a job's collective on the links of a machine, others of as many chips each running theirs beside it.

    All start at once, and each runs once: a job whose messages are short is soon out of the way.
    """
    if Algorithm.IN_NETWORK in {each.algorithm for each in (job, *beside)} and (beside or along[0] == 1):
        raise OutsideDomainError(
            "a network that adds up is timed as flows for one job alone in the innermost dimension; take another "
            "algorithm, like nested"
        )
    if cluster.accelerators > _MOST_CHIPS:
        raise OutsideDomainError(
            f"flows are timed on machines of up to {_MOST_CHIPS:,} chips, not of {cluster.accelerators:,}; take fewer, "
            f"like {cluster.name.rpartition('/')[0] or cluster.name}/1024"
        )
    network = Network(cluster, routing=routing)
    capacities = network.capacities(_rates(cluster, job))

    def seconds(jobs: Sequence[Job], chips: Sequence[Numbers]) -> tuple[float, LinkUse, int]:
        parts = [exchange_of(each, cluster, along) for each in jobs]
        whole = at_once([shifted(part, where) for part, where in zip(parts, chips, strict=True)])
        if len(jobs) > 1 or placement is not Placement.IN_ORDER:
            check_count(len(whole), most=_MOST_CONTENDED)
        flows = (flows_on_ports if job.algorithm is Algorithm.IN_NETWORK else flows_of)(whole, network)
        found = flow_times(capacities, flows)
        longest = int(found.limited.argmax())
        use = LinkUse(
            name=network.link_name(longest),
            limited=float(found.limited[longest]),
            used=float(found.carried[longest] / capacities[longest] / found.time),
        )
        return float(found.end[: len(parts[0])].max()), use, len(parts[0])

    in_order, limiting, messages = seconds([job], placed(cluster, along, 1, Placement.IN_ORDER))
    chips = placed(cluster, along, 1 + len(beside), placement, seed=seed)
    alone, together = in_order, in_order
    if placement is not Placement.IN_ORDER:
        alone, limiting, _ = seconds([job], chips[:1])
        together = alone
    if beside:
        together, limiting, _ = seconds([job, *beside], chips)
    return ContendedTime(
        ideal=ideal_time(job, cluster, along),
        in_order=in_order,
        alone=alone,
        beside=together,
        messages=messages,
        limiting=limiting,
    )


def _rates(cluster: Cluster, job: Job) -> list[float]:
    """What a chip sustains in each dimension; less where the network adds up."""
    adds = job.algorithm is Algorithm.IN_NETWORK
    links = [part.link for part in cluster.dimensions]
    return [float(link.sustained * (link.reduction_efficiency if adds else 1.0)) for link in links]


def exchange_of(job: Job, cluster: Cluster, along: Sequence[int]) -> Exchange:
    """Messages of a job's collective among members 0, 1, 2 …, innermost dimension first."""
    chips = prod(along)
    shapes = [part.topology for part, members in zip(cluster.dimensions, along, strict=True) if members > 1]
    spanned = [members for members in along if members > 1]
    if job.kind is Collective.ALL_TO_ALL:
        return direct(chips, job.size, passes=1)
    if job.kind is Collective.BROADCAST:
        return broadcast(chips, job.size)
    gathers = job.kind is not Collective.ALL_REDUCE
    if job.algorithm is Algorithm.RING and len(spanned) > 1:
        each = prod(spanned[:-1])
        return rail_rings(spanned[-1], each, job.size, passes=1 if gathers else 2)
    if job.algorithm in (Algorithm.NESTED, Algorithm.RING):
        return nested_rings(
            axes_of(shapes, spanned),
            job.size,
            channels_of(shapes, spanned),
            scatter=job.kind is not Collective.ALL_GATHER,
            gather=job.kind is not Collective.REDUCE_SCATTER,
        )
    if job.algorithm is Algorithm.HALVING_DOUBLING:
        return halving_doubling(chips, job.size)
    made: dict[Algorithm, Callable[[int, float], Exchange]] = {
        Algorithm.TREE: two_trees,
        Algorithm.DIRECT: direct,
        Algorithm.IN_NETWORK: in_network,
    }
    if len(spanned) > 1:
        raise OutsideDomainError(
            f"{job.algorithm.value} over {len(spanned)} network dimensions has no flows yet; take nested, ring or "
            "halving-doubling, or a group of one dimension"
        )
    return made[job.algorithm](chips, job.size)


def ideal_time(job: Job, cluster: Cluster, along: Sequence[int]) -> float:
    """The law of the algorithm whose messages are timed, where nothing is in the way.

    A ring has a latency for each of its steps; of nested rings one dimension follows the other.
    """
    rates = SustainedRates.of(cluster, next(iter(cluster.chip.matrix_rates)), software=False)
    bare = replace(
        rates, levels=tuple(replace(level, contention=0.0, setup=0.0, fill=0.0, unhidden=0.0) for level in rates.levels)
    )
    tiers = bare.tiers_of([float(count) for count in along])
    gathers = (Collective.ALL_GATHER, Collective.REDUCE_SCATTER)
    along_dimensions = job.algorithm is Algorithm.NESTED or (
        job.algorithm is Algorithm.RING and sum(count > 1 for count in along) == 1
    )
    if job.algorithm is Algorithm.HALVING_DOUBLING:
        halved = [replace(tier, steps=np.log2(tier.chips), reduces=False) for tier in tiers]
        return float(nested_all_reduce_time(job.size, halved, pipelined=False))
    if not along_dimensions or job.kind not in (Collective.ALL_REDUCE, *gathers):
        return float(LAWS[job.kind][job.algorithm](job.size, tiers))
    stepped = [
        replace(tier, steps=float(sum(side - 1 for side in axes_of([part.topology], [count]))), reduces=False)
        for part, tier, count in zip(cluster.dimensions, tiers, along, strict=True)
    ]
    passes = 0.5 if job.kind in gathers else 1.0
    return passes * float(nested_all_reduce_time(job.size, stepped, pipelined=False))
