"""How fast steps are replayed: longest path, event queue, plain Python; and a large step from start to end.

The last line is JSON. Rates are of one core, warm; the first run of an installation compiles, which is stated beside.
"""

import argparse
import json
import time
from collections.abc import Callable

from volvelle import Catalogue, Cluster, ParallelMapping, TrainingStep, transformer
from volvelle.estimators.event_driven.estimator import EventDriven
from volvelle.simulation.compiler import INSTALLED, ready
from volvelle.simulation.events import event_queue
from volvelle.simulation.replay import longest_path, replay
from volvelle.simulation.tasks import TaskGraph

LIMITS = {
    "longest path, tasks/s": 20e6,
    "event queue, tasks/s": 5e6,
    "plain Python, tasks/s": 1e6,
    "bytes a task": 48.0,
    "405B on 16,384 chips, s": 1.0,
}
"""Rates at least, bytes and seconds at most."""


def seconds(action: Callable[[], object], repeats: int) -> float:
    """The best of several runs, in seconds of the processor: what else the machine does only adds."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        action()
        found.append(time.process_time() - start)
    return min(found)


def gpt3(catalogue: Catalogue) -> TaskGraph:
    """GPT-3 175B on 1,024 A100s, 96 micro-batches through 8 stages, kernel by kernel."""
    step = TrainingStep(model=transformer(catalogue.model("gpt3-175b")), batch=1536)
    mapping = ParallelMapping(tensor=8, pipeline=8, data=16)
    return EventDriven().replayed(step, catalogue.cluster("dgx-a100/1024"), mapping).step.graph


def large(catalogue: Catalogue, chips: int) -> tuple[TrainingStep, Cluster, ParallelMapping]:
    """Llama 3.1 405B: 16 stages in 8 pieces, 128 micro-batches."""
    data = chips // (8 * 16)
    step = TrainingStep(model=transformer(catalogue.model("llama3.1-405b"), sequence=8192), batch=128 * data)
    mapping = ParallelMapping(tensor=8, pipeline=16, data=data, interleave=8)
    return step, catalogue.cluster(f"dgx-h100/{chips}"), mapping


def main() -> None:
    """Measure, print, and end with a line of JSON."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--repeats", type=int, default=20)
    asked = reader.parse_args()
    catalogue = Catalogue()
    before = ready(longest_path)
    cold = seconds(lambda: (replay(_SMALL, compiled=True), event_queue(_SMALL, compiled=True)), 1)
    graph = gpt3(catalogue)
    count = len(graph)
    question = large(catalogue, 16_384)
    found: dict[str, float] = {
        "longest path, tasks/s": count / seconds(lambda: replay(graph, compiled=True), asked.repeats),
        "event queue, tasks/s": count / seconds(lambda: event_queue(graph, compiled=True), asked.repeats),
        "plain Python, tasks/s": count / seconds(lambda: replay(graph, compiled=False), 3),
        "bytes a task": graph.bytes_per_task,
        "405B on 16,384 chips, s": seconds(lambda: EventDriven().estimate(*question), 3),
        "405B on 1,048,576 chips, s": seconds(lambda: EventDriven().estimate(*large(catalogue, 1_048_576)), 3),
    }
    for name, value in found.items():
        print(f"{name:30} {value:14,.2f}   limit {LIMITS.get(name, float('nan')):14,.2f}")
    print(f"{count:,} tasks; first run {cold:.2f} s ({'kept' if before else 'compiled'})")
    print(json.dumps({"found": found, "limits": LIMITS, "tasks": count, "first_run": cold, "compiled": INSTALLED}))


_SMALL = TaskGraph.of([1.0, 1.0], [0, 1], [[], [0]])

if __name__ == "__main__":
    main()
