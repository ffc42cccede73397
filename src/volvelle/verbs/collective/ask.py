"""How long one collective takes on a machine: by dimension, by algorithm, over sizes and over groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.collectives.collective_error import collective_range, links_of
from volvelle.base.python_function import asks
from volvelle.catalogue.schema import Reference
from volvelle.domains import SIZE
from volvelle.errors import DescriptionError, UnknownNameError, brief, plainly
from volvelle.estimators.collective_flows.contended import Job
from volvelle.estimators.collectives import LAWS, Algorithm, CollectiveParts, collective_parts
from volvelle.estimators.rates import SustainedRates
from volvelle.estimators.result import Range, RangedFigure
from volvelle.laws.collectives import bus_rate
from volvelle.presentable import Presentable
from volvelle.questions.collective import CollectiveQuestion
from volvelle.spread import Figure
from volvelle.system.cluster import Cluster
from volvelle.system.topologies.base import doublings
from volvelle.verbs.collective.flows import FlowAnswer, flow_answer
from volvelle.verbs.collective.group import groups_of, members_of
from volvelle.verbs.collective.library_choice import LibraryChoice, library_choices
from volvelle.verbs.named import catalogue_of, cluster_of
from volvelle.verbs.what_if import beside_baseline
from volvelle.workload.tensor_layout import Collective

SIZES = tuple(1024.0 * 2.0**power for power in range(25))
"""Messages that are looked at beside the one asked about: 1 KiB to 16 GiB."""
Kind = TypeVar("Kind")
_TIE = 1.001
"""Times within a thousandth of each other are one."""
_PASSES = {Collective.ALL_REDUCE: 2.0}
_FIELDS = ("rate", "efficiency", "latency", "setup", "fill", "contention", "reduction_efficiency")


@dataclass(frozen=True, slots=True, kw_only=True)
class DimensionPart:
    """What a collective takes in one network dimension."""

    name: str
    link: str
    members: int
    """Of the group along this dimension."""
    rate: float
    """Sustained by one chip, each direction."""
    latency: float
    fill: float
    transfer: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePoint:
    """A message of another size over the same group, or of the same size over another group."""

    size: float
    chips: int
    time: float
    bus_rate: float
    algorithms: Mapping[str, float]
    """Seconds by every algorithm that the network can do."""
    library: LibraryChoice | None = None
    """What NCCL would choose, where its cost model knows the machine."""

    @property
    def fastest(self) -> str:
        """The algorithm that takes least, or several that tie; nested, which is made of the best, where it is alone."""
        named = {name: time for name, time in self.algorithms.items() if name != Algorithm.NESTED.value}
        least = min((named or self.algorithms).values())
        return " or ".join(name for name, time in (named or self.algorithms).items() if time <= _TIE * least)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CollectiveAnswer(Presentable):
    """The time of a collective, where it goes, and how it changes with the message and the group.

    Its figures are `duration` in seconds, and `bus_bandwidth` and `algorithm_bandwidth` in bytes per second, as
    nccl-tests count them; `time`, `bus_rate` and `algorithm_rate` are the same without their ranges.

    Examples
    --------
    >>> import volvelle
    >>> answer = volvelle.collective("all-reduce", "1 GB", on="dgx-h100/64")
    >>> answer.duration.low < answer.duration.value < answer.duration.high
    True
    """

    operation: str
    size: float
    """Bytes of the whole tensor."""
    cluster: Cluster
    group: tuple[int, ...]
    """Members along each network dimension, innermost first."""
    algorithm: str
    parts: CollectiveParts
    dimensions: tuple[DimensionPart, ...]
    range: Range
    """Of the time."""
    algorithms: Mapping[str, float]
    """Seconds by every algorithm that the network can do."""
    refused: Mapping[str, str]
    """Algorithms that it cannot do, and why."""
    by_size: tuple[MessagePoint, ...]
    by_group: tuple[MessagePoint, ...]
    rests_on: Mapping[str, Figure]
    references: Mapping[str, Reference]
    notes: tuple[str, ...] = ()
    library: LibraryChoice | None = None
    """What NCCL would choose, where its cost model knows the machine."""
    flows: FlowAnswer | None = None
    """As flows on links of the machine, where that was asked."""
    baseline: "CollectiveAnswer | None" = None
    """Of the machine as it is, where some of its numbers were set."""

    @property
    def time(self) -> float:
        """Seconds."""
        return self.parts.time

    @property
    def duration(self) -> RangedFigure:
        """Seconds, with their range."""
        return RangedFigure(value=self.time, range=self.range, unit="s")

    @property
    def algorithm_bandwidth(self) -> RangedFigure:
        """Bytes of the tensor per second."""
        return self.duration.inverse(self.algorithm_rate, "B/s")

    @property
    def bus_bandwidth(self) -> RangedFigure:
        """Bytes per second that a chip's link would have to sustain, as nccl-tests count them."""
        return self.duration.inverse(self.bus_rate, "B/s")

    @property
    def chips(self) -> int:
        """Of the group."""
        return prod(self.group)

    @property
    def algorithm_rate(self) -> float:
        """Bytes of the tensor a second."""
        return self.size / self.time

    @property
    def bus_rate(self) -> float:
        """What a chip's link would have to sustain, as nccl-tests count it."""
        return _bus_rate(Collective(self.operation), self.size, self.chips, self.time)

    def bus_rate_of(self, point: MessagePoint, algorithm: str) -> float:
        """The same of another message or group, by some algorithm."""
        return _bus_rate(Collective(self.operation), point.size, point.chips, point.algorithms[algorithm])

    @property
    def bound(self) -> str:
        """What most of the time goes to: the rate of a dimension's links, or what comes before the first byte."""
        slowest = max(self.dimensions, key=lambda part: part.transfer)
        waits = max(self.dimensions, key=lambda part: part.latency)
        fills = max(self.dimensions, key=lambda part: part.fill)
        told = {
            f"the rate of {slowest.name} ({slowest.link})": self.parts.transfer,
            f"the latency of {waits.name} ({waits.link})": self.parts.latency,
            f"filling the pipeline of {fills.name} ({fills.link})": self.parts.fill,
            "launching": self.parts.setup,
        }
        return max(told, key=lambda name: told[name])

    @property
    def bound_share(self) -> float:
        """Share of the time that goes to what binds."""
        parts = self.parts
        return max(parts.transfer, parts.latency, parts.fill, parts.setup) / self.time


