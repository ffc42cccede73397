"""A step that SimGrid's SMPI replays takes as long as ours, where a rank does one thing at a time."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import small_cluster, small_gpt
from tests.smpi.steps import write_step
from volvelle import ParallelMapping, TrainingStep, estimate, transformer
from volvelle.estimators.event_driven.estimator import EventDriven, ReplayedStep

_LIMIT = 120.0


def _by_smpi(replayed: ReplayedStep, folder: Path) -> float:
    if shutil.which("smpirun") is None:
        assert os.environ.get("VOLVELLE_SIMGRID") != "required", "scripts/simgrid installs it"
        pytest.skip("SimGrid's smpirun is not installed; scripts/simgrid brings it")
    write_step(replayed, folder)
    done = subprocess.run(["sh", str(folder / "replay.sh")], capture_output=True, text=True, timeout=_LIMIT, check=True)
    (seconds,) = re.findall(r"Simulation time ([0-9.]+)", done.stderr)
    return float(seconds)


@pytest.mark.parametrize(
    "mapping",
    [
        ParallelMapping(data=8, overlap=False, zero=0),
        ParallelMapping(pipeline=4, overlap=False, zero=0),
        ParallelMapping(pipeline=2, data=8, overlap=False, zero=1),
        ParallelMapping(tensor=8, sequence_parallel=False, pipeline=2, overlap=False),
    ],
    ids=str,
)
def test_a_small_step_takes_what_smpi_says(mapping: ParallelMapping, tmp_path: Path) -> None:
    step = TrainingStep(model=transformer(small_gpt()), batch=16)
    replayed = EventDriven().replayed(step, small_cluster(), mapping)
    assert _by_smpi(replayed, tmp_path) == pytest.approx(replayed.time, rel=0.01)


def test_a_step_of_sixteen_ranks_of_a_real_machine_takes_what_smpi_says(tmp_path: Path) -> None:
    answer = estimate("opt-1.3b", on="dgx-a100/16", batch=4, tensor=8, data=2, overlap=False, sequence_parallel=False)
    assert _by_smpi(answer.replayed, tmp_path) == pytest.approx(answer.replayed.time, rel=0.01)
