"""Runs flows on SimGrid: a question as JSON from standard input, the ends of all flows as JSON to a file.

This file is run by the Python that has SimGrid's bindings and imports nothing of ours. Every flow is an actor: it waits
for those before it, sleeps its latency, and sends.
"""

import json
import sys
from pathlib import Path
from typing import Any

import simgrid


def main() -> None:
    """Ask, run, answer."""
    question = json.load(sys.stdin)
    arguments = ["volvelle", *(f"--cfg={setting}" for setting in question["settings"]), "--log=root.thresh:error"]
    engine = simgrid.Engine(arguments)
    zone = simgrid.NetZone.create_full_zone("network")
    # A flow has two hosts of its own, so that two flows between the same chips may take different links.
    links = [zone.create_link(f"l{number}", [rate]) for number, rate in enumerate(question["capacities"])]
    for link in links:
        link.set_latency(0.0).seal()
    ends: list[float] = [0.0] * len(question["sizes"])
    hosts: dict[int, Any] = {}
    for number, route in enumerate(question["routes"]):
        sender, receiver = (zone.create_host(f"{end}{number}", 1.0) for end in "ab")
        hosts[number] = sender, receiver
        on_route = [simgrid.LinkInRoute(links[link]) for link in route]
        zone.add_route(sender.netpoint, receiver.netpoint, None, None, on_route, False)
    zone.seal()
    actors: dict[int, Any] = {}

    def flow(number: int) -> None:
        for ahead in question["before"][number]:
            actors[ahead].join()
        if question["latencies"][number] > 0.0:
            simgrid.this_actor.sleep_for(question["latencies"][number])
        sender, receiver = hosts[number]
        simgrid.Comm.sendto(sender, receiver, question["sizes"][number])
        ends[number] = simgrid.Engine.clock

    for number in question["order"]:
        actors[number] = simgrid.Actor.create(f"flow{number}", hosts[number][0], flow, number)
    engine.run()
    Path(question["answer"]).write_text(json.dumps({"ends": ends, "version": simgrid.simgrid_version}), "utf-8")


if __name__ == "__main__":
    main()