@asks(CollectiveQuestion)
@beside_baseline
def collective(question: CollectiveQuestion) -> CollectiveAnswer:
    """Return how long a collective takes, where the time goes, and the time of every algorithm that the network can do.

    `size` is the size of the whole tensor: the data of every GPU before an all-reduce or a reduce-scatter, after an
    all-gather or a broadcast, and the data that every GPU sends in an all-to-all. A `group` of 64 is 64 consecutive
    GPUs, ``(8, 64)`` or ``"8x64"`` is the GPUs along each network dimension; without one, all GPUs take part. With
    `estimator` "flows", or `flows`, the answer also has the time of messages that share links with each other and with
    other jobs. `set` changes fields of the machine (``{"scale_out.rate": "2x"}``); the answer then contains the answer
    for the unchanged machine as its `baseline`.
    """
    flows = question.as_flows
    kind = _named("collective", question.operation, {each.value: each for each in LAWS})
    known = catalogue_of(question.catalogue)
    cluster = cluster_of(question.on, known, stack=str(question.calibrated or ""), changes=question.set)
    along = members_of(question.group, cluster)
    if prod(along) < 2:
        raise DescriptionError(f"group is {brief(question.group)}; a collective needs at least two GPUs")
    wanted = _named("algorithm", question.algorithm, {each.value: each for each in Algorithm})
    if wanted not in LAWS[kind]:
        listed = ", ".join(each.value for each in LAWS[kind])
        raise DescriptionError(f"algorithm is {wanted.value}, which {kind.value} does not have; use {listed}")
    message = SIZE.read(question.size, "size")
    asked = _Asked(kind, cluster)
    refused = asked.refused(along)
    if wanted in refused:
        raise DescriptionError(f"algorithm is {wanted.value}, but {refused[wanted]}; use nested or ring")
    tiers = asked.rates.tiers_of([float(count) for count in along])
    parts = collective_parts(LAWS[kind][wanted], message, tiers)
    spanned = links_of(cluster, along)
    library = library_choices(kind, np.array([message]), cluster, along)
    return CollectiveAnswer(
        operation=kind.value,
        size=message,
        cluster=cluster,
        group=along,
        algorithm=wanted.value,
        parts=parts,
        dimensions=tuple(
            DimensionPart(
                name=part.name,
                link=part.link.name,
                members=count,
                rate=float(tier.rate),
                latency=took.latency,
                fill=took.fill,
                transfer=took.transfer,
            )
            for part, count, tier, took in zip(cluster.dimensions, along, tiers, parts.tiers, strict=True)
            if count > 1
        ),
        range=collective_range(parts.time, message, spanned),
        algorithms={name: float(times[0]) for name, times in asked.times(np.array([message]), along).items()},
        refused={each.value: why for each, why in refused.items()},
        by_size=asked.points(np.array(SIZES), along, wanted),
        by_group=tuple(
            point for other in groups_of(cluster) for point in asked.points(np.array([message]), other, wanted)
        ),
        rests_on={
            f"{part.link.name}.{name}": figure
            for part, count in zip(cluster.dimensions, along, strict=True)
            for name, figure in part.link.figures.items()
            if count > 1 and name in _FIELDS
        },
        references=known.references,
        notes=cluster.notes,
        library=None if library is None else library[0],
        flows=None
        if flows is None
        else flow_answer(
            cluster,
            along,
            flows,
            job=Job(kind=kind, size=message, algorithm=wanted),
            closed_form=parts.time,
        ),
    )


