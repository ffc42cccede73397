"""A fleet without a named layout takes the one that costs least."""

import json
from pathlib import Path
from typing import Any

import volvelle
from tests.everyday.asking import Reply, ask

ASKED = ("--on", "dgx-h100", "--load", "poisson 10/s", "--slo", "p99 ttft 2 s, p95 tpot 50 ms", "--check", "none")


def sized(folder: Path, *words: str, model: str = "llama3-8b") -> Reply:
    """Size a fleet for one model."""
    return ask(folder, "fleet", model, *ASKED, *words)


def document(reply: Reply) -> dict[str, Any]:
    """Return the JSON of a fleet that can be."""
    assert reply.status == 0, reply.err
    found: dict[str, Any] = json.loads(reply.out)
    return found


def test_a_fleet_takes_no_more_chips_than_with_any_layout_that_could_be_named(tmp_path: Path) -> None:
    searched = document(sized(tmp_path, "--json"))["total"]["chips"]
    narrow, wide = (document(sized(tmp_path, "--tp", degree, "--json"))["total"]["chips"] for degree in ("1", "8"))
    assert searched <= narrow
    assert searched < wide


def test_a_fleet_says_which_layouts_it_looked_at_and_which_it_took(tmp_path: Path) -> None:
    searched, named = sized(tmp_path), sized(tmp_path, "--tp", "2")
    assert "of tensor parallelism 1, 2, 4, 8, 1 costs least" in " ".join(searched.out.split())
    assert "costs least" not in named.out
    assert "2 chips (tensor 2)" in " ".join(named.out.split())


def test_a_model_that_needs_several_chips_gets_them(tmp_path: Path) -> None:
    services = document(sized(tmp_path, "--json", model="llama3-70b"))["services"]
    assert services[0]["serving_layout"]["tensor"] > 1


def test_limits_that_no_layout_keeps_are_explained_by_the_widest(tmp_path: Path) -> None:
    reply = ask(tmp_path, "fleet", "llama3-8b", "--on", "dgx-h100", "--load", "poisson 2/s", "--slo", "p99 ttft 5 ms")
    assert reply.status == 1
    assert "misses its limits" in " ".join(reply.out.split())


def test_progress_names_every_layout_that_is_followed() -> None:
    said: list[str] = []
    asked = {"load": "poisson 2/s", "slo": "p99 ttft 2 s", "check": "none", "progress": said.append}
    found = volvelle.fleet("llama3-8b", on="dgx-h100", **asked)  # type: ignore[arg-type]
    assert found.services
    assert said
    assert all("layout" in words and "--tp" in words for words in said)
