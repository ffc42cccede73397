"""``volvelle cost``: a bill that fits a terminal, the same as JSON, and refusals that say what to give."""

import json
import os
import subprocess
import sys

import pytest


def asked(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from volvelle.cli import main; main()", "cost", *words]
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONUTF8": "1"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize("model", ["market", "parts", "dfmodel"])
def test_a_bill_fits_a_terminal_and_names_its_sources(model: str) -> None:
    done = asked("--on", "dgx-h100/1024", "--model", model)
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert (
        "…" not in "".join(line for line in done.stdout.splitlines() if "USD" not in line and "low" not in line)[:300]
    )
    for word in ("to buy", "power in use", "to own", "inputs and sources", "2024"):
        assert word in done.stdout


def test_the_json_holds_the_same_bill_with_its_parts() -> None:
    words = ("--on", "dgx-h100/1024", "--step", "9.8 s", "--tokens-per-step", "4e6", "--tokens", "1e12", "--json")
    found = json.loads(asked(*words).stdout)
    for end in ("low", "typical", "high"):
        one = found[end]
        assert sum(one["capex_by_part_usd"].values()) == pytest.approx(one["capex_usd"])
        assert sum(one["power_by_part_watts"].values()) == pytest.approx(one["power_watts"])
        assert sum(one["ownership_usd"].values()) == pytest.approx(one["tco_usd"])
        assert one["usd_per_token"] * 1e12 == pytest.approx(one["training_usd"])
    assert all(price["date"] and price["source"] for price in found["rests_on"].values())


def test_what_is_given_replaces_the_price_book() -> None:
    plain = json.loads(asked("--on", "dgx-h100/1024", "--json").stdout)
    given = ("--life", "8 years", "--energy-price", "0.2 USD/kWh", "--interest", "0 %", "--no-building")
    found = json.loads(asked("--on", "dgx-h100/1024", *given, "--chip-price", "20 kUSD", "--json").stdout)
    energy = plain["typical"]["ownership_usd"]["energy"]
    assert found["typical"]["ownership_usd"]["energy"] == pytest.approx(4 * energy)
    assert found["typical"]["ownership_usd"]["interest"] == pytest.approx(0.0, abs=1.0)
    assert found["typical"]["capex_by_part_usd"]["accelerators"] == pytest.approx(1024 * 20_000)
    assert "plant" not in found["typical"]["capex_by_part_usd"]
    assert "site.energy_price" not in found["rests_on"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--on", "gb200-nvl72/72"), "--chip-price"),
        (("--on", "tpu-v5p-pod"), "--chip-power"),
        (("--on", "dgx-h100/8", "--chip-price", "20000"), "has no unit"),
        (("--on", "dgx-b200/8", "--model", "dfmodel"), "use another price model"),
    ],
)
def test_a_refusal_says_what_to_give(words: tuple[str, ...], said: str) -> None:
    done = asked(*words)
    assert done.returncode == 2
    assert said in done.stderr
