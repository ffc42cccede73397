"""Small studies whose every point can be checked by hand."""

from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")

from volvelle.studies.design_space.design_study import DesignStudy, read_study
from volvelle.studies.sweep.local import run_local
from volvelle.studies.sweep.manifest import Results, open_results

FIELDS: dict[str, object] = {
    "name": "which machine",
    "question": "Which variant trains GPT-3 soonest for the money?",
    "workloads": [{"train": "gpt3-175b", "batch": 1536, "tokens": 3e11}],
    "system": "dgx-a100/1024",
    "axes": {
        "accelerators": [512, 1024],
        "chip.memory.rate": {"times": {"from": 0.5, "to": 4, "points": 4, "scale": "log"}},
        "chip.memory.capacity": ["20 GB", "40 GB", "80 GB"],
        "scale_out.rate": {"times": {"from": 0.5, "to": 4, "points": 3, "scale": "log"}},
    },
    "mapping": {"policy": "fixed", "tensor": 8, "pipeline": 8, "micro_batch": 1},
    "objectives": ["days", "machine_usd"],
    "constraints": ["power <= 1.2 MW"],
    "measures": ["mfu", "run_usd"],
    "costs": {"model": "parts"},
}


def small_study(**changes: object) -> DesignStudy:
    """72 points; those with 20 GB cannot hold their share."""
    return read_study({**FIELDS, **changes})


def best_layouts() -> DesignStudy:
    """12 points, each with the best of some layouts."""
    axes = {
        "accelerators": [512],
        "chip.memory.capacity": ["40 GB", "160 GB"],
        "chip.memory.rate": {"times": [0.5, 1, 2]},
    }
    mapping = {"policy": "best", "tensor": [4, 8], "pipeline": [4, 8], "micro_batch": [1, 2]}
    return small_study(axes={**axes, "scale_out.rate": {"times": [1, 4]}}, mapping=mapping)


def finished(study: DesignStudy, folder: Path, *, chunk: int = 32) -> Results:
    """All results of a study, in several shards."""
    results = open_results(folder, study, chunk=chunk)
    run_local(results, workers=1)
    return results
