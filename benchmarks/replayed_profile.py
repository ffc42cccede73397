"""Profiles of this processor, replayed on it: at the recorded size, and at sizes that are measured only afterwards.

The zero test: a profile re-timed on the machine it was recorded on takes what was measured. Then a profile of several
such steps predicts a step of another batch and of another width, of which only sizes are given (an execution trace, no
times). Needs torch==2.13.0. Cores that others use are noisy: sizes are run in turns, a prediction takes the median of
every operation, less what others slowed the recorded steps by (the same prediction of the recorded size over the
processor's seconds of it), and it is held against the processor's seconds of a step.

That division was thought of when the first model below was missed without it. The second model was written down before
any step of it had been run, and nothing was changed afterwards: it is the one that tells.
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


MODELS: dict[str, dict[str, dict[str, Any]]] = {
    "seen": {
        "the same step": {"layers": 4, "batch": 4, "width": 256, "rates": True, "steps": 12},
        "another batch": {"layers": 4, "batch": 8, "width": 256},
        "another width": {"layers": 4, "batch": 4, "width": 384},
    },
    "unseen": {
        "the same step": {"layers": 6, "batch": 2, "width": 192, "rates": True, "steps": 12},
        "another batch": {"layers": 6, "batch": 5, "width": 192},
        "another width": {"layers": 6, "batch": 2, "width": 320},
    },
}


def recordings(
    folder: Path, model: dict[str, dict[str, Any]], rounds: int, repeats: int
) -> dict[str, tuple[Path, dict[str, float]]]:
    """The fastest recording of every size; in turns, so that a busy quarter of an hour slows all of them.

    Its processor's seconds are the median of all recordings of the size: neighbours slow a core down, too.
    """
    best: dict[str, tuple[Path, dict[str, float]]] = {}
    processors: dict[str, list[float]] = {}
    for turn in range(rounds):
        for name, sizes in model.items():
            place = folder / f"{name.replace(' ', '-')}-{turn}"
            took = recorded(place, repeats=repeats, **{"profiles-only": True}, **sizes)
            processors.setdefault(name, []).append(took["processor"])
            if name not in best or took["profiled"] < best[name][1]["profiled"]:
                best[name] = (place, took)
    return {name: (place, {**took, "processor": median(processors[name])}) for name, (place, took) in best.items()}


def run(model: dict[str, dict[str, Any]], rounds: int, repeats: int) -> tuple[dict[str, float], float]:
    """How far off every size is, and by what factor others slowed the profile."""
    off: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as made:
        best = recordings(Path(made), model, rounds, repeats)
        folder, base = best["the same step"]
        here, like = processor(base), folder / "steps_kineto.json"
        slowed = replay(folder / "step_et.json", on=here, source=here, like=like).time / base["processor"]
        for name, (place, took) in best.items():
            sizes = place / "step_et.json"
            if name == "the same step":
                predicted = replay(sizes, folder / "step_kineto.json", on=here, source=here).time
                measured = took["profiled"]
            else:
                predicted = replay(sizes, on=here, source=here, like=like).time / slowed
                measured = took["processor"]
            off[name] = predicted / measured - 1.0
    return off, slowed


def main() -> int:
    """Every model several times; the median of the runs is held against the limit."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--repeats", type=int, default=4, help="Steps of every recording, of which the best counts.")
    asked.add_argument("--rounds", type=int, default=4, help="Recordings of every size, taken in turns.")
    asked.add_argument("--runs", type=int, default=1, help="How often all of it is done; the spread is printed.")
    asked.add_argument("--json", action="store_true", help="Accepted for scripts/bench; JSON is always last.")
    told = asked.parse_args()
    bad, rows = 0, dict[str, dict[str, list[float]]]()
    for turn in range(told.runs):
        for model, sizes in MODELS.items():
            off, slowed = run(sizes, told.rounds, told.repeats)
            for name, number in {**off, "slowed": slowed, "load": os.getloadavg()[1]}.items():
                rows.setdefault(model, {}).setdefault(name, []).append(number)
            said = ", ".join(f"{name} {number:+.1%}" for name, number in off.items())
            print(f"run {turn + 1}, {model}: {said}; slowed by {slowed:.2f}, load {os.getloadavg()[1]:.1f}", flush=True)
    for model, found in rows.items():
        for name, limit in LIMITS.items():
            middle = median(found[name])
            bad += abs(middle) > limit
            spread = f"{min(found[name]):+.1%} to {max(found[name]):+.1%}"
            print(f"{model:7} {name:14} {middle:+.1%} ({spread} in {told.runs} runs), limit {limit:.0%}")
    print(json.dumps({"rows": rows, "within": not bad}))
    return bad


if __name__ == "__main__":
    sys.exit(main())
