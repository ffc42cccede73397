"""Modules and lines that each command reaches by import, and those that are loaded after it has answered."""

import json
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import grimp

QUESTIONS = {
    "catalogue": "catalogue chips h100-sxm",
    "collective": "collective all-reduce 1GB --on dgx-h100/64",
    "compare": "compare dgx-h100/8 dgx-a100/8 --model gpt2 --batch 8",
    "cost": "cost --on dgx-h100/64",
    "crosscheck": "crosscheck gpt2 --on dgx-h100/8 --batch 8",
    "estimate": "estimate llama3-8b --on dgx-h100/8 --batch 128 --zero 3",
    "explore": "explore examples/studies/memory-and-network.yaml --dry-run",
    "fleet": "fleet llama3-8b --on dgx-h100 --load 'poisson 1/s' --slo 'p99 ttft 9 s' --check none",
    "job": "job llama3-8b --on dgx-h100/8 --batch 128 --tokens 100B --step '13 s'",
    "map": "map examples/graphs/mlp.yaml --on dgx-h100/8",
    "mpi": "mpi examples/mpi/traces/conjugate_gradient-4.csv.gz",
    "plan": "plan gpt2 --on dgx-h100/8 --batch 8",
    "replay": "replay examples/traces/model.onnx --on dgx-h100/8",
    "scale": "scale gpt2 --on dgx-h100 --to 16 --batch 16",
    "serve": "serve llama3-8b --on dgx-h100/1 --batch 8",
    "validate": "validate hpcg",
    "why-unsure": "why-unsure gpt2 --on dgx-h100/8 --batch 8 --samples 64",
}
LOADED = """
import json, sys
from volvelle.cli import run
import contextlib, io
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    status = run(sys.argv[1:])
print(json.dumps([status, sorted(name for name in sys.modules if name.partition('.')[0] == 'volvelle')]))
"""


def lines_of(module: str) -> int:
    """Return the lines of a module of the package that is on the path."""
    spec = find_spec(module)
    return 0 if spec is None or not spec.origin else len(Path(spec.origin).read_text("utf-8").splitlines())


def main() -> None:
    """Print a row per command, and all rows as JSON on the last line."""
    graph = grimp.build_graph("volvelle", cache_dir=None, exclude_type_checking_imports=True)
    lines = {module: lines_of(module) for module in graph.modules}
    rows = {}
    print(f"{'command':12} {'reached':>8} {'lines':>8} {'median':>7} {'loaded':>8} {'lines':>8}")
    for command, question in QUESTIONS.items():
        module = f"volvelle.cli.{command.replace('-', '_')}"
        reached = {module, *graph.find_upstream_modules(module)}
        done = subprocess.run(
            [sys.executable, "-c", LOADED, *shlex.split(question)], capture_output=True, text=True, check=False
        )
        status, loaded = json.loads(done.stdout) if done.returncode == 0 else (None, [])
        rows[command] = {
            "status": status,
            "reached_modules": len(reached),
            "reached_lines": sum(lines[name] for name in reached),
            "median_module": median(lines[name] for name in reached),
            "loaded_modules": len(loaded),
            "loaded_lines": sum(lines.get(name, 0) for name in loaded),
        }
        row = rows[command]
        print(
            f"{command:12} {row['reached_modules']:8} {row['reached_lines']:8} {row['median_module']:7.0f} "
            f"{row['loaded_modules']:8} {row['loaded_lines']:8}" + ("" if status in (0, 1) else f"  status {status}")
        )
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
