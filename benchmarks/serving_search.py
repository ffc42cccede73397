"""Seconds that a joint search of ten thousand ways to serve takes, to p99 goodput, on two cores.

Machines, layouts, formats, token budgets and numbers of sequences of Llama 3 70B under a Poisson load and two limits of
p99. The machine of batching is compiled before, once; everything else is in the time. With --brute, so many candidates
of one node are searched with and without bounds, and both must have the same winner.
"""

import argparse
import json
import os
import time
from dataclasses import replace

os.environ.setdefault("OMP_NUM_THREADS", "1")

from volvelle.applications.serving.goodput import AskedLoad, trial
from volvelle.catalogue import Catalogue
from volvelle.interchange.limit_words import read_limits
from volvelle.interchange.load_words import read_load
from volvelle.verbs.plan_serving.candidates import Candidates, candidates
from volvelle.verbs.plan_serving.plan_question import ServingPlanQuestion
from volvelle.verbs.plan_serving.screening import Search
from volvelle.verbs.plan_serving.search import run_search
from volvelle.verbs.plan_serving.spending import spending
from volvelle.verbs.serving.request_lengths import request_lengths

QUESTION = ServingPlanQuestion(
    model="llama3-70b",
    on=("dgx-h100/32", "dgx-h200/32", "dgx-b200/32", "dgx-a100/32"),
    load="poisson 12/s",
    slo="p99 ttft 2 s, p99 tpot 50 ms",
    input=2048,
    output=512,
    max_batched_tokens=(1024, 2048, 3072, 4096, 6144, 8192, 12288, 16384),
    max_seqs=(16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024),
)


def asked(question: ServingPlanQuestion, count: int) -> tuple[Search, Candidates]:
    """What is searched: so many candidates, or all that there are."""
    catalogue = Catalogue()
    clusters = [catalogue.cluster(name) for name in question.on]
    load = read_load(question.load)
    shape = catalogue.model(question.model)
    prices = spending("dollars", clusters).of_chip
    search = Search(
        catalogue=catalogue,
        shape=shape,
        asked=AskedLoad(load=load, shape=request_lengths(load, question.served)),
        limits=read_limits(question.slo),
        chip_cost={cluster.name: price for cluster, price in zip(clusters, prices, strict=True)},
    )
    found = candidates(question.served, clusters, shape, question.axes, catalogue)
    kept = Candidates(left_out=found.left_out)
    every = max(1, found.count // count)  # of all layouts and formats some
    for group in found.groups:
        room = count - kept.count
        if room > 0:
            kept.groups.append(replace(group, questions=group.questions[::every][:room]))
    return search, kept


def main() -> None:
    """Search, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="figures as JSON on the last line")
    parser.add_argument("--candidates", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--brute", type=int, default=0, help="candidates to search without bounds too")
    given = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: given.workers])
    warm, few = asked(replace(QUESTION, tensor=(8,)), 1)
    first = few.groups[0]
    start = time.perf_counter()
    trial(first.questions[0].instance(warm.catalogue, warm.shape, first.cluster), warm.asked, warm.limits, 0.01)
    figures: dict[str, float | str | bool] = {"first_trial_s": round(time.perf_counter() - start, 2)}
    begun = time.perf_counter()
    search, considered = asked(QUESTION, given.candidates)
    found = run_search(search, considered.groups, top=5, workers=given.workers)
    figures |= {
        "candidates": found.candidates,
        "seconds": round(time.perf_counter() - begun, 2),
        "processor_s": round(found.processor_seconds, 2),
        "followed": found.followed,
        "trials": found.trials,
        "winner": found.best[0].question.command if found.best else "",
    }
    if given.brute:
        search, considered = asked(replace(QUESTION, on=("dgx-h100/8",), load="poisson 4/s"), given.brute)
        bounded = run_search(search, considered.groups, top=1, workers=1)
        start = time.perf_counter()
        brute = run_search(replace(search, bounded=False), considered.groups, top=1, workers=1)
        figures |= {
            "brute_candidates": brute.candidates,
            "brute_s": round(time.perf_counter() - start, 2),
            "brute_trials": brute.trials,
            "bounded_trials": bounded.trials,
            "brute_winner": brute.best[0].question.command if brute.best else "",
            "same_winner": [one.question for one in bounded.best[:1]] == [one.question for one in brute.best[:1]],
        }
    if given.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:20} {value}")


if __name__ == "__main__":
    main()
