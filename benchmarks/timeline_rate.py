"""A timeline of GPT-3 175B's step, kernel by kernel: seconds of one core to write it, and its bytes, by kind of file.

Seconds are of the processor, the better of several runs. Figures are JSON on the last line.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

from volvelle import Catalogue, ParallelMapping, TrainingStep, transformer
from volvelle.estimators.event_driven.estimator import EventDriven
from volvelle.interchange.perfetto import write_timeline

LIMITS = {"json.gz": (2.0, 5e6)}
"""Seconds and bytes at most."""


def main() -> None:
    """Replay, write, and end with a line of JSON."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--json", action="store_true", help="The last line alone.")
    reader.add_argument("--repeats", type=int, default=3)
    asked = reader.parse_args()
    catalogue = Catalogue()
    step = TrainingStep(model=transformer(catalogue.model("gpt3-175b")), batch=1536)
    mapping = ParallelMapping(tensor=8, pipeline=8, data=16)
    replayed = EventDriven().replayed(step, catalogue.cluster("dgx-a100/1024"), mapping)
    tasks = int((replayed.step.graph.durations > 0.0).sum())
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("json", "json.gz"):
            file, took = Path(folder) / f"step.{kind}", []
            for _ in range(asked.repeats):
                start = time.process_time()
                write_timeline(replayed, file)
                took.append(time.process_time() - start)
            found[kind] = {"seconds": min(took), "bytes": file.stat().st_size}
            if not asked.json:
                print(f"{kind:8} {min(took):6.2f} s {file.stat().st_size / 1e6:8.2f} MB")
    print(json.dumps({"tasks": tasks, "found": found, "limits": LIMITS}))


if __name__ == "__main__":
    main()
