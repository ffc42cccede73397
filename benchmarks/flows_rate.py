"""Flows a second on one core: a ring all-reduce of 1024 hosts, all-to-all, and random traffic on a tree of 2:1.

Seconds are of the processor, not of the clock, so that other processes do not count. The first run of an installation
compiles; the cold figure is what a process pays that finds it compiled. Figures are JSON on the last line.
"""

import argparse
import json
import time

import numpy as np

from volvelle.estimators.collective_flows.algorithms import direct
from volvelle.estimators.collective_flows.exchange import Exchange, flows_of
from volvelle.estimators.collective_flows.rings import channels_of, nested_rings
from volvelle.simulation.flow.flows import Flows, RouteTable, flow_times
from volvelle.system.chip import Chip, Memory
from volvelle.system.cluster import Cluster, Dimension
from volvelle.system.link import Link
from volvelle.system.network import Network
from volvelle.system.routing import Routing, Rule
from volvelle.system.topologies import FatTree

HOSTS, FLOWS = 1024, 4000
RATE = 50e9


def network() -> Network:
    """1024 hosts on a tree thinned two to one."""
    link = Link(name="port", rate=RATE, latency=2e-6)
    tree = Dimension(
        name="tree", size=HOSTS, topology=FatTree(64, 2.0), link=link, routing=Routing(rule=Rule.DESTINATION)
    )
    memory = Memory(name="HBM", capacity=80e9, rate=2e12)
    chip = Chip(name="host", matrix_rates={"bf16": 1e15}, vector_rates={"fp32": 1e14}, buffer=4e7, memories=(memory,))
    return Network(Cluster(name="hosts", chip=chip, dimensions=(tree,)))


def timed(capacities: np.ndarray, flows: Flows, together: float = 1e-9) -> tuple[float, np.ndarray]:
    """Seconds, the better of two, and ends."""
    found = []
    for _ in range(2):
        start = time.process_time()
        ends = flow_times(capacities, flows, together=together).end
        found.append(time.process_time() - start)
    return min(found), ends


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the figures alone")
    asked = parser.parse_args()
    net = network()
    capacities = net.capacities()
    chance = np.random.default_rng(0)
    source = chance.integers(0, HOSTS, FLOWS)
    target = (source + chance.integers(1, HOSTS, FLOWS)) % HOSTS
    routes = net.routes(source, target)
    random = Flows(
        routes=RouteTable.of(routes.links, routes.shares),
        route=np.arange(FLOWS),
        size=chance.uniform(1e6, 1e8, FLOWS),
        latency=np.zeros(FLOWS),
        before=np.zeros((0, 2), dtype=np.int64),
    )
    few = nested_rings((8,), 1e9, channels_of([FatTree(64)], (8,)))
    start = time.process_time()
    flow_times(capacities, flows_of(few, net))
    figures: dict[str, float] = {"cold_seconds": round(time.process_time() - start, 2)}
    symmetric: dict[str, Exchange] = {
        "ring_all_reduce": nested_rings((HOSTS,), 1e9, channels_of([FatTree(64)], (HOSTS,))),
        "all_to_all": direct(HOSTS, 1e9, passes=1),
    }
    for name, exchange in symmetric.items():
        seconds, _ = timed(capacities, flows_of(exchange, net))
        figures[f"{name}_flows"] = len(exchange)
        figures[f"{name}_flows_per_second"] = round(len(exchange) / seconds)
    seconds, exact = timed(capacities, random)
    rough_seconds, rough = timed(capacities, random, 1e-3)
    figures |= {
        "random_flows": FLOWS,
        "random_flows_per_second": round(FLOWS / seconds),
        "random_flows_per_second_within_1e-3": round(FLOWS / rough_seconds),
        "largest_error_of_a_flow": float(f"{np.abs(rough / exact - 1).max():.2g}"),
        "error_of_the_last_end": float(f"{abs(rough.max() / exact.max() - 1):.2g}"),
    }
    if not asked.json:
        for name, value in figures.items():
            print(f"{name.replace('_', ' ')}: {value:,}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
