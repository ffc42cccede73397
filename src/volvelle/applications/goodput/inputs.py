"""What of a run the catalogue knows: failures of a cluster's parts, recovery, power and place, spares."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from volvelle.applications.goodput.run_plan import PREEMPTION, JobHazard, PartHazard, RecoveryPolicy, SitePower
from volvelle.catalogue.places import cloud_places, place_called
from volvelle.catalogue.reliability import (
    NODE,
    Hazard,
    hazards_of,
    part_hazards,
    rate_prior,
    recorded_days,
    recorded_faults,
    stated_node_power,
    stated_share,
    stated_time,
    time_prior,
)
from volvelle.economics.machine_power import it_power
from volvelle.errors import DescriptionError
from volvelle.laws.reliability.rate_update import gamma_shape, updated_rate
from volvelle.quantities import DAY
from volvelle.questions.job import WAYS, Way
from volvelle.simulation.failures.service import NodesOut, nodes_out_over
from volvelle.spread import LogNormal
from volvelle.system.cluster import Cluster
from volvelle.system.inventory import Inventory

_LARGEST_NODE = 16
_RADIX = 64
"""Ports of a switch."""
_METERED = "h100-sxm"
"""The chip whose nodes somebody has metered in training: how far off any other's power may be is taken from it."""


def node_size(cluster: Cluster) -> int:
    """Accelerators that share a host: those of the innermost network where that is a node's, or eight."""
    inner = cluster.dimensions[0].size
    return min(inner if 1 < inner <= _LARGEST_NODE else NODE, cluster.accelerators)


def node_count(cluster: Cluster) -> int:
    """Hosts."""
    return max(1, math.ceil(cluster.accelerators / node_size(cluster)))


def part_counts(cluster: Cluster) -> dict[str, float]:
    """Parts of a cluster that stop a job, counted from its own topology: cables and switches of the network between."""
    outer = [network for network in Inventory.of(cluster).networks if network.reach == "scale-out"]
    links = sum(float(np.asarray(network.links)) for network in outer)
    ports = sum(float(np.asarray(network.ports)) for network in outer)
    nodes = float(node_count(cluster))
    return {
        "gpu": float(cluster.accelerators),
        "host": nodes,
        "nic": float(cluster.accelerators) if links else 0.0,
        "link": links,
        "switch": ports / _RADIX,
        "software": nodes,
    }


def prior_hazard(cluster: Cluster) -> tuple[JobHazard, tuple[str, ...]]:
    """Failures of a cluster that nobody has watched: the level of clusters that were, parts as the trace has them."""
    prior = rate_prior()
    own = next(hazard for hazard in hazards_of("infinitehbd") if hazard.part == "node")
    level = prior.median / own.rate.value
    parts = tuple(
        PartHazard(part=part, count=count, rate=level * part_hazards()[part].rate.value)
        for part, count in part_counts(cluster).items()
        if count
    )
    doubt, notes = prior.spread(cluster.accelerators, cluster.chip.family).factor, []
    if cluster.accelerators > prior.largest:
        notes.append(
            f"failures: no cluster of more than {prior.largest:,} accelerators is among those measured; the interval "
            "is wider for it"
        )
    if not prior.watched(cluster.chip.family):
        notes.append(f"failures: none were counted on chips like {cluster.chip.name}; those of GPUs are taken, wider")
    basis = f"{1000 * DAY * prior.median:.2g} a 1000 node-days, ×/÷ {doubt:.2f}: {', '.join(prior.studies)}"
    return JobHazard(parts=parts, doubt=doubt, basis=basis), tuple(notes)


def stated_hazard(cluster: Cluster, own: Sequence[Hazard]) -> JobHazard:
    """Failures at rates of one's own file."""
    named = [hazard.part for hazard in own]
    if len(set(named)) < len(named):
        twice = next(part for part in named if named.count(part) > 1)
        raise DescriptionError(f"the rate of a {twice} is stated twice; state each part once")
    inner = sorted(set(named) & {"gpu", "host", "nic", "link", "switch"})
    if "node" in named and inner:
        raise DescriptionError(
            f"a node's rate holds that of its {inner[0]} already; state either the node or its parts"
        )
    counts = {**part_counts(cluster), "node": float(node_count(cluster)), "planned": float(node_count(cluster))}
    parts = tuple(PartHazard(part=hazard.part, count=counts[hazard.part], rate=hazard.rate.value) for hazard in own)
    factors = [hazard.rate.spread.factor for hazard in own if isinstance(hazard.rate.spread, LogNormal)]
    what = "; ".join(f"{hazard.part}: {hazard.what_counts}" for hazard in own)
    return JobHazard(parts=parts, doubt=max(factors, default=1.0), basis=f"stated ({what})")


def after_events(hazard: JobHazard, *, nodes: int, events: float, node_days: float) -> JobHazard:
    """The same after own events: what others saw counts for as much as its spread allows."""
    shape = float(gamma_shape(max(hazard.doubt, 1.0 + 1e-6)))
    mean = hazard.rate * math.exp(math.log(hazard.doubt) ** 2 / 2) / nodes
    updated = float(updated_rate(shape, mean, events=events, exposure=node_days * DAY)) * nodes
    scale = updated / hazard.rate
    return JobHazard(
        parts=tuple(PartHazard(part=part.part, count=part.count, rate=scale * part.rate) for part in hazard.parts),
        shape=shape + events,
        basis=f"{events:g} events in {node_days:,.0f} node-days of your own, and before them {hazard.basis}",
    )


