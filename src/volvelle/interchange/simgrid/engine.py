"""When flows end by SimGrid: the same links, routes and sizes, another engine.

SimGrid is never loaded here: it runs in a process of its own, of the Python that has its bindings, with a time limit.
"""

import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from volvelle.errors import DescriptionError, OutsideDomainError, VolvelleError
from volvelle.simulation.flow.flows import Flows

SETTINGS = (
    "network/model:CM02",
    "network/crosstraffic:no",
    "network/TCP-gamma:0",
    "network/weight-S:0",
    "network/optim:Full",
    "surf/precision:1e-12",
    "maxmin/precision:1e-12",
)
"""Plain latency and max-min fair rates, all of them found again at every event. Names are those of release 3.32."""
RELEASE = (3, 32)
"""Later ones name two of the settings otherwise, and an unknown one ends the process."""
_CHILD = Path(__file__).parent / "child.py"
_MOST = 1000
"""Flows that are handed over: each is an actor, and so a thread."""
_ASKING = 20.0
"""Seconds that the question for a release may take."""


class SimGridError(VolvelleError):
    """SimGrid is not there, or did not answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimGridEnds:
    """When every flow ended, and by which release."""

    end: NDArray[np.float64]
    version: str


@cache
def simgrid_python() -> str | None:
    """The Python that has SimGrid's bindings, of the release whose settings we know; None: there is none."""
    for name in filter(None, (os.environ.get("VOLVELLE_SIMGRID_PYTHON"), "/usr/bin/python3", shutil.which("python3"))):
        try:
            done = subprocess.run(
                [name, "-I", "-c", "import simgrid; print(simgrid.simgrid_version)"],
                capture_output=True,
                text=True,
                timeout=_ASKING,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0 and _release(done.stdout) == RELEASE:
            return name
    return None


def simgrid_ends(capacities: ArrayLike, flows: Flows, *, limit: float = 120.0) -> SimGridEnds:
    """When every flow ends, by SimGrid; `limit` are the seconds it may take."""
    python = simgrid_python()
    if python is None:
        raise SimGridError(
            "there is no Python here with SimGrid 3.32; install it by apt-get install python3-simgrid, or name one "
            "that has it in VOLVELLE_SIMGRID_PYTHON"
        )
    table = flows.routes
    if len(flows) > _MOST:
        raise OutsideDomainError(
            f"{len(flows)} flows are more than the {_MOST} that SimGrid is asked about; take fewer"
        )
    if np.any(table.shares != 1.0):
        raise DescriptionError(
            "flows that spread over several ways cannot be handed to SimGrid, whose messages take one; route by "
            "d-mod-k or at random"
        )
    if flows.release is not None and np.any(flows.release > 0.0):
        raise DescriptionError("flows with a release cannot be handed to SimGrid; give them a latency instead")
    before: list[list[int]] = [[] for _ in range(len(flows))]
    for ahead, behind in flows.before.tolist():
        before[behind].append(ahead)
    order = list(TopologicalSorter(dict(enumerate(before))).static_order())
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "ends.json"
        question = {
            "settings": SETTINGS,
            "capacities": np.asarray(capacities, dtype=np.float64).tolist(),
            "routes": [table.links[table.first[way] : table.first[way + 1]].tolist() for way in flows.route],
            "sizes": [round(size) for size in flows.size.tolist()],
            "latencies": flows.latency.tolist(),
            "before": before,
            "order": order,
            "answer": str(answer),
        }
        try:
            done = subprocess.run(
                [python, "-I", str(_CHILD)],
                input=json.dumps(question),
                capture_output=True,
                text=True,
                timeout=limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise SimGridError(
                f"SimGrid did not answer within {limit:g} s; give it more time, or fewer than {len(flows)} flows"
            ) from None
        if done.returncode != 0 or not answer.is_file():
            said = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()[-1]
            raise SimGridError(f"SimGrid ended with status {done.returncode} and said: {said[:200]}")
        found = json.loads(answer.read_text("utf-8"))
    return SimGridEnds(end=np.array(found["ends"]), version=str(found["version"]).strip())


def _release(text: str) -> tuple[int, ...]:
    digits = text.split("\n")[-2 if text.endswith("\n") else -1].split()[-1:] if text.strip() else []
    parts = digits[0].lstrip("v").split(".")[:2] if digits else []
    return tuple(int(part) for part in parts if part.isdigit())
