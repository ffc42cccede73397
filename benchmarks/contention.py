"""What sharing links costs: jobs on a tree, shuffled ranks, all-to-all on a torus, traffic of a training step at once.

Factors are over the law of the same messages with nothing in the way. Figures are JSON on the last line.
"""

import argparse
import json
from collections.abc import Mapping, Sequence

import numpy as np

import volvelle
from volvelle.estimators.collective_flows.contended import Job, contended_time
from volvelle.estimators.collective_flows.exchange import Exchange, Messages, at_once, flows_of, shifted
from volvelle.estimators.collective_flows.placement import Placement
from volvelle.estimators.collective_flows.rings import Channel, nested_rings
from volvelle.simulation.flow.flows import flow_times
from volvelle.system.chip import Chip, Memory
from volvelle.system.cluster import Cluster, Dimension
from volvelle.system.link import Link
from volvelle.system.network import Network
from volvelle.system.routing import Routing, Rule
from volvelle.system.topologies import FatTree, Torus
from volvelle.system.topologies.base import AbstractTopology
from volvelle.workload.tensor_layout import Collective

RING = Job(kind=Collective.ALL_REDUCE, size=1e9)
DRAWS = 5
TENSOR, PIPELINE, DATA = 8, 8, 16
"""Degrees of GPT-3 175B on 1024 chips."""
HIDDEN, SEQUENCE, PARAMETERS = 12_288, 2048, 175e9


def hosts(shape: AbstractTopology, count: int, rule: Rule) -> Cluster:
    """One port a host."""
    link = Link(name="port", rate=50e9, latency=2e-6)
    memory = Memory(name="HBM", capacity=80e9, rate=2e12)
    chip = Chip(name="host", matrix_rates={"bf16": 1e15}, vector_rates={"fp32": 1e14}, buffer=4e7, memories=(memory,))
    net = Dimension(name="network", size=count, topology=shape, link=link, routing=Routing(rule=rule))
    return Cluster(name=f"hosts/{count}", chip=chip, dimensions=(net,))


def range_of(values: Sequence[float]) -> list[float]:
    """Least and most."""
    return [round(min(values), 2), round(max(values), 2)]


def two_rings() -> dict[str, object]:
    """Two rings of 32 on a tree of 64 hosts, leaves of 8."""
    found: dict[str, object] = {}
    for thinned in (1.0, 2.0, 4.0):
        tree = hosts(FatTree(16, thinned), 64, Rule.RANDOM)
        draws = [
            contended_time(
                tree,
                RING,
                (32,),
                beside=[RING],
                placement=Placement.SHUFFLED,
                routing=Routing(rule=Rule.RANDOM, seed=seed),
                seed=seed,
            )
            for seed in range(DRAWS)
        ]
        found[f"shuffled, random routes, {thinned:g}:1"] = {
            "alone": range_of([draw.alone / draw.ideal for draw in draws]),
            "beside": range_of([draw.factor for draw in draws]),
        }
    tree = hosts(FatTree(16, 1.0), 64, Rule.DESTINATION)
    for placement in (Placement.IN_ORDER, Placement.INTERLEAVED):
        draw = contended_time(tree, RING, (32,), beside=[RING], placement=placement)
        found[f"{placement.value}, d-mod-k, 1:1"] = {"alone": draw.alone / draw.ideal, "beside": draw.factor}
    spine = contended_time(
        hosts(FatTree(16, 8.0), 64, Rule.DESTINATION), RING, (32,), beside=[RING], placement=Placement.INTERLEAVED
    )
    found["interleaved on one spine"] = {"alone": spine.alone / spine.ideal, "beside": spine.factor}
    return found


def on_a_torus() -> dict[str, float]:
    """All-to-all, by routing rule."""
    job = Job(kind=Collective.ALL_TO_ALL, size=1e9)
    return {
        f"{side} × {side} × {side}, {rule.value}": round(
            contended_time(hosts(Torus((side,) * 3), side**3, rule), job, (side**3,)).factor, 3
        )
        for side in (4, 8)
        for rule in Rule
    }


def training_step() -> dict[str, float]:
    """GPT-3's gradients while activations still pass from stage to stage, on the ports of its nodes.

    Ranks as Megatron numbers them: tensor, data, pipeline. Every stage reduces the gradients of its share while it
    sends activations of a micro-batch forwards and gradients of one back, as many as the pipeline is deep. What tensor
    parallelism exchanges stays inside nodes, on links that neither of these crosses.
    """
    answer = volvelle.estimate(
        "gpt3-175b", on="dgx-a100/1024", tp=TENSOR, pp=PIPELINE, batch=1536, micro_batch=1, zero=0
    )
    network = Network(volvelle.Catalogue().cluster("dgx-a100/1024"))
    capacities = network.capacities()
    chip = np.arange(TENSOR * DATA * PIPELINE).reshape(PIPELINE, DATA, TENSOR)
    ring = Channel(axes=(0,), rings=(tuple(range(DATA)),))
    gradients = nested_rings((DATA,), 2.0 * PARAMETERS / TENSOR / PIPELINE, [ring])
    reduced = [shifted(gradients, chip[stage, :, place]) for stage in range(PIPELINE) for place in range(TENSOR)]
    handed = Messages()
    size = 2.0 * HIDDEN * SEQUENCE / TENSOR
    for ahead, behind in ((chip[:-1], chip[1:]), (chip[1:], chip[:-1])):
        earlier = None
        for _ in range(PIPELINE):
            numbers = handed.send(ahead.ravel(), behind.ravel(), size)
            if earlier is not None:
                handed.order(earlier, numbers)
            earlier = numbers
    data, pipeline = at_once(reduced), handed.exchange()
    together = flow_times(capacities, flows_of(at_once([data, pipeline]), network)).end

    def alone(exchange: Exchange) -> float:
        return flow_times(capacities, flows_of(exchange, network)).time

    data_factor = float(together[: len(data)].max()) / alone(data)
    pipeline_factor = float(together[len(data) :].max()) / alone(pipeline)
    lines = {line.name: float(line.time) for line in answer.estimate.contributions}
    step = float(answer.estimate.time)
    slower = (data_factor - 1.0) * lines.get("gradient reduction (DP)", 0.0)
    slower += (pipeline_factor - 1.0) * lines.get("pipeline send/recv", 0.0)
    return {
        "messages": len(data) + len(pipeline),
        "gradient_factor": round(data_factor, 4),
        "hand_over_factor": round(pipeline_factor, 3),
        "step_slower_percent": round(100.0 * slower / step, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the figures alone")
    asked = parser.parse_args()
    figures: dict[str, Mapping[str, object]] = {
        "two_rings": two_rings(),
        "all_to_all_on_a_torus": on_a_torus(),
        "gpt3_step": training_step(),
    }
    if not asked.json:
        for name, part in figures.items():
            print(name.replace("_", " "))
            for case, value in part.items():
                print(f"  {case}: {value}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
