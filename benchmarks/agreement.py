"""Whether `map` kernel by kernel and `estimate` are one physics: the same question asked of both, many times over.

Two things are held to 1e-9. With Megatron's splits and the same degrees, `map` takes the time and the memory that
`estimate` says. And Megatron's splits named operation by operation, as the search names those it finds, have the closed
form of the layout itself. Prints the worst of each as JSON with --json.
"""

import argparse
import json
import sys
from dataclasses import dataclass, replace

import volvelle
from volvelle.mapping.axes import TENSOR
from volvelle.mapping.axis_shardings import axis_shardings
from volvelle.mapping.sharding import TensorSharding
from volvelle.workload.operations import Phase
from volvelle.workload.tensor_layout import REPLICATED, split

MODELS = {
    "gpt3-175b": "dense",
    "opt-6.7b": "dense",
    "llama2-7b": "gated",
    "gemma-7b": "gated",
    "llama3-8b": "grouped",
    "llama3-70b": "grouped",
    "falcon-40b": "grouped",
    "mixtral-8x7b": "experts",
    "qwen3-30b-a3b": "experts",
    "olmoe-1b-7b": "experts",
    "deepseek-v2-lite": "latent",
    "deepseek-v3": "latent",
    "gemma3-27b": "alternating",
    "llama4-maverick": "alternating",
    "nemotron-h-56b": "alternating",
}
MACHINES = ("dgx-h100/64", "dgx-a100/128", "tpu-v5p-pod/64")
DEGREES = ((8, 1), (4, 2), (2, 4))


@dataclass(frozen=True, kw_only=True)
class Case:
    """How far apart two answers to one question are, as shares."""

    fits: bool
    time: float
    memory: float
    flops: float
    parameters: int


def compared(model: str, machine: str, tensor: int, pipeline: int) -> Case:
    """One question asked both ways."""
    cluster = volvelle.Catalogue().cluster(machine)
    data = cluster.accelerators // tensor // pipeline
    asked = volvelle.map(
        model,
        on=cluster,
        execution="kernels",
        sharding="megatron",
        tensor=(tensor,),
        pipeline=(pipeline,),
        data=(data,),
        micro_batches=8 * cluster.accelerators,
    )
    plan = asked.mapping.plan
    # Where nothing fits, the layouts themselves are compared.
    mapping = volvelle.ParallelMapping(tensor=tensor, pipeline=pipeline, data=data, sequence_parallel=tensor > 1)
    if plan is not None and plan.mapping is not None:
        mapping = plan.mapping
    same = volvelle.estimate(model, on=cluster, batch=8 * cluster.accelerators, mapping=mapping)
    mine = same.estimate
    named = volvelle.ClosedForm().estimate(same.step, cluster, _named(same.step, mapping))
    others = [(one.time, one.memory_bytes) for one in (named, plan) if one is not None]
    return Case(
        fits=plan is not None,
        time=max(abs(time / mine.time - 1.0) for time, _ in others),
        memory=max(abs(memory / mine.memory_bytes - 1.0) for _, memory in others),
        flops=abs(asked.flops / same.flops - 1.0),
        parameters=abs(asked.parameters - same.parameters),
    )


def _named(step: volvelle.TrainingStep, mapping: volvelle.ParallelMapping) -> volvelle.ParallelMapping:
    """The layout with every operation's split named."""
    whole = step.whole
    splits = {}
    for block in whole.blocks:
        sharded = axis_shardings(whole, block, mapping.structure)[TENSOR]
        splits[block.name] = {op.name: sharded.dims[op.name] for op in block.operations if op.phase is Phase.FORWARD}
    boundary = split("position") if mapping.sequence_parallel else REPLICATED
    return replace(mapping, sharding=TensorSharding.of(splits, boundary))


def main() -> None:
    """Ask every model on every machine it has heads for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="figures as JSON on the last line")
    given = parser.parse_args()
    cases: list[Case] = []
    kinds: set[str] = set()
    for model, kind in MODELS.items():
        for machine in MACHINES:
            for tensor, pipeline in DEGREES:
                try:
                    case = compared(model, machine, tensor, pipeline)
                except volvelle.MappingError:
                    continue  # the degree divides no heads, or no batch
                cases.append(case)
                kinds.add(kind)
                print(f"{model} {machine} tensor {tensor} pipeline {pipeline}: {case.time:.1e} {case.memory:.1e}")
    worst = {
        f"worst_{name}": max(float(getattr(case, name)) for case in cases)
        for name in ("time", "memory", "flops", "parameters")
    }
    figures = {"cases": len(cases), "kinds": sorted(kinds), "fitting": sum(case.fits for case in cases), **worst}
    if given.json:
        print(json.dumps(figures))
    sys.exit(0 if max(worst.values()) < 1e-9 else 1)


if __name__ == "__main__":
    main()