def recovery_policy(
    way: Way = "asynchronous",
    *,
    restart: float | None = None,
    stall: float | None = None,
    write: float | None = None,
    interval: float | None = None,
    replicas: int = 1,
    common: float = 0.0,
    survived: float | None = None,
    storage_stall: float | None = None,
    storage_restart: float | None = None,
) -> RecoveryPolicy:
    """How a job recovers; what is not given is as studies have it, with their spread."""
    if way not in WAYS:
        raise DescriptionError(f"recovery is {way!r}; it must be one of {', '.join(WAYS)}")
    tiered = way == "two-tier"
    if tiered != (survived is not None):
        raise DescriptionError(
            "two tiers need the share of failures that a peer's memory survives, like survived='90 %'; no "
            "source of ours has it, and your own log does: all but those that take out a node and its peer"
            if tiered
            else f"a share of failures that are survived is stated, but recovery is {way}; make it two-tier"
        )
    for name, value in {"storage_stall": storage_stall, "storage_restart": storage_restart}.items():
        if value is not None and not tiered:
            raise DescriptionError(f"{name} is of storage behind a memory, but recovery is {way}; make it two-tier")
    if replicas > 1 and way != "elastic":
        raise DescriptionError(f"{replicas} replicas restart alone, but recovery is {way}; make it elastic")
    if common and way != "elastic":
        raise DescriptionError(
            f"a common share of failures stops all replicas, but recovery is {way}, where every failure does; leave it "
            "out, or make recovery elastic"
        )
    if write is not None and tiered:
        raise DescriptionError("a write goes on behind the work, but both tiers of two stall it; give their stalls")
    usual = stored = time_prior("restart", "automated")
    detection = stated_share("megascale", "detection_of_restart").value
    if way in ("memory", "two-tier"):
        # Nothing is read from storage and nothing is replaced: what is left is noticing it, and starting.
        usual = LogNormal(usual.median * detection, usual.factor)
    behind = way != "synchronous"
    paused = time_prior("stall", "asynchronous" if behind else "synchronous")
    flight = time_prior("write", "asynchronous")
    written = behind and way not in ("memory", "two-tier")
    standing = time_prior("stall", "synchronous")
    return RecoveryPolicy(
        restart=_stated(restart, usual),
        stall=_stated(stall, paused),
        detection=detection,
        write=(flight.median if written else 0.0) if write is None else write,
        write_doubt=flight.factor if written and write is None else 1.0,
        interval=interval,
        replicas=max(replicas, 2) if way == "elastic" else 1,
        common=common,
        survived=survived,
        storage_stall=_stated(storage_stall, standing) if tiered else None,
        storage_restart=_stated(storage_restart, stored) if tiered else None,
    )


def _stated(time: float | None, usual: LogNormal) -> LogNormal:
    return usual if time is None else LogNormal(time, 1.0)


def site_power(cluster: Cluster, region: str | None = None, year: int | None = None) -> tuple[SitePower | None, str]:
    """Power of an accelerator with its host, PUE and grid of a place, and what that rests on."""
    watts = it_power(cluster, chips=1.0)
    if watts is None:
        return None, "the catalogue has no power of the chip"
    if region is None:
        grams = np.quantile([place.grams_per_kwh for place in cloud_places()], [0.1, 0.5, 0.9])
        grid = (float(grams[0]), float(grams[1]), float(grams[2]))
        pue, where = float(np.max(cluster.pue)), f"no place: between eight in ten of {len(cloud_places())} regions"
    else:
        place = place_called(region, year)
        grid = (place.grams_per_kwh,) * 3
        pue = float(np.max(cluster.pue)) if place.pue is None else place.pue
        where = f"{place.name}, {place.where}, {place.year}: {place.grams_per_kwh:g} g/kWh, {place.accounting}"
    return (
        SitePower(
            training=float(np.max(watts)),
            idle=stated_share("node-power", "idle_load").value,
            pue=pue,
            doubt=_power_doubt(),
            place=region or "",
            grams_per_kwh=grid,
        ),
        f"{float(np.max(watts)):,.0f} W an accelerator with its host in training, PUE {pue:g}; {where}",
    )


def _power_doubt() -> float:
    metered = stated_node_power(_METERED, "training")
    return metered.spread.factor if metered is not None and isinstance(metered.spread, LogNormal) else 1.0


@cache
def recorded_out(since: float = 0.0, until: float | None = None) -> NodesOut:
    """Nodes out in the recorded trace, between two days or to its end."""
    faults = recorded_faults()
    starts, ends = np.array([fault.start for fault in faults]), np.array([fault.end for fault in faults])
    return nodes_out_over(starts, ends, since=since, until=recorded_days() if until is None else until)


def preempted(hazard: JobHazard, *, every: float) -> JobHazard:
    """The same on capacity that is taken away every so many seconds, on average."""
    taken = PartHazard(part=PREEMPTION, count=1.0, rate=1.0 / every)
    return replace(
        hazard,
        parts=(*hazard.parts, taken),
        basis=f"{hazard.basis}; preempted every {every / 3600:.3g} h, as stated",
    )


def repair_time() -> float:
    """Seconds that a node is out on average, in the trace."""
    return stated_time("infinitehbd", "repair").value


def spares_from_trace(share: float, *, until: float, block: float = 20.0) -> tuple[float, float, float]:
    """Spares for a share of the time by the trace up to a day: low, over all of it, and high.

    The ends are one in ten of blocks of days, each by itself: bursts with a common cause make one month unlike another.
    """
    edges = np.arange(0.0, until, block)
    alone = [recorded_out(float(edge), float(edge) + block).quantile(share) for edge in edges]
    low, high = np.quantile(alone, [0.1, 0.9])
    whole = recorded_out(0.0, until).quantile(share)
    return float(low), whole, max(float(high), whole)
