"""Chips given to axes in every way, and what collectives and hand-overs then take on the real network."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import permutations
from math import prod

from volvelle.errors import MappingError
from volvelle.estimators.collectives import NESTED
from volvelle.estimators.dataflow.chip_graph import Exchange
from volvelle.estimators.rates import SustainedRates
from volvelle.estimators.training.checks import divisors
from volvelle.laws.collectives import point_to_point_time
from volvelle.mapping.placement import members
from volvelle.search.graph.answer import Axis, Degrees, Group
from volvelle.system.cluster import Cluster
from volvelle.workload.tensor_layout import Collective

AXES: tuple[Axis, ...] = ("tensor", "pipeline", "data")


def factorisations(
    chips: int,
    *,
    tensor: Sequence[int] = (),
    pipeline: Sequence[int] = (),
    data: Sequence[int] = (),
) -> tuple[tuple[int, int, int], ...]:
    """Every (tensor, pipeline, data) whose product is so many chips; of given degrees only, where some are given."""
    every = divisors(chips)
    found = tuple(
        (one, other, chips // one // other)
        for one in tensor or every
        for other in pipeline or every
        if chips % (one * other) == 0 and (not data or chips // one // other in data)
    )
    if not found:
        raise MappingError(
            f"no tensor × pipeline × data of those asked for makes {chips} chips: tensor {tuple(tensor) or 'any'}, "
            f"pipeline {tuple(pipeline) or 'any'}, data {tuple(data) or 'any'}"
        )
    return found


def placements(cluster: Cluster, degrees: Iterable[tuple[int, int, int]] | None = None) -> tuple[Degrees, ...]:
    """Every way to give all chips to tensor, pipeline and data groups, and to lay these on the network.

    `degrees` restricts it to some (tensor, pipeline, data). Groups lie on the network one inside the other, in every
    order; orders that give each group the same share of every network dimension are one.
    """
    chips = cluster.accelerators
    triples = factorisations(chips) if degrees is None else tuple(degrees)
    found: dict[object, Degrees] = {}
    for triple in triples:
        if len(triple) != 3 or min(triple) < 1 or prod(triple) != chips:
            raise MappingError(
                f"tensor × pipeline × data is {' × '.join(map(str, triple))}, but {cluster.name!r} has {chips} chips; "
                "the product must be the number of chips"
            )
        for order in permutations(AXES):
            laid = placed(cluster, dict(zip(AXES, triple, strict=True)), order)
            found.setdefault((triple, *(laid.group(axis).spans for axis in AXES)), laid)
    return tuple(found.values())


def placed(cluster: Cluster, degree: Mapping[Axis, int], order: Sequence[Axis]) -> Degrees:
    """Groups laid on the network one inside the other, the first innermost."""
    groups, stride = [], 1
    for axis in order:
        along = members(float(degree[axis]), float(stride), cluster.spans)
        spans = tuple(
            (dimension.name, round(float(count)))
            for dimension, count in zip(cluster.dimensions, along, strict=True)
            if float(count) > 1
        )
        groups.append(Group(axis=axis, degree=degree[axis], stride=stride, spans=spans))
        stride *= degree[axis]
    return Degrees(groups=tuple(groups))


class Network:
    """Times of a cluster's network, by group."""

    def __init__(self, cluster: Cluster, element: str) -> None:
        self.machine = SustainedRates.of(cluster, element)
        self._known: dict[tuple[int, int], Exchange] = {}

    def exchange(self, group: Group) -> Exchange:
        """Seconds of a collective over a group, by the bytes of the whole tensor."""
        key = (group.degree, group.stride)
        if key in self._known:
            return self._known[key]
        tiers = self.machine.tiers(float(group.degree), float(group.stride))

        @cache
        def seconds(collective: Collective, size: float) -> float:
            if group.degree == 1:
                return 0.0
            if collective not in NESTED:
                raise MappingError(f"no conversion between layouts takes a {collective.value}; there is no law for it")
            own = size / group.degree if collective is Collective.ALL_TO_ALL else size
            return float(NESTED[collective](own, tiers))

        self._known[key] = seconds
        return seconds

    def hand_over(self, group: Group, size: float) -> float:
        """Seconds to hand so many bytes to the next stage, where that is farthest; nothing for none."""
        if not size or group.degree == 1:
            return 0.0
        names = {name for name, _ in group.spans}
        return max(
            float(level.setup + point_to_point_time(size, rate=level.rate, latency=level.latency))
            for level in self.machine.levels
            if level.name in names
        )
