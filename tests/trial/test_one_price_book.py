"""Every command reads one price book: rents of the newest offers, and one owned price."""

import csv
import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from tests.everyday.asking import ask
from volvelle.catalogue import Catalogue
from volvelle.interchange.fleet_file import MachineForm
from volvelle.verbs.fleet.described import machine_kind
from volvelle.verbs.plan_serving.spending import chip_hour

MACHINES = ("dgx-h200/64", "dgx-b200/64", "dgx-h100/64", "aws-p5/64", "gb200-nvl72/72")
HOUR, DAY = 3600.0, 86400.0


def told(folder: Path, *words: str) -> Any:
    """Return the JSON of a command."""
    reply = ask(folder, *words, "--json")
    assert reply.status == 0, reply.err
    return json.loads(reply.out)


@cache
def trained(folder: Path, machine: str) -> Any:
    """Return a step and a run on a machine."""
    layout = ("--batch", str(4 * chips_of(machine)), "--seq", "4096", "--zero", "3", "--recompute", "full")
    layout += ("--tokens", "1T")
    return told(folder, "estimate", "llama3-8b", "--on", machine, *layout)


@cache
def rows(name: str) -> tuple[Mapping[str, str], ...]:
    """Return the rows of a table of prices."""
    file = resources.files("volvelle.catalogue") / "data" / "prices" / name
    return tuple(csv.DictReader(file.read_text("utf-8").splitlines()))


def hourly(run: Mapping[str, Any], kind: str, chips: int) -> float | None:
    """Return dollars per accelerator-hour of a run."""
    dollars = run[f"usd_{kind}"]
    return None if dollars is None else dollars / (run["days"] * 24.0 * chips)


def chips_of(machine: str) -> int:
    """Return the number of accelerators in a machine's name."""
    return int(machine.partition("/")[2])


@pytest.mark.parametrize("machine", MACHINES)
def test_every_command_takes_the_same_rent(tmp_path_factory: pytest.TempPathFactory, machine: str) -> None:
    folder = tmp_path_factory.getbasetemp()
    run = trained(folder, machine)["run"]
    rent = hourly(run, "rented", chips_of(machine))
    assert (rent is None) == (run["rent"] is None)
    timed = ("--batch", "256", "--seq", "4096", "--tokens", "1T", "--step", "3 s")
    spending = told(folder, "job", "llama3-8b", "--on", machine, *timed)["spending"]
    rented = [one["usd_per_hour"] for one in spending if one["way"] == "rented"]
    node = machine_kind(machine.partition("/")[0], MachineForm(), Catalogue())
    if rent is None:
        assert rented == []
        assert node.prices.rent is None
        assert chip_hour(Catalogue().cluster(machine)).rented is None
        return
    assert rented == [pytest.approx(rent)]
    assert node.prices.rent == pytest.approx(rent)
    assert chip_hour(Catalogue().cluster(machine)).rented == pytest.approx(rent)
    assert run["rent"]["usd_per_hour"] == pytest.approx(rent)


@pytest.mark.parametrize("chip", ["h200-sxm", "b200", "h100-sxm"])
def test_a_rent_is_the_median_of_the_newest_offers(tmp_path: Path, chip: str) -> None:
    machine = f"dgx-{chip.removesuffix('-sxm')}/64"
    offers: dict[str, Mapping[str, str]] = {}
    for row in sorted(rows("cloud_rents.csv"), key=lambda row: row["whole_node"]):
        if row["chip"] == chip:
            offers[row["cloud"]] = row
    assert len(offers) >= 3
    run = trained(tmp_path, machine)["run"]
    assert run["rent"]["usd_per_hour"] == pytest.approx(median(float(row["median"]) for row in offers.values()))
    assert f"median of {len(offers)} clouds" in run["rent"]["offered"]
    assert max(row["date"] for row in offers.values()) in run["rent"]["offered"]


def test_every_chip_with_an_offer_has_a_rent() -> None:
    known = {row["chip"] for name in ("rents.csv", "cloud_rents.csv") for row in rows(name)}
    catalogue = Catalogue()
    for name in catalogue.names("clusters"):
        cluster = catalogue.node(name)
        assert (chip_hour(cluster).rented is not None) == (cluster.chip.name in known), name


def test_a_single_offer_is_called_one(tmp_path: Path) -> None:
    run = trained(tmp_path, "tpu-v4-pod/64")["run"]
    assert run["rent"]["offered"].startswith("one list price, of Google Cloud, 2025-03")


def test_the_machine_of_a_cloud_has_that_cloud_s_rent(tmp_path: Path) -> None:
    own = [row for row in rows("cloud_rents.csv") if (row["cloud"], row["chip"]) == ("aws", "h100-sxm")]
    whole = next(float(row["median"]) for row in own if row["whole_node"] == "yes")
    rent = trained(tmp_path, "aws-p5/64")["run"]["rent"]
    assert rent["usd_per_hour"] == pytest.approx(whole)
    assert "AWS" in rent["offered"]


