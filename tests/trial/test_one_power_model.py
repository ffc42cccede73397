"""One power model: load shares of accelerators and hosts in every command, PUE on energy alone."""

import json
import math
from importlib import resources
from pathlib import Path
from statistics import NormalDist, median, pstdev
from typing import Any

import pytest

from tests.everyday.asking import ask
from volvelle.applications.hpl.rows import hpl_measurements, hpl_question
from volvelle.catalogue import Catalogue
from volvelle.catalogue.prices import PriceBook
from volvelle.catalogue.reliability import stated_factor, stated_node_power, stated_share
from volvelle.economics.machine_power import it_power
from volvelle.economics.usual_terms import (
    CHIP_LOAD,
    HOST_LOAD,
    USUAL_ENERGY_PRICE,
    USUAL_HOSTS,
    USUAL_INTEREST,
    USUAL_MAINTENANCE,
    USUAL_PLANT_LIFE,
    USUAL_PLANT_PRICE,
)
from volvelle.system.host_power import HOST_POWER_SHARE

RATED = 700.0
"""Watts of an H100 SXM."""


def told(folder: Path, *words: str) -> Any:
    """Return the JSON of a command."""
    reply = ask(folder, *words, "--json")
    assert reply.status == 0, reply.err
    return json.loads(reply.out)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a catalogue with a cluster of H100 whose file states no power of hosts, and one that states it."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "clusters").mkdir()
    lines = (resources.files("volvelle.catalogue") / "data" / "clusters" / "dgx-h100.yaml").read_text("utf-8")
    bare = [line for line in lines.splitlines() if not line.startswith("host_power:")]
    stated = f"host_power: {{value: {HOST_POWER_SHARE.value * RATED} W, kind: assumed, source: volvelle-assumption}}"
    for name, more in (("bare", []), ("full", [stated])):
        text = "\n".join([*bare, *more]).replace("name: dgx-h100", f"name: {name}")
        (folder / "clusters" / f"{name}.yaml").write_text(text + "\n", "utf-8")
    return folder


def powers(folder: Path, machine: str, *more: str) -> dict[str, float]:
    """Return the power of a machine by command: at the meter, and under HPL without PUE."""
    catalogue = Catalogue(*(Path(word) for word in more[1:]))
    pue = float(catalogue.cluster(machine).pue)
    layout = ("--batch", "256", "--seq", "4096", "--zero", "3", "--tokens", "1T")
    step = told(folder, "estimate", "llama3-8b", "--on", machine, *layout, *more)
    timed = ("--batch", "256", "--tokens", "1T", "--step", "3 s")
    told_job = told(folder, "job", "llama3-8b", "--on", machine, *timed, *more)["basis"]["power and place"]
    hpl = told(folder, "plan", "hpl", "--on", machine, "--top", "1", *more)["plans"][0]
    used = hpl["decision"]["P"] * hpl["decision"]["Q"] / catalogue.cluster(machine).accelerators
    return {
        "cost": told(folder, "cost", "--on", machine, *more)["typical"]["power_watts"],
        "estimate": step["joules"] / step["seconds"],
        "job": float(told_job.partition(" W")[0].replace(",", "")) * catalogue.cluster(machine).accelerators * pue,
        "hpl": hpl["figures"]["power"]["value"] * pue / used,
    }


@pytest.mark.parametrize("machine", ["dgx-h100/64", "aws-p5/64", "alps/64", "mi300x-cluster/64"])
def test_four_commands_agree_on_the_power_of_a_machine(tmp_path: Path, machine: str) -> None:
    found = powers(tmp_path, machine)
    assert {name: watts / found["cost"] for name, watts in found.items()} == {
        name: pytest.approx(1.0, rel=2e-3) for name in found
    }


def test_four_commands_agree_on_an_own_cluster_without_host_power(tmp_path: Path, own: Path) -> None:
    folder = ("--catalogue", str(own))
    bare, full = (powers(tmp_path, f"{name}/64", *folder) for name in ("bare", "full"))
    for name, watts in bare.items():
        assert watts == pytest.approx(bare["cost"], rel=2e-3), name
        assert watts == pytest.approx(full[name]), "the stand-in is the same as if it were stated"


