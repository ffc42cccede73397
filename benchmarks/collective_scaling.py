"""All-reduces of 16 MB to 16 GB on 2 to 128 nodes, beside the rates that SimAI ships for rings over network cards.

Rates are bus rates over what the eight ports of a node carry. The library's own model is asked for a ring of its Simple
protocol, which the shipped table follows, and for what it would choose. Columns of the table from 32 nodes on are
nearly the one before, a size later: derived, not measured. Figures are JSON on the last line.
"""

import argparse
import csv
import json
from collections import defaultdict
from pathlib import Path

import numpy as np

from volvelle.catalogue import Catalogue
from volvelle.catalogue.nccl import nccl_model
from volvelle.estimators.nccl import nccl_group, nccl_times
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.heat_map import Cell, HeatPanel, heat_map
from volvelle.report.figures.rendering import save
from volvelle.workload.tensor_layout import Collective

TABLE = Path(__file__).parent / "published" / "simai_ring_bus_rate.csv"
CHIPS, PORT = 8, 50e9
"""Of a node, and bytes a second of a port of 400 Gb/s."""
MEASURED = 16
"""Nodes up to which columns are taken as measured."""
RING = "ring Simple"


def published() -> dict[int, dict[int, float]]:
    """Nodes → size → share of the ports' rate."""
    found: dict[int, dict[int, float]] = defaultdict(dict)
    with TABLE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found[int(row["nodes"])][int(row["size_bytes"])] = float(row["bus_rate_share"])
    return found


def shares(nodes: int, sizes: list[int], only: str | None) -> list[float]:
    """The same by the cost model, on H100 nodes."""
    chips = CHIPS * nodes
    model = nccl_model()
    group = nccl_group(model, Catalogue().cluster(f"dgx-h100/{chips}"), (CHIPS, nodes))
    whole = np.array(sizes, dtype=np.float64)
    times = nccl_times(model, group, Collective.ALL_REDUCE, whole, only=only).time
    found: list[float] = (2.0 * (chips - 1) / chips * whole / times / (CHIPS * PORT)).tolist()
    return found


def main() -> None:
    """Print the table, draw it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", type=Path, help="a picture, .svg or .png")
    parser.add_argument("--json", action="store_true", help="figures alone")
    asked = parser.parse_args()
    table = published()
    sizes = sorted(next(iter(table.values())))
    ours = {nodes: shares(nodes, sizes, RING) for nodes in table}
    chosen = {nodes: shares(nodes, sizes, None) for nodes in table}
    ratios = {
        nodes: [rate / table[nodes][size] for rate, size in zip(ours[nodes], sizes, strict=True)] for nodes in table
    }
    if not asked.json:
        print("ring, Simple: our rate over the published one, by nodes and MiB")
        print("| nodes | " + " | ".join(f"{size >> 20:,}" for size in sizes) + " |")
        print("| ---: |" + " ---: |" * len(sizes))
        for nodes, row in ratios.items():
            print(f"| {nodes} | " + " | ".join(f"{ratio:.2f}" for ratio in row) + " |")
    if asked.plot is not None:
        save(picture(sizes, ratios), asked.plot)
    measured = [ratio for nodes, row in ratios.items() if nodes <= MEASURED for ratio in row]
    every = [ratio for row in ratios.values() for ratio in row]
    gains = [new / old for nodes in table for new, old in zip(chosen[nodes], ours[nodes], strict=True)]
    print(
        json.dumps(
            {
                "least_to_16_nodes": round(min(measured), 3),
                "most_to_16_nodes": round(max(measured), 3),
                "median_to_16_nodes": round(float(np.median(measured)), 3),
                "least_to_128_nodes": round(min(every), 3),
                "most_to_128_nodes": round(max(every), 3),
                "most_gained_by_other_algorithms": round(max(gains), 1),
            }
        )
    )


def picture(sizes: list[int], ratios: dict[int, list[float]]) -> Chart:
    """Ratios by nodes and size."""
    cells = tuple(
        tuple(
            Cell(value=ratio, text=f"{ratio:.2f}", title=f"{nodes} nodes, {size >> 20:,} MiB: {ratio:.3f}")
            for ratio, size in zip(row, sizes, strict=True)
        )
        for nodes, row in ratios.items()
    )
    return heat_map(
        [HeatPanel(title="", cells=cells)],
        title="All-reduce around a ring over network cards: our rate over the published one",
        about="NCCL's cost model, ring and Simple, H100 nodes; published: SimAI. Below 1: we are slower.",
        rows=[f"{nodes} nodes" for nodes in ratios],
        groups=[""],
        columns=[f"{size >> 20}" if size < 2**30 else f"{size >> 30}k" for size in sizes],
        x_title="MiB",
        note="Published columns from 32 nodes on are nearly the one before, a size later.",
        even=1.0,
    )


if __name__ == "__main__":
    main()
