"""How long doubt takes on one core: samples of a layout, shares of its doubt, the likeliest of many layouts.

Also how far chances of being the fastest move from 4096 samples to 16 384. The last line is a summary as JSON.
"""

import json
import os
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import volvelle
from volvelle import Catalogue, ClosedForm, ParallelMapping, TrainingStep, UnderUncertainty, transformer
from volvelle.estimators.sobol_points import ScrambledSobol
from volvelle.search.exhaustive import search
from volvelle.search.space import Space
from volvelle.verbs.layouts import Layouts
from volvelle.verbs.likely_best import contest
from volvelle.verbs.why_unsure import why_unsure

SYSTEM, BATCH = "dgx-h100/2048", 2048


def timed(action: Callable[[], Any], repeat: int = 3) -> tuple[float, Any]:
    """The least of a few times of the processor, and what was answered."""
    least, found = float("inf"), None
    for _ in range(repeat):
        start = time.process_time()
        found = action()
        least = min(least, time.process_time() - start)
    return least, found


def main() -> None:
    known = Catalogue()
    cluster, step = known.cluster(SYSTEM), TrainingStep(model=transformer(known.model("llama3-405b")), batch=BATCH)
    layout = ParallelMapping(tensor=8, pipeline=16, data=16, zero=1)
    ScrambledSobol(2).column("warm")
    sampled, _ = timed(lambda: UnderUncertainty(estimator=ClosedForm(), samples=2**14).estimate(step, cluster, layout))
    asked: dict[str, Any] = {"on": SYSTEM, "batch": BATCH, "tensor": 8, "pipeline": 16, "data": 16, "zero": 1}
    shares, why = timed(lambda: why_unsure("llama3-405b", samples=4096, **asked))
    estimated, _ = timed(lambda: volvelle.estimate("llama3-405b", **asked))
    ranking = search(Space(), step, cluster, ClosedForm(), top=1024)
    made = Layouts(None, step, ClosedForm().estimate(step, cluster, ranking.best[0].mapping))
    layouts = made.merged(ranking.best)[:64]
    few_time, few = timed(lambda: contest(step, cluster, layouts, ClosedForm(), samples=4096), 1)
    _, many = timed(lambda: contest(step, cluster, layouts, ClosedForm(), samples=2**14), 1)
    moved = max(abs((a.p_best or 0.0) - (b.p_best or 0.0)) for a, b in zip(few.layouts, many.layouts, strict=True))
    found = {
        "seconds_of_16384_samples": round(sampled, 3),
        "seconds_of_shares": round(shares, 2),
        "inputs": len(why.shares),
        "seconds_of_estimate": round(estimated, 3),
        "layouts": len(layouts),
        "seconds_of_p_best": round(few_time, 2),
        "p_best_of_first": few.layouts[0].p_best,
        "largest_move_of_p_best": round(moved, 4),
        "layouts_sharing_nine_tenths": few.sharing,
    }
    for name, value in found.items():
        print(f"{name:32s} {value}")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