def test_a_cloud_that_is_named_is_one_of_the_offers_behind_the_default(tmp_path: Path) -> None:
    asked = ("job", "llama3-8b", "--on", "dgx-h200/64", "--batch", "256", "--tokens", "1T", "--step", "3 s")
    clouds = [row["cloud"] for row in rows("cloud_rents.csv") if row["chip"] == "h200-sxm"]
    named = [told(tmp_path, *asked, "--rent", cloud)["spending"][0]["usd_per_hour"] for cloud in dict.fromkeys(clouds)]
    assert told(tmp_path, *asked)["spending"][0]["usd_per_hour"] == pytest.approx(median(named))


def test_a_missing_price_is_said_and_never_a_number(tmp_path: Path) -> None:
    asked = ("estimate", "llama3-8b", "--on", "gb200-nvl72/72", "--batch", "288", "--zero", "3", "--tokens", "1T")
    reply = ask(tmp_path, *asked)
    assert "no price known" in reply.out
    assert "USD" not in reply.out
    document = told(tmp_path, *asked)
    assert document["usd"] is None
    assert document["run"]["usd_owned"] is None
    assert document["run"]["usd_rented"] is None


@pytest.mark.parametrize(
    "machine", ["dgx-h200/64", "dgx-b200/64", "dgx-h100/512", "mi300x-cluster/64", "tpu-v5e-pod/64"]
)
def test_every_command_takes_the_same_owned_price(tmp_path: Path, machine: str) -> None:
    chips = chips_of(machine)
    bill = told(tmp_path, "cost", "--on", machine)["typical"]
    owned = bill["tco_usd"] / (4.0 * 365.25 * 24.0 * 0.8) / chips
    assert hourly(trained(tmp_path, machine)["run"], "owned", chips) == pytest.approx(owned, rel=1e-6)
    timed = ("--batch", "256", "--tokens", "1T", "--step", "3 s", "--own")
    job = told(tmp_path, "job", "llama3-8b", "--on", machine, *timed)["spending"]
    assert [one["usd_per_hour"] for one in job] == [pytest.approx(owned, rel=1e-6)]
    assert chip_hour(Catalogue().cluster(machine)).owned == pytest.approx(owned, rel=1e-6)


def test_the_catalogue_prints_the_price_that_cost_takes(tmp_path: Path) -> None:
    for machine in ("dgx-h200", "dgx-h100", "mi300x-cluster", "dgx-a100"):
        chip = Catalogue().node(machine).chip.name
        stated = told(tmp_path, "catalogue", "chips", chip)["price"]["value"]
        paid = told(tmp_path, "cost", "--on", f"{machine}/64")["typical"]["capex_by_part_usd"]["accelerators"]
        assert float(stated.removesuffix(" USD")) == pytest.approx(paid / 64)


def test_a_price_of_one_s_own_moves_estimate_as_it_moves_cost(tmp_path: Path) -> None:
    owned = []
    for price in ("20 kUSD", "40 kUSD"):
        bill = told(tmp_path, "cost", "--on", "dgx-h200/64", "--set", f"chip.price={price}")["typical"]
        layout = ("--batch", "256", "--seq", "4096", "--zero", "3", "--tokens", "1T")
        run = told(tmp_path, "estimate", "llama3-8b", "--on", "dgx-h200/64", *layout, "--set", f"chip.price={price}")[
            "run"
        ]
        owned.append((bill["tco_usd"] / (4.0 * 365.25 * 24.0 * 0.8) / 64, hourly(run, "owned", 64)))
    for of_cost, of_estimate in owned:
        assert of_estimate == pytest.approx(of_cost, rel=1e-6)
    assert owned[0][0] < owned[1][0]


def test_an_own_price_file_moves_estimate_as_it_moves_cost(tmp_path: Path) -> None:
    prices = tmp_path / "own" / "prices"
    prices.mkdir(parents=True)
    packaged = (resources.files("volvelle.catalogue") / "data" / "prices" / "parts.yaml").read_text("utf-8")
    assert "interest: {value: 8 %" in packaged
    (prices / "parts.yaml").write_text(packaged.replace("interest: {value: 8 %", "interest: {value: 2 %"), "utf-8")
    own = ("--catalogue", str(tmp_path / "own"))
    bill = told(tmp_path, "cost", "--on", "dgx-h200/64", *own)["typical"]
    layout = ("--batch", "256", "--seq", "4096", "--zero", "3", "--tokens", "1T")
    run = told(tmp_path, "estimate", "llama3-8b", "--on", "dgx-h200/64", *layout, *own)["run"]
    hour = bill["tco_usd"] / (4.0 * 365.25 * 24.0 * 0.8) / 64
    assert hourly(run, "owned", 64) == pytest.approx(hour, rel=1e-6)
    assert hour < hourly(trained(tmp_path, "dgx-h200/64")["run"], "owned", 64)
