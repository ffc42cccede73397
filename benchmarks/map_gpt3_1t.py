"""The best mapping of GPT3-1T to 1024 chips: degrees, sharding, stages, tiles and fusion searched together, proven.

The layer is the 41-kernel graph of DFModel (arXiv 2412.16432), 128 of them, a batch of 3072 sequences, one a
micro-batch. The SN30 is the chip of its published inputs, core by core, with the memories and links they combine it
with, on its torus of 8 × 128; the others are clusters of the catalogue. Parameters take 16 bytes; weights are read from
DRAM for every micro-batch, in pieces where they do not fit the SRAM.
"""

import argparse
import json
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

from volvelle import Catalogue, Cluster, Dimension, Link, Ring
from volvelle.catalogue.published.dfmodel import dfmodel
from volvelle.estimators.dataflow.on_chip import OnChip
from volvelle.search.graph.answer import MappingAnswer
from volvelle.search.graph.joint import map_graph
from volvelle.workload.families.gpt_layer import GptLayer, gpt_layer_training

BATCH = 3072
STUDY = (("hbm", "pcie"), ("hbm", "nvlink"), ("ddr", "nvlink"), ("ddr", "pcie"))
CLUSTERS = ("trn2-ultra/1024", "tpu-v4-pod/1024", "dgx-h100/1024")


def gpt3_1t() -> GptLayer:
    """The published shape."""
    found = dfmodel().workload("gpt3-1t")
    return GptLayer(
        name="GPT3-1T",
        hidden=found.hidden or 0,
        heads=found.heads or 0,
        head_dim=found.head_dim or 0,
        ffn=found.ffn or 0,
        sequence=found.sequence or 0,
        layers=128,
    )


def published(memory: str, link: str) -> tuple[Cluster, OnChip]:
    """An SN30 with one of the study's memories, on the study's torus with one of its links."""
    data = dfmodel()
    chip, dram = data.accelerator("sn30"), data.memory(memory)
    dims = data.topology("LLM", "2d_torus").dims
    wire = Link(name=link, rate=data.link(link).rate or 0.0)
    cluster = Cluster(
        name=f"SN30, {memory}, {link}",
        chip=Catalogue().chip("sn30"),
        dimensions=tuple(
            Dimension(name=name, size=size, topology=Ring(), link=wire)
            for name, size in zip(("x", "y"), dims, strict=True)
        ),
    )
    cores = OnChip(
        cores=chip.cores,
        width=chip.lane_width,
        height=chip.stage_width,
        clock=chip.clock,
        sram=chip.sram,
        dram_rate=dram.rate,
        dram_capacity=dram.capacity or float("inf"),
        utilisation=0.9,
    )
    return cluster, cores


def figures(found: MappingAnswer) -> dict[str, object]:
    """What is printed of one search."""
    plan = found.plan
    shown: dict[str, object] = {
        "seconds": round(found.seconds, 2),
        "proven": found.proven,
        "gap": found.gap,
        "bound": found.bound,
        "degrees": found.counts.degrees,
        "pruned": found.counts.pruned,
        "full": found.counts.full,
        "shardings": found.counts.shardings,
        "fusions": found.counts.fusions,
    }
    if plan is None:
        return shown | {"violations": [one.problem for one in found.violations]}
    block = plan.blocks[0]
    return shown | {
        "best": {
            "step": plan.time,
            "utilisation": plan.utilisation,
            "degrees": str(plan.degrees),
            "spans": {group.axis: dict(group.spans) for group in plan.degrees.groups},
            "boundary": str(plan.boundary),
            "tile": block.tile,
            "partitions": len(block.partitions),
            "conversions": [f"{one.collective.value} {one.tensor}" for one in block.sharded.conversions],
            "parts": plan.parts(),
            "binding": plan.binding,
            "memory_bytes": plan.memory_bytes,
        }
    }


def main() -> None:
    """Map it to every machine, print the figures on the last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="figures as JSON on the last line")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds each search may take")
    parser.add_argument("--only", default="", help="machines whose name holds this")
    given = parser.parse_args()
    workload, found = gpt_layer_training(gpt3_1t()), {}
    machines: list[tuple[Cluster, OnChip | None]] = [published(memory, link) for memory, link in STUDY]
    machines += [(Catalogue().cluster(name), None) for name in CLUSTERS]
    for cluster, chip in machines:
        if given.only.lower() in cluster.name.lower():
            mapping = map_graph(
                workload, cluster, stream="position", micro_batches=BATCH, chip=chip, time_limit=given.limit
            )
            found[cluster.name] = figures(mapping)
    print(json.dumps(found) if given.json else json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
