"""Copies published serving measurements into the catalogue, each row with its split.

    python scripts/distil_serving.py FOLDER

FOLDER holds closed_loop.csv, static_latency.csv, static_phases.csv, saturated_throughput.csv, mlperf.csv,
iterations.csv, request_logs.csv (with _engines and _per_second), disaggregated.csv, and split.csv, which tells
calibration rows from held-out ones. Rows that a source flags as doubtful are kept apart: `calibration_noisy` and
`heldout_secondary`. Every request of a log carries what its engine was told.
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
        _write(name, written)
    _logs(folder, by_group)
    _peers(folder)


def _peers(folder: Path) -> None:
    """What other tools predict of rows that are here, each beside the row it is of."""
    rows = []
    for row in csv.DictReader((folder / "peer_aiconfigurator_closed_loop.csv").open()):
        rows += [
            _peer(row["row_id"], "closed_loop", measure, "aiconfigurator 0.12", float(predicted) * 1e-3)
            for measure in ("ttft", "tpot")
            if (predicted := row[f"aic_predicted_{measure}_ms"])
        ]
    saturated = list(csv.DictReader((folder / "saturated_throughput.csv").open()))
    for row in csv.DictReader((folder / "peer_aiconfigurator_saturated_70b_h100.csv").open()):
        for name in _near(saturated, "output_tok_s", row["measured_trtllm_tok_s"], row, ("tp", "isl", "osl")):
            predicted = float(row["aic_best_tok_s"])
            rows.append(_peer(name, "saturated_throughput", "throughput", "aiconfigurator 0.12", predicted))
    static = list(csv.DictReader((folder / "static_latency.csv").open()))
    for row in csv.DictReader((folder / "peer_h100_static_24.csv").open()):
        for engine, tool in (("trtllm", "aic_trtllm_s"), ("vllm", "aic_vllm_s")):
            model = row["model"].lower().replace("meta-llama-3", "llama3")
            asked = (engine, "h100-sxm", model, "")
            own = [one for one in static if tuple(one[name] for name in ("engine", "chip", "model", "flag")) == asked]
            peers = {"aiconfigurator 0.12": tool, "GenZ": "genz_eff08_s", "LLM-Viewer": "llmviewer_s"}
            for name in _near(own, "latency_s", row[f"measured_{engine}_s"], row, ("tp", "isl", "osl", "batch")):
                rows += [
                    _peer(name, "static_latency", "latency", f"{peer} ({engine})", float(row[column]))
                    for peer, column in peers.items()
                    if row[column]
                ]
    _write("peers", rows)


def _near(
    rows: list[dict[str, str]], column: str, measured: str, asked: dict[str, str], same: tuple[str, ...]
) -> list[str]:
    """The row that a peer was asked for: the same sizes, and measured the same to a hundredth."""
    if not measured:
        return []
    found = [
        row["row_id"]
        for row in rows
        if all(float(row[name] or row.get("chips") or 0) == float(asked[name]) for name in same)
        and abs(float(row[column]) / float(measured) - 1.0) < 0.01
    ]
    return found[:1]


def _peer(name: str, kind: str, measure: str, peer: str, predicted: float) -> dict[str, str]:
    return {"row_id": name, "table": kind, "measure": measure, "peer": peer, "predicted": f"{predicted:.6g}"}


def _logs(folder: Path, by_group: dict[tuple[str, str], str]) -> None:
    """Logs of requests: what the engine was told in every row, and what it said of itself each second."""
    source = "casys-kaist/LLMServingSim (MIT)"
    engines = {row["log"]: row for row in csv.DictReader((folder / "request_logs_engines.csv").open())}
    written = []
    for row in csv.DictReader((folder / "request_logs.csv").open()):
        told = {name: value for name, value in engines[row["log"]].items() if name != "log"}
        split = SPLITS[by_group["request_logs.csv", row["log"]]][False]
        group = f"{told['chip']}/{told['engine']}/{told['model']}"
        kept = {name: value for name, value in row.items() if name not in ("row_id", "request", "arrival_s")}
        written.append({"row_id": row["row_id"], "split": split, "group": group} | kept | told | {"source": source})
    _write("request_logs", written)
    _write("request_logs_per_second", list(csv.DictReader((folder / "request_logs_per_second.csv").open())))


def _write(name: str, rows: list[dict[str, str]]) -> None:
    """The same bytes for the same rows."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    target = DATA / f"serving_{name}.csv.gz"
    target.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))
    print(f"{target.name}: {len(rows)} rows, {target.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
