"""A profile of this processor, replayed on it: at the recorded size, and at sizes that are measured only afterwards.

The zero test: a profile re-timed on the machine it was recorded on takes what was measured. Then a profile of several
such steps predicts a step of another batch and of another width, of which only sizes are given (an execution trace, no
times). Needs torch==2.13.0. Cores that others use are noisy: sizes are run in turns, a prediction takes the median of
every operation, less what others slowed the recorded steps by (the same prediction of the recorded size over the
processor's seconds of it), and it is held against the processor's seconds of a step.
The last line is JSON.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from volvelle import Chip, Cluster, Dimension, Link, Memory, Switch
from volvelle.verbs.replay import replay

LIMITS = {"the same step": 0.10, "another batch": 0.25, "another width": 0.25}
"""How far off, at most."""


def processor(rates: dict[str, float]) -> Cluster:
    """The processor by what one core sustains, with a link to another like it."""
    each = {"fp32": rates["flop_rate"]}
    chip = Chip(
        name="this-core",
        matrix_rates=each,
        vector_rates=each,
        buffer=1 << 20,
        memories=(Memory(name="DRAM", capacity=16e9, rate=rates["memory_rate"]),),
    )
    link = Link(name="loopback", rate=1e9, latency=50e-6)
    # A machine without calibrations is taken at its rates, and these were measured.
    return Cluster(
        name="this-core", chip=chip, dimensions=(Dimension(name="host", size=2, topology=Switch(), link=link),)
    )


def recorded(folder: Path, **sizes: Any) -> dict[str, float]:
    """Record in a process of its own; what steps took."""
    folder.mkdir()
    options = [
        word
        for name, value in sizes.items()
        for word in ([f"--{name}"] if value is True else [f"--{name}", str(value)])
    ]
    done = subprocess.run(
        [sys.executable, "-m", "tests.torch_recording", str(folder), *options],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        cwd=Path(__file__).parents[1],
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


SIZES: dict[str, dict[str, Any]] = {
    "the same step": {"batch": 4, "width": 256, "rates": True, "steps": 12},
    "another batch": {"batch": 8, "width": 256},
    "another width": {"batch": 4, "width": 384},
}


def recordings(folder: Path, rounds: int, repeats: int) -> dict[str, tuple[Path, dict[str, float]]]:
    """The fastest recording of every size; in turns, so that a busy quarter of an hour slows all of them.

    Its processor's seconds are the median of all recordings of the size: neighbours slow a core down, too.
    """
    best: dict[str, tuple[Path, dict[str, float]]] = {}
    processors: dict[str, list[float]] = {}
    for turn in range(rounds):
        for name, sizes in SIZES.items():
            place = folder / f"{name.replace(' ', '-')}-{turn}"
            took = recorded(place, repeats=repeats, **sizes)
            processors.setdefault(name, []).append(took["processor"])
            if name not in best or took["profiled"] < best[name][1]["profiled"]:
                best[name] = (place, took)
    return {name: (place, {**took, "processor": median(processors[name])}) for name, (place, took) in best.items()}


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--repeats", type=int, default=4, help="Steps of every recording, of which the best counts.")
    asked.add_argument("--rounds", type=int, default=4, help="Recordings of every size, taken in turns.")
    told = asked.parse_args()
    rows: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as made:
        best = recordings(Path(made), told.rounds, told.repeats)
        folder, base = best["the same step"]
        here, profile, like = processor(base), folder / "step_kineto.json", folder / "steps_kineto.json"
        slowed = replay(folder / "step_et.json", on=here, source=here, like=like).time / base["processor"]
        for name, (place, took) in best.items():
            recorded_sizes = place / "step_et.json"
            if name == "the same step":
                found = replay(recorded_sizes, profile, on=here, source=here)
                understood = found.coverage
            else:
                found = replay(recorded_sizes, on=here, source=here, like=like)
            same = name == "the same step"
            rows[name] = {
                "predicted": found.time if same else found.time / slowed,
                "measured": took["profiled" if same else "processor"],
                "not profiled": took["step"],
            }
    bad = 0
    for name, row in rows.items():
        row["off"] = row["predicted"] / row["measured"] - 1.0
        bad += abs(row["off"]) > LIMITS[name]
        print(
            f"{name:15} predicted {row['predicted'] * 1e3:8.2f} ms, measured {row['measured'] * 1e3:8.2f} ms "
            f"({row['not profiled'] * 1e3:.2f} without a profiler): {row['off']:+.1%}, limit {LIMITS[name]:.0%}"
        )
    print(f"the profile was slowed by others by a factor of {slowed:.2f}")
    print(json.dumps({"rows": rows, "slowed": slowed, "understood": understood._asdict(), "within": not bad}))
    return bad


if __name__ == "__main__":
    sys.exit(main())
