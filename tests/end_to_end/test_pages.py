"""Answers as pages, in a real browser: no request, nothing cut off on a telephone, readable by everybody."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("altair")

from tests.conftest import ROOT
from tests.small_studies import FIELDS
from volvelle.cli import run

BROWSER = ROOT / "tests" / "browser"
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
LAYOUT = ["--on", "dgx-h100/64", "--batch", "256"]
PAGES: dict[str, list[str]] = {
    "estimate": ["estimate", "llama3-70b", *LAYOUT, "--tp", "8", "--pp", "4", "--tokens", "2T"],
    "nowhere": ["estimate", "llama3-70b", "--on", "dgx-h100/1024", "--batch", "8"],
    "plan": ["plan", "llama3-70b", *LAYOUT, "--seq", "8192", "--tokens", "2T"],
    "nothing-fits": ["plan", "llama3-70b", "--on", "dgx-h100/8", "--batch", "64"],
    "how-many": ["plan", "llama3-8b", "--on", "dgx-h100", "--tokens", "300B", "--days", "60"],
    "compare": ["compare", "dgx-h100/64", "dgx-a100/64", "--model", "llama3-8b", "--batch", "256", "--tokens", "300B"],
    "what-if": ["estimate", "llama3-8b", *LAYOUT, "--tp", "2", "--set", "scale_up.rate=2x"],
    "map": ["map", str(ROOT / "examples" / "graphs" / "mlp.yaml"), "--on", "sn30-node/8", "--limit", "10"],
    "validate": ["validate", "memory"],
    "explore": ["explore", "study.json"],
}
"""Page → the command that makes it."""
CANNOT_RUN = {"nowhere", "nothing-fits"}
SAMPLE = {"estimate", "nowhere", "plan", "map"}
"""Those that are looked at every time; all are by ``scripts/test long``."""


def shown(names: Iterable[str] = PAGES) -> list[Any]:
    """Parameters of a test of pages."""
    return [pytest.param(name, marks=() if name in SAMPLE else pytest.mark.long) for name in names]


@pytest.fixture(scope="module")
def names(request: pytest.FixtureRequest) -> list[str]:
    """Pages that the tests which run ask for."""
    tests = (test for test in request.session.items if test.path == request.path and isinstance(test, pytest.Function))
    asked = {test.callspec.params["name"] for test in tests if hasattr(test, "callspec")}
    return [name for name in PAGES if name in asked | SAMPLE]


@pytest.fixture(scope="module")
def pages(names: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    (folder / "study.json").write_text(json.dumps(FIELDS), "utf-8")
    before = Path.cwd()
    os.chdir(folder)
    try:
        for name in names:
            assert run([*PAGES[name], "--html", f"{name}.html"]) in ((0, 1) if name in CANNOT_RUN else (0,)), name
    finally:
        os.chdir(before)
    return folder


def browser() -> str:
    """A browser and what drives it; skips where there is none, unless they must be there."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None or shutil.which("node") is None or not (BROWSER / "node_modules").is_dir():
        told = "no browser: scripts/browser brings one, and what drives it"
        if os.environ.get("VOLVELLE_BROWSER") == "required":
            pytest.fail(told)
        pytest.skip(told)
    return found


@pytest.fixture(scope="module")
def looks(names: list[str], pages: Path) -> dict[str, Any]:
    """What a browser saw of every page: one session, every page wide and narrow, light and dark."""
    asked = {"browser": browser(), "pages": [str(pages / f"{name}.html") for name in names], "shots": None}
    done = subprocess.run(
        ["node", str(BROWSER / "look.mjs"), json.dumps(asked)], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return {seen["page"].removesuffix(".html"): seen for seen in json.loads(done.stdout)}


@pytest.mark.parametrize("name", shown())
def test_a_page_asks_for_nothing_and_breaks_nothing(name: str, looks: dict[str, Any]) -> None:
    assert looks[name]["requests"] == []
    assert looks[name]["errors"] == []


@pytest.mark.parametrize("name", shown())
def test_a_page_fits_a_desk_and_a_telephone_and_everybody_can_read_it(name: str, looks: dict[str, Any]) -> None:
    views = looks[name]["views"]
    assert {(view["width"], view["colorScheme"]) for view in views} == {
        (width, scheme) for width in (1280, 390) for scheme in ("light", "dark")
    }
    assert {view["colorScheme"] for view in views if view["looked"]} == {"light", "dark"}
    for view in views:
        assert view["overflow"] <= 0, (name, view["width"])
        assert view["findings"] == [], (name, view["width"], view["colorScheme"])


@pytest.mark.parametrize("name", shown(sorted(set(PAGES) - {"nothing-fits"})))
def test_pictures_and_tables_answer_the_keyboard(name: str, looks: dict[str, Any]) -> None:
    answers = looks[name]["answers"]
    assert answers["read"]
    assert answers["left"] == 0
    assert answers["sorted"]
    assert answers["copies"] >= 1


def test_a_key_shows_one_kind_alone(looks: dict[str, Any]) -> None:
    assert looks["estimate"]["answers"]["dimmed"] > 0
    assert looks["plan"]["answers"]["dimmed"] > 0


@pytest.mark.parametrize("name", shown())
def test_a_page_is_light_has_its_command_and_no_dangling_links(name: str, pages: Path) -> None:
    text = (pages / f"{name}.html").read_text("utf-8")
    assert len(text.encode()) < 1_500_000
    for word in ("volvelle", *PAGES[name]):
        assert f"<span>{word}</span>" in text
    anchors = re.findall(r' id="([^"]+)"', text)
    assert len(anchors) == len(set(anchors))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= set(anchors)


def test_every_layout_of_a_plan_is_the_estimate_that_its_command_makes(
    pages: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (pages / "plan.html").read_text("utf-8")
    rows = re.findall(r"<tr[^>]* data-marks=\"\d+\. \">(.*?)</tr>", text)
    assert len(rows) >= 4
    for row in rows[:4]:
        shown = float(re.findall(r'data-value="([^"]+)"', row)[1])
        command = re.sub(r"<[^>]+>", "", re.search(r"<code>(.*?)</code>", row)[1])  # type: ignore[index]
        capsys.readouterr()
        assert run([*command.split()[1:], "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["seconds"] == pytest.approx(shown, rel=1e-4)
