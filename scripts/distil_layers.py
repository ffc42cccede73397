"""Fits constants of kernels to timed layers of two workstation cards, where no other source timed theirs.

    python scripts/distil_layers.py FOLDER

FOLDER holds kernels_layers_rtx.csv (layers of vLLM by tokens) and split.csv, which tells calibration groups from
held-out ones. Written is `calibrations/layers.csv` of the catalogue: products of the RTX 4090, and experts of the RTX
PRO 6000 as vLLM 0.19 runs them. Passes and launches of the small kernels between products are printed: they are
constants of an engine.
"""

import argparse
import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from distil_kernels import DATA

from volvelle.applications.kernels.constants import KernelKey, kernel_constants
from volvelle.applications.kernels.fit import fit_table
from volvelle.applications.kernels.measurements import SIZES, KernelMeasurement
from volvelle.applications.kernels.prediction import family_of
from volvelle.applications.measured_table import RowHead
from volvelle.catalogue import Catalogue

SOURCE = "casys2025llmservingsim"
FILE = "kernels_layers_rtx.csv"
MODELS = {"Llama-3.1-8B": "llama3-8b", "Qwen3-30B-A3B-Instruct-2507": "qwen3-30b-a3b"}
SURE = 4.0
"""Rows of an expert in the mean from which on it is sure to have some."""
SMALL = {"layernorm": 2.0, "rotary_emb": 1.0, "act_fn": 1.0, "qk_norm": 1.0}
"""Kernels of a layer that only go over the stream, and how often each runs."""


def main() -> None:
    """Read, fit, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    split = {row["group"]: row["split"] for row in csv.DictReader((folder / "split.csv").open()) if row["file"] == FILE}
    rows = [
        row
        for row in csv.DictReader((folder / FILE).open())
        if split[f"{row['chip']}/{row['model']}"] == "calibration" and row["tp"] == "1"
    ]
    catalogue = Catalogue()
    products = [one for row in rows if row["chip"] == "rtx-4090" for one in _product(row, catalogue)]
    experts = [one for row in rows if row["kind"] == "moe" for one in _experts(row, catalogue)]
    tables = {
        KernelKey("products", "rtx-4090", "bfloat16", "", "vllm", "torch.nn.functional.linear"): products,
        KernelKey("experts", "rtx-pro-6000-server", "bfloat16", "", "vllm", "fused_moe 0.19.0"): experts,
    }
    found = [line for key, members in tables.items() for line in _constants(key, members, catalogue)]
    file = DATA / "calibrations" / "layers.csv"
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(found[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)
    _between(rows, catalogue)


def _constants(key: KernelKey, members: list[KernelMeasurement], catalogue: Catalogue) -> list[dict[str, object]]:
    """A line for each constant of a table, leaning towards those of the same software on the chip where it has any."""
    family = family_of(members[0])
    assert family is not None, "such kernels have a law"
    alike = [
        known.values
        for other, known in kernel_constants().items()
        if (other.family, other.chip, other.backend) == (key.family, key.chip, key.backend) and other != key
    ]
    table = fit_table(key, family, members, catalogue, towards=alike[0] if alike else None)
    found: list[dict[str, object]] = []
    for name, value in table.found.constants.items():
        ends = {"low": value / table.found.spread[name], "high": value * table.found.spread[name]}
        told = {"constant": name, "value": f"{value:.4g}", **{end: f"{at:.3g}" for end, at in ends.items()}}
        whose = {part: getattr(key, part) for part in KernelKey.__dataclass_fields__}
        found.append({**whose, **told, "rows": len(members), "error": f"{table.deviation:.3f}", "source": SOURCE})
    print(f"{key.chip}: {len(members)} {key.family}, median error {table.error:.1%}, {dict(table.found.constants)}")
    return found


def _product(row: Mapping[str, str], catalogue: Catalogue) -> list[KernelMeasurement]:
    """A timed layer as a product, where it is one."""
    shape = catalogue.model(MODELS[row["model"]])
    queries, keys = shape.heads * shape.head_dim, 2 * shape.kv_heads * shape.head_dim
    sides = {
        "qkv_proj": (queries + keys, shape.hidden),
        "o_proj": (shape.hidden, queries),
        "gate_up_proj": (2 * shape.ffn, shape.hidden),
        "down_proj": (shape.hidden, shape.ffn),
        "lm_head": (shape.vocabulary, shape.hidden),
    }.get(row["layer"])
    if sides is None:
        return []
    sizes = {"m": float(row["tokens"] or row["sequences"]), "n": float(sides[0]), "k": float(sides[1])}
    return [_timed(row, "gemm", sizes)]


def _experts(row: Mapping[str, str], catalogue: Catalogue) -> list[KernelMeasurement]:
    """A timed layer of experts, of which so many had tokens: as one that has no others, where all surely have some."""
    shape = catalogue.model(MODELS[row["model"]])
    experts = shape.experts
    assert experts is not None, "a layer of experts has some"
    tokens, active = float(row["tokens"]), float(row["activated_experts"])
    if tokens * experts.chosen < SURE * active and active > experts.chosen:
        return []
    sizes = {"tokens": tokens, "hidden": float(shape.hidden), "inter": float(experts.ffn), "experts": active}
    return [_timed(row, "moe", {**sizes, "topk": float(experts.chosen), "tp": 1.0, "ep": 1.0})]


def _timed(row: Mapping[str, str], operation: str, sizes: Mapping[str, float]) -> KernelMeasurement:
    given: dict[str, Any] = dict.fromkeys((*SIZES, "window")) | dict(sizes)
    return KernelMeasurement(
        head=RowHead(row_id=row["row_id"], group=operation, split="calibration", source=SOURCE),
        operation=operation,
        system=row["chip"],
        backend="vllm",
        version="0.19.0",
        element="bfloat16",
        cache_element="",
        kernel="",
        flag="",
        time=float(row["latency_us"]) * 1e-6,
        distribution="balanced",
        **given,
    )


def _between(rows: list[dict[str, str]], catalogue: Catalogue) -> None:
    """Small kernels of a layer: seconds a launch, and passes over the stream, by least squares of relative errors."""
    slopes, shares = [], []
    for chip, model in sorted({(row["chip"], row["model"]) for row in rows}):
        own = [row for row in rows if (row["chip"], row["model"]) == (chip, model) and row["layer"] in SMALL]
        rate = float(np.max(catalogue.chip(chip).memory.rate))
        unit = catalogue.model(MODELS[model]).hidden * 2.0 / rate
        for tokens in sorted({float(row["tokens"]) for row in own}):
            these = [row for row in own if float(row["tokens"]) == tokens]
            seconds = sum(SMALL[row["layer"]] * float(row["latency_us"]) * 1e-6 for row in these)
            kernels = sum(SMALL[row["layer"]] for row in these)
            slopes.append((kernels / seconds, tokens * unit / seconds))
            shares.append(1.0)
    launch, passes = np.linalg.lstsq(np.array(slopes), np.array(shares), rcond=None)[0]
    print(f"small kernels: {launch:.3g} s a launch, {passes:.3g} passes")


if __name__ == "__main__":
    main()
