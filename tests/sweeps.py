"""Small studies that many tests run, and what their results hold."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")

import pyarrow as pa
import pyarrow.parquet as pq

from tests.conftest import ROOT
from volvelle.studies.design_space.design_study import DesignStudy, read_study
from volvelle.studies.sweep.manifest import Results, open_results

QUICK: dict[str, Any] = {
    "name": "quick",
    "workloads": [{"train": "gpt3-175b", "batch": 1536, "tokens": 3e11}],
    "system": "dgx-a100/1024",
    "axes": {
        "accelerators": [512, 1024],
        "chip.memory.rate": {"times": {"from": 0.5, "to": 4, "points": 10, "scale": "log"}},
        "scale_out.rate": {"times": [0.5, 1.0, 2.0]},
        "mapping.micro_batch": [1, 2, 4],
    },
    "mapping": {"policy": "fixed", "tensor": 8, "pipeline": 8},
    "objectives": ["days", "mfu"],
}
"""180 points with one layout each."""
SEARCHED: dict[str, Any] = {
    "name": "searched",
    "workloads": [{"train": "gpt3-175b", "batch": 1536, "tokens": 3e11}],
    "system": "dgx-a100/1024",
    "axes": {
        "accelerators": [512, 1024],
        "chip.memory.rate": {"times": {"from": 0.5, "to": 4, "points": 20, "scale": "log"}},
        "chip.memory.capacity": {"from": "40 GB", "to": "160 GB", "points": 20},
    },
    "mapping": {
        "policy": "best",
        "tensor": [2, 4, 8],
        "pipeline": [4, 8, 16],
        "micro_batch": [1, 2],
        "context": [1],
        "recompute_every": [1],
    },
    "objectives": ["days"],
}
"""800 points with a search each: long enough to be interrupted."""

MAPPED: dict[str, Any] = {
    "name": "mapped",
    "workloads": [{"map": "llama3-8b", "execution": "kernels", "sharding": "megatron", "micro_batches": 256}],
    "system": "dgx-h100/64",
    "axes": {
        "chip.memory": ["a100-sxm4-80gb", "h100-sxm", "h200-sxm", "mi300x"],
        "scale_out.link": ["roce-100", "infiniband-hdr200", "infiniband-ndr400"],
        "scale_out.topology": ["ring", "torus-2d", "fat-tree"],
    },
    "objectives": ["most mfu", "most flops_per_usd"],
    "costs": {"model": "parts"},
}
"""36 points with a mapping each."""


def study(form: dict[str, Any], **changes: Any) -> DesignStudy:
    return read_study({**form, **changes})


def content(results: Results) -> pa.Table:
    """All rows, in the order of their points, as plain columns."""
    table = pa.concat_tables([pq.read_table(file) for file in results.files()], promote_options="permissive")
    plain = [column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column for column in table]
    return pa.table(plain, names=table.column_names).sort_by("point")


def start_driver(runner: str, form: dict[str, Any], folder: Path, chunk: int) -> subprocess.Popen[bytes]:
    """A run in a process of its own, which can be killed. `runner`: Python that runs `results`."""
    program = (
        "from pathlib import Path\n"
        "from tests.sweeps import study\n"
        "from volvelle.studies.sweep.manifest import open_results\n"
        f"results = open_results(Path({str(folder)!r}), study({form!r}), chunk={chunk})\n"
        "if __name__ == '__main__':\n"
        f"    {runner}\n"
    )
    file = folder.parent / "driver.py"
    file.write_text(program)
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, str(file)], env={**os.environ, "PYTHONPATH": paths}, start_new_session=True
    )


def wait_until(true: Callable[[], bool], *, seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.01)


def shards(folder: Path) -> dict[str, tuple[int, int]]:
    """Finished files, each with what would change if it were written again."""
    found = {}
    for file in folder.glob("part-*.parquet"):
        state = file.stat()
        found[file.name] = (state.st_ino, state.st_mtime_ns)
    return found


def reopened(results: Results, form: DesignStudy) -> Results:
    return open_results(results.folder, form, chunk=results.manifest.chunk)
