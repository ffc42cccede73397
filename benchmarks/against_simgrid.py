"""Every flow's end by ours and by SimGrid, on random traffic over networks of up to 256 hosts.

Six kinds of network, four kinds of traffic: random pairs, a permutation, a shift of a ring whose messages wait for each
other, and all-to-all of a part. Sizes are whole bytes, as SimGrid has them. The last line is what was found, as JSON.
"""

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from volvelle.interchange.simgrid.engine import simgrid_ends, simgrid_python
from volvelle.simulation.flow.flows import Flows, RouteTable, flow_times
from volvelle.system.routing import Routing, Rule
from volvelle.system.topologies import Dragonfly, FatTree, RailOnly, Torus
from volvelle.system.topologies.base import AbstractTopology

NETWORKS: dict[str, tuple[AbstractTopology, int]] = {
    "fat tree 1:1": (FatTree(16, 1.0), 128),
    "fat tree 2:1": (FatTree(16, 2.0), 256),
    "fat tree 4:1": (FatTree(8, 4.0), 64),
    "torus 4 × 4 × 4": (Torus((4, 4, 4)), 64),
    "dragonfly": (Dragonfly(16), 128),
    "rail-only": (RailOnly(16), 96),
}
TRAFFIC = ("random", "permutation", "ring", "all-to-all")
RATE, LATENCY = 50e9, 2e-6


@dataclass(frozen=True)
class Case:
    network: str
    traffic: str
    rule: Rule
    capacities: np.ndarray
    flows: Flows


def cases(draws: int) -> Iterator[Case]:
    """So many of every network."""
    for place, (name, (shape, hosts)) in enumerate(NETWORKS.items()):
        for draw in range(draws):
            yield case(name, shape, hosts, TRAFFIC[draw % len(TRAFFIC)], seed=1000 * place + draw)


def case(name: str, shape: AbstractTopology, hosts: int, traffic: str, *, seed: int) -> Case:
    chance = np.random.default_rng(seed)
    rule = Rule.RANDOM if seed // 4 % 2 else Rule.DESTINATION
    wiring = shape.wiring(hosts, rule)
    before = np.zeros((0, 2), dtype=np.int64)
    if traffic == "random":
        source = chance.integers(0, hosts, 200)
        target = (source + chance.integers(1, hosts, 200)) % hosts
    elif traffic == "permutation":
        source, target = np.arange(hosts), chance.permutation(hosts)
    elif traffic == "ring":
        members = chance.permutation(hosts)[:24]
        steps = 8
        source, target = np.tile(members, steps), np.tile(np.roll(members, -1), steps)
        later = np.arange(24, 24 * steps)
        earlier = (later // 24 - 1) * 24 + (later % 24 - 1) % 24
        before = np.stack([earlier, later], axis=1)
    else:
        members = chance.permutation(hosts)[:16]
        source, target = (members[part] for part in np.divmod(np.arange(256), 16))
    apart = source != target
    source, target = source[apart], target[apart]
    routes = wiring.routes(source, target, Routing(rule=rule, seed=seed).picks(source, target))
    flows = Flows(
        routes=RouteTable.of(routes.links, routes.shares),
        route=np.arange(len(source)),
        size=np.round(chance.uniform(1e5, 1e8, len(source))),
        latency=np.where(chance.random(len(source)) < 0.5, LATENCY, 0.0),
        before=before,
    )
    return Case(name, traffic, rule, RATE * wiring.capacities, flows)


def difference(one: Case) -> float:
    """Largest, of any flow's end, in parts of it."""
    ours, theirs = flow_times(one.capacities, one.flows), simgrid_ends(one.capacities, one.flows)
    return float(np.abs(theirs.end / ours.end - 1.0).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the figures alone")
    parser.add_argument("--draws", type=int, default=12, help="cases of every network")
    asked = parser.parse_args()
    if simgrid_python() is None:
        print(json.dumps({"against_simgrid": "SimGrid 3.32 is not installed; scripts/simgrid brings it"}))
        return
    worst: dict[str, float] = {}
    count, flows, start = 0, 0, time.perf_counter()
    for one in cases(asked.draws):
        found = difference(one)
        worst[one.network] = max(worst.get(one.network, 0.0), found)
        count, flows = count + 1, flows + len(one.flows)
        if not asked.json:
            print(
                f"{one.network}, {one.traffic}, {one.rule.value}: {len(one.flows)} flows, {found:.1e} apart", flush=True
            )
    seconds = time.perf_counter() - start
    print(json.dumps({"cases": count, "flows": flows, "seconds": round(seconds, 1), "worst": worst}))


if __name__ == "__main__":
    main()
