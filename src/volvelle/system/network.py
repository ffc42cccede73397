"""All links of a machine, dimension inside dimension, and the links between any two of its chips."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from volvelle.errors import DescriptionError
from volvelle.system.cluster import Cluster, Dimension
from volvelle.system.routing import Numbers, Routing, Rule
from volvelle.system.wirings.wiring import NONE, Routes, Shares, Wiring


@dataclass(frozen=True, slots=True, kw_only=True)
class _Level:
    """One dimension: as many copies of a wiring as there are units above it and places below it."""

    dimension: Dimension
    wiring: Wiring
    routing: Routing
    inside: int
    """Chips of a unit below, each on a rail of its own."""
    first: int
    """Number of the first link."""
    links: int
    """Of one copy."""


class Network:
    """Directed links of a cluster, chips' ports included.

    Every chip of a unit is joined with its fellows of the same place in the other units. A message to a chip of another
    place goes there inside its own unit first, dimension by dimension from the innermost.
    """

    def __init__(self, cluster: Cluster, *, routing: Routing | None = None) -> None:
        """The links of a machine; `routing` stands in for the rule of every dimension."""
        self.cluster = cluster
        levels, inside, first = [], 1, 0
        for dimension in cluster.dimensions:
            rule = _rule(cluster, dimension, routing)
            wiring = dimension.topology.wiring(dimension.size, rule.rule)
            links = len(wiring.capacities)
            levels.append(
                _Level(dimension=dimension, wiring=wiring, routing=rule, inside=inside, first=first, links=links)
            )
            first += links * (cluster.accelerators // dimension.size)
            inside *= dimension.size
        self.levels = tuple(levels)
        self.links = first

    def capacities(self, rates: Sequence[float] | None = None) -> Shares:
        """Bytes a second of every link; `rates` are of one chip in each dimension, by default what links sustain."""
        given = [float(level.dimension.link.sustained) for level in self.levels] if rates is None else rates
        chips = self.cluster.accelerators
        parts = [
            np.tile(rate * level.wiring.capacities, chips // level.dimension.size)
            for level, rate in zip(self.levels, given, strict=True)
        ]
        return np.concatenate(parts)

    def routes(self, sources: Numbers, targets: Numbers) -> Routes:
        """Links between two chips each, a row a pair; none where both are the same."""
        here, there = np.asarray(sources, dtype=np.int64), np.asarray(targets, dtype=np.int64)
        found = Routes(np.zeros((len(here), 0), dtype=np.int64))
        for level in self.levels:
            size, inside = level.dimension.size, level.inside
            if size == 1:
                continue
            picks = level.routing.picks(here, there) if level.routing.rule is Rule.RANDOM else there // inside % size
            own = level.wiring.routes(here // inside % size, there // inside % size, picks)
            # The place below is that of the target, the unit above that of the source.
            copy = here // (inside * size) * inside + there % inside
            links = np.where(own.links >= 0, own.links + (level.first + copy * level.links)[:, None], NONE)
            found = found.beside(replace(own, links=links))
        return found

    def route(self, source: int, target: int) -> tuple[int, ...]:
        """Links between two chips."""
        links = self.routes(np.array([source]), np.array([target])).links[0]
        return tuple(int(link) for link in links if link >= 0)

    def latencies(self, sources: Numbers, targets: Numbers) -> Shares:
        """Seconds before the first byte: those of every dimension that is crossed."""
        found = np.zeros(len(sources))
        for level in self.levels:
            size, inside = level.dimension.size, level.inside
            crosses = np.asarray(sources) // inside % size != np.asarray(targets) // inside % size
            found += np.where(crosses, float(level.dimension.link.latency), 0.0)
        return found

    def dimension_of(self, link: int) -> int:
        """Which dimension a link is of, innermost 0."""
        return max(place for place, level in enumerate(self.levels) if level.first <= link)

    def link_name(self, link: int) -> str:
        """What a link joins, and of which dimension it is."""
        level = self.levels[self.dimension_of(link)]
        copy, own = divmod(link - level.first, level.links)
        unit, place = divmod(copy, level.inside)
        where = [level.dimension.name]
        if self.cluster.accelerators > level.inside * level.dimension.size:
            where.append(f"unit {unit}")
        if level.inside > 1:
            where.append(f"rail {place}")
        return f"{' '.join(where)}: {level.wiring.link_name(own)}"


def _rule(cluster: Cluster, dimension: Dimension, given: Routing | None) -> Routing:
    rule = given or dimension.routing
    if rule is None and dimension.topology.chooses(dimension.size):
        raise DescriptionError(
            f"network dimension {dimension.name!r} of {cluster.name} has several shortest ways between its units and "
            "does not say which are taken; say routing_rule in its file, or --routing: d-mod-k, random or adaptive"
        )
    return rule or Routing(rule=Rule.DESTINATION)