def _named(what: str, given: str, known: Mapping[str, Kind]) -> Kind:
    """What a word stands for, whatever its case and punctuation: ``AllReduce`` is an all-reduce."""
    plain = {plainly(name): kind for name, kind in known.items()}
    if plainly(str(given)) not in plain:
        raise UnknownNameError.among(what, str(given), known)
    return plain[plainly(str(given))]


def _bus_rate(kind: Collective, size: float, chips: int, time: float) -> float:
    if kind is Collective.BROADCAST:  # nccl-tests count it as it is
        return size / time
    return float(bus_rate(size, float(chips), time, passes=_PASSES.get(kind, 1.0)))


class _Asked:
    """A collective on a machine, over any group at any size."""

    def __init__(self, kind: Collective, cluster: Cluster) -> None:
        self.kind, self.cluster = kind, cluster
        element = next(iter(cluster.chip.matrix_rates))
        self.rates = SustainedRates.of(cluster, element, software=False)

    def refused(self, along: Sequence[int]) -> dict[Algorithm, str]:
        """Algorithms that the network of a group cannot do, and why."""
        spanned = [(level, count) for level, count in zip(self.rates.levels, along, strict=True) if count > 1]
        found = {}
        if not any(level.reduces for level, _ in spanned):
            found[Algorithm.IN_NETWORK] = "no network that the group spans can add up what it forwards"
        for level, count in spanned:
            steps = float(level.topology.steps(float(count)))
            if steps > float(doublings(float(count))):
                why = f"{level.name} does not join any two of its {count} at full rate"
                found |= dict.fromkeys((Algorithm.TREE, Algorithm.HALVING_DOUBLING), why)
            if steps > 1.0:
                found[Algorithm.DIRECT] = f"{level.name} has no link of their own between any two of {count}"
        return {algorithm: why for algorithm, why in found.items() if algorithm in LAWS[self.kind]}

    def times(self, sizes: NDArray[np.float64], along: Sequence[int]) -> dict[str, NDArray[np.float64]]:
        """Seconds by every algorithm that the network can do."""
        tiers = self.rates.tiers_of([float(count) for count in along])
        refused = self.refused(along)
        laws = {each: law for each, law in LAWS[self.kind].items() if each not in refused}
        if len(set(laws.values())) == 1:  # the ring by another name
            laws = {Algorithm.NESTED: laws[Algorithm.NESTED]}
        return {each.value: np.broadcast_to(law(sizes, tiers), sizes.shape) for each, law in laws.items()}

    def points(self, sizes: NDArray[np.float64], along: Sequence[int], wanted: Algorithm) -> tuple[MessagePoint, ...]:
        """Messages of some sizes over a group, by the algorithm that is wanted where its network can do it."""
        times = self.times(sizes, along)
        own = times.get(wanted.value, times[Algorithm.NESTED.value])
        chips = prod(along)
        library = library_choices(self.kind, sizes, self.cluster, along) or (None,) * len(sizes)
        return tuple(
            MessagePoint(
                size=float(size),
                chips=chips,
                time=float(own[place]),
                bus_rate=_bus_rate(self.kind, float(size), chips, float(own[place])),
                algorithms={name: float(each[place]) for name, each in times.items()},
                library=library[place],
            )
            for place, size in enumerate(sizes)
        )
