"""The best layout of a trillion-parameter GPT on 4096 A100, proven over the whole space, on one core.

The space without off-load holds at least the 1 053 228 configurations that Calculon counts for this model and machine,
the space with off-load at least its 7 276 848.
"""

import argparse
import json
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

from volvelle import Catalogue, ClosedForm, TrainingStep, transformer
from volvelle.mapping.parallelism import Schedule
from volvelle.search.exhaustive import Ranking, search
from volvelle.search.space import Space

PLAIN = Space(
    schedule=(Schedule.ONE_FORWARD_ONE_BACKWARD, Schedule.ZERO_BUBBLE, Schedule.GPIPE),
    fused_attention=(True, False),
    overlap=(True, False),
    recompute_every=(1, 2, 4),
    context=(1, 2, 4, 8, 16, 32),
    largest_micro_batch=4096,
)
OFFLOAD = Space(
    schedule=(Schedule.ONE_FORWARD_ONE_BACKWARD, Schedule.ZERO_BUBBLE, Schedule.GPIPE),
    fused_attention=(True, False),
    overlap=(True, False),
    recompute_every=(1, 2, 4),
    context=(1, 2, 4, 8, 16, 32),
    offload_weights=(False, True),
    offload_optimiser=(False, True),
    offload_activations=(False, True),
    largest_micro_batch=4096,
)


def figures(ranking: Ranking, seconds: float, work: float, peak: float) -> dict[str, object]:
    """What is printed of one search."""
    best = ranking.best[0]
    mapping = best.mapping
    return {
        "configurations": ranking.configurations,
        "evaluated": ranking.evaluated,
        "pruned": ranking.pruned,
        "seconds": round(seconds, 2),
        "best": {
            "seconds": best.time,
            "mfu": work / (best.time * mapping.chips * peak),
            "memory_bytes": best.memory,
            **mapping.described(),
        },
    }


def main() -> None:
    """Search both spaces, print the figures on the last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="figures as JSON on the last line")
    given = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    catalogue = Catalogue()
    step = TrainingStep(model=transformer(catalogue.model("megatron-1t")), batch=4096)
    cluster = catalogue.cluster("dgx-a100/4096")
    peak = float(cluster.chip.matrix_rates["bf16"])
    found = {}
    for name, space in (("plain", PLAIN), ("offload", OFFLOAD)):
        start = time.perf_counter()
        ranking = search(space, step, cluster, ClosedForm())
        found[name] = figures(ranking, time.perf_counter() - start, step.flops, peak)
    print(json.dumps(found) if given.json else json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
