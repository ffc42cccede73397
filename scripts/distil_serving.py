"""Copies published serving measurements into the catalogue, each row with its split.

    python scripts/distil_serving.py FOLDER

FOLDER holds closed_loop.csv, static_latency.csv, static_phases.csv, saturated_throughput.csv, mlperf.csv,
iterations.csv, request_logs.csv, disaggregated.csv, and split.csv, which tells calibration rows from held-out ones.
Rows that a source flags as doubtful are kept apart: `calibration_noisy` and `heldout_secondary`.
"""

import argparse
import csv
import gzip
import io
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "src" / "volvelle" / "catalogue" / "data" / "measurements"
FILES = {
    "closed_loop": (
        "aiconfigurator silicon_sample.csv, of InferenceX and NVIDIA runs (Apache-2.0)",
        ("image", "served_name"),
    ),
    "static_latency": ("argonne-lcf/LLM-Inference-Bench (BSD-3)", ("file", "chip_as_stated")),
    "static_phases": ("Mutinifni/splitwise-sim (MIT)", ()),
    "saturated_throughput": ("NVIDIA/TensorRT-LLM perf-overview.md (Apache-2.0)", ("model_as_stated", "source")),
    "mlperf": ("mlcommons/inference_results (Apache-2.0)", ("source", "hardware", "system")),
    "iterations": ("ai-dynamo/aiconfigurator fpm_golden_runs (Apache-2.0)", ()),
    "disaggregated": (
        "aiconfigurator silicon_sample.csv, of InferenceX and NVIDIA runs (Apache-2.0)",
        ("image", "served_name"),
    ),
}
SPLITS = {"calibration": ("calibration", "calibration_noisy"), "held-out": ("heldout", "heldout_secondary")}


def main() -> None:
    """Read, join, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    by_row: dict[tuple[str, str], str] = {}
    by_group: dict[tuple[str, str], str] = {}
    for row in csv.DictReader((folder / "split.csv").open()):
        target, key = (by_group, row["group"]) if row["row_id"] == "*" else (by_row, row["row_id"])
        target[row["file"], key] = row["split"]
    for name, (source, dropped) in FILES.items():
        file = f"{name}.csv"
        written = []
        for row in csv.DictReader((folder / file).open()):
            split = by_row.get((file, row["row_id"])) or by_group[file, row["run"]]
            kept = {key: value for key, value in row.items() if key not in (*dropped, "group", "source")}
            group = row.get("group") or f"{row['chip']}/{row['engine']}/{row['model']}"
            flagged = bool(row.get("flag"))
            head = {"row_id": row["row_id"], "split": SPLITS[split][flagged], "group": group}
            written.append(head | kept | {"source": source})
        text = io.StringIO()
        writer = csv.DictWriter(text, list(written[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(written)
        target = DATA / f"serving_{name}.csv.gz"
        target.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))
        print(f"{target.name}: {len(written)} rows, {target.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