def test_missing_host_power_is_said_by_every_command(tmp_path: Path, own: Path) -> None:
    folder = ("--catalogue", str(own))
    layout = ("--batch", "64", "--seq", "4096")
    for words in (
        ("plan", "hpl", "--on", "bare/8"),
        ("plan", "hpcg", "--on", "bare/8"),
        ("plan", "hpl-mxp", "--on", "bare/8"),
        ("cost", "--on", "bare/8"),
        ("estimate", "llama3-8b", "--on", "bare/8", "--zero", "3", *layout),
        ("plan", "llama3-8b", "--on", "bare/8", *layout, "--top", "1"),
        ("job", "llama3-8b", "--on", "bare/8", *layout, "--tokens", "1T", "--step", "9 s"),
        ("serve", "llama3-8b", "--on", "bare/8"),
    ):
        out = " ".join(ask(tmp_path, *words, *folder).out.replace("│", " ").split())
        assert "states no host_power: 350 W per accelerator is assumed" in out, words
    assert "host_power" not in ask(tmp_path, "cost", "--on", "full/8", *folder).out


def test_a_machine_described_less_does_not_look_more_efficient(tmp_path: Path, own: Path) -> None:
    folder = ("--catalogue", str(own))
    stated, bare = (
        told(tmp_path, "plan", "hpl", "--on", machine, "--top", "1", *more)["plans"][0]["figures"]["rate_per_watt"]
        for machine, more in (("dgx-h100/64", ()), ("bare/64", folder))
    )
    assert bare["value"] < stated["high"]
    assert stated["value"] > bare["low"]


def test_efficiency_of_hpl_is_of_it_power_and_says_so(tmp_path: Path) -> None:
    document = told(tmp_path, "plan", "hpl", "--on", "dgx-h100/512", "--top", "1")["plans"][0]
    power = document["figures"]["power"]["value"]
    assert power == pytest.approx(512 * (CHIP_LOAD * RATED + HOST_LOAD * 575.0))
    assert power < 512 * (RATED + 575.0), "below the nameplate"
    out = " ".join(ask(tmp_path, "plan", "hpl", "--on", "dgx-h100/512").out.split())
    assert "as the Green500 counts it (no PUE; accelerators at 85 % and hosts at 65 % of rated power)" in out
    assert "limits" not in out


def test_the_range_of_power_under_hpl_holds_four_fifths_of_listed_systems() -> None:
    catalogue, ratios = Catalogue(), {}
    for row in hpl_measurements().rows:
        asked = None if row.power is None else hpl_question(row, catalogue)
        if asked is None or isinstance(asked, str):
            continue
        watts = it_power(asked.system)
        if watts is not None and row.power is not None:
            ratios[row.system or row.head.row_id] = math.log(row.power / float(watts))
    assert len(ratios) > 100
    factor = stated_factor("node-power", "listed_hpl_power").value
    assert math.exp(median(ratios.values())) == pytest.approx(1.0, abs=0.1)
    assert math.exp(pstdev(ratios.values())) == pytest.approx(factor, rel=0.05)
    reach = math.log(factor) * NormalDist().inv_cdf(0.9)
    inside = sum(abs(ratio) <= reach for ratio in ratios.values()) / len(ratios)
    assert 0.75 <= inside <= 0.95


def test_load_shares_give_the_measured_node() -> None:
    measured = stated_node_power("h100-sxm", "training")
    watts = it_power(Catalogue().cluster("dgx-h100/8"))
    assert measured is not None
    assert watts is not None
    assert float(watts) == pytest.approx(measured.value, rel=1e-2)


def test_constants_in_code_are_those_of_the_catalogue() -> None:
    book = PriceBook(Catalogue()).figures
    hosts = book["hosts.power"]
    assert (HOST_POWER_SHARE.value, *HOST_POWER_SHARE.bounds(1.0)) == (hosts.value, *hosts.bounds(1.0))
    assert stated_share("node-power", "chip_load").value == CHIP_LOAD
    assert stated_share("node-power", "host_load").value == HOST_LOAD
    usual = {
        "hosts.price": USUAL_HOSTS,
        "site.interest": USUAL_INTEREST,
        "site.maintenance": USUAL_MAINTENANCE,
        "site.plant_price": USUAL_PLANT_PRICE,
        "site.plant_life": USUAL_PLANT_LIFE,
        "site.energy_price": USUAL_ENERGY_PRICE,
    }
    for name, value in usual.items():
        assert book[name].value == pytest.approx(value), name
