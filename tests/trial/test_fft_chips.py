"""A table of one's own that leaves a column out: the chip's name decides, and the gap widens the range."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.everyday.asking import ask
from volvelle.catalogue import Catalogue
from volvelle.catalogue.aliases import accelerator_aliases

TRANSPORTS = ("nccl", "host-staged", "cuda-aware-mpi")
# A transform of 1024³ in double precision on 8 GPUs, with a made-up time.
_COLUMNS = {
    "row_id": "mine",
    "group": "mine",
    "split": "heldout",
    "library": "ourFFT",
    "accel": "V100-32GB PCIe",
    "n_accel": "8",
    "nx": "1024",
    "ny": "1024",
    "nz": "1024",
    "transform": "C2C",
    "precision": "double",
    "time_s_per_transform": "1.0",
    "source": "mine",
}


def _row(folder: Path, columns: Sequence[str] = tuple(_COLUMNS), **cells: str) -> dict[str, Any]:
    file = folder / "mine.csv"
    with file.open("w", encoding="utf-8", newline="") as opened:
        table = csv.DictWriter(opened, [*columns, *(set(cells) - set(columns))])
        table.writeheader()
        table.writerow({**{name: _COLUMNS[name] for name in columns}, **cells})
    reply = ask(folder, "validate", "fft", "--data", str(file), "--json")
    assert reply.status == 0, reply.err
    found: dict[str, Any] = json.loads(reply.out)["rows"][0]
    return found


@pytest.mark.parametrize("name", ["V100-32GB PCIe", "V100 PCIe", "Tesla V100-PCIE-32GB"])
def test_a_missing_transport_is_stated_and_widens_the_range_to_every_transport(tmp_path: Path, name: str) -> None:
    alone = [_row(tmp_path, accel=name, transport=way)["predicted"] for way in TRANSPORTS]
    row = _row(tmp_path, accel=name)
    assert any("transport" in words for words in row["assumed"])
    assert row["predicted"] == pytest.approx(sorted(alone)[1])  # neither the fastest nor the slowest
    assert row["low"] <= min(alone)
    assert row["high"] >= max(alone)


def test_a_transport_that_is_stated_assumes_nothing_of_it(tmp_path: Path) -> None:
    stated = _row(tmp_path, transport="nccl")
    assert not any("transport" in words for words in stated["assumed"])
    missing = _row(tmp_path)
    assert missing["high"] / missing["low"] > stated["high"] / stated["low"]


def test_a_library_named_after_its_transport_states_it(tmp_path: Path) -> None:
    assert _row(tmp_path, library="ourFFT NCCL")["predicted"] == _row(tmp_path, transport="nccl")["predicted"]


def test_the_usual_machine_of_an_accelerator_has_that_accelerator() -> None:
    catalogue = Catalogue()
    # Racks of GB200 and GB300 hold dies of B200 and B300 as chips of their own. The constants of DLRM were fitted to
    # DGX-2 rows with the chip of a DGX-1, 3 % apart.
    others = {"gb200-nvl72": "gb200", "gb300-nvl72": "gb300", "dgx-v100": "v100-sxm2-32gb"}
    for alias in accelerator_aliases():
        for cluster in (alias.cluster, *alias.over.values()):
            if cluster is not None and alias.chip is not None:
                expected = others.get(cluster, alias.chip)
                assert catalogue.cluster(f"{cluster}/8").chip.name == expected, (alias.match, cluster)
                assert "pcie" not in alias.chip or "pcie" in expected, (alias.match, cluster)
