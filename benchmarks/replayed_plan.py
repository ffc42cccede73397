"""Replays of the best rows of a plan: how long they take, and how often the order changes.

The last line is JSON. Seconds are of one core, warm.
"""

import argparse
import json
import time

import volvelle
from volvelle.estimators.event_driven.estimator import EventDriven

MODEL, SYSTEM, BATCH = "gpt3-175b", "dgx-a100/1024", 1536
LIMIT = 30.0
"""Seconds for a hundred rows at most."""
FIRST = 10
"""Rows whose order is compared."""


def main() -> None:
    """Plan, replay, compare."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--rows", type=int, default=100)
    asked = reader.parse_args()
    plan = volvelle.plan(MODEL, on=SYSTEM, batch=BATCH, top=asked.rows)
    found = plan.layouts[: asked.rows]
    start = time.process_time()
    times = []
    for layout in found:
        event = EventDriven()
        ordered = event.problem(plan.step, layout.mapping) is None
        replayed = event.replayed(plan.step, plan.cluster, layout.mapping).time if ordered else None
        times.append((float(layout.time), replayed))
    spent = time.process_time() - start
    both = [(closed, event) for closed, event in times if event is not None]
    off = sorted(abs(closed / event - 1.0) for closed, event in both)
    by_event = sorted(range(len(both)), key=lambda place: both[place][1])
    first = by_event[:FIRST]
    figures = {
        "rows": len(found),
        "replayed": len(both),
        "seconds": round(spent, 2),
        "limit": LIMIT,
        "median_difference": off[len(off) // 2],
        "worst_difference": off[-1],
        "first_ten_in_another_place": sum(place != rank for rank, place in enumerate(first)),
        "first_ten_new": sum(place >= FIRST for place in first),
        "best_by_replay_is_row": by_event[0] + 1,
        "lost_by_taking_the_first": both[0][1] / both[by_event[0]][1] - 1.0,
    }
    for name, value in figures.items():
        print(f"{name.replace('_', ' ')}: {value}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
