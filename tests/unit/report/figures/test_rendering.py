"""Pictures as files: the same whenever they are made, light and dark, SVG and PNG, and what is said without Altair."""

import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("altair")

from tests.unit.report.figures.test_figures import bars, seen
from volvelle.errors import MissingExtraError
from volvelle.report.figures.engine import alt
from volvelle.report.figures.rendering import save, svg
from volvelle.report.figures.scatter import Mark, Point, scatter
from volvelle.report.figures.theme import BLUE, NARROW, PAIRS, PAPER, WIDE


def test_a_picture_is_the_same_however_many_were_made_before() -> None:
    first = svg(seen(WIDE))
    svg(bars(WIDE))
    assert svg(seen(WIDE)) == first
    assert "clip" in first
    assert not re.search(r'id="clip\d', first)


def test_identifiers_of_two_pictures_of_a_page_differ() -> None:
    found = re.findall(r' id="([^"]+)"', svg(seen(WIDE)) + svg(seen(NARROW)))
    assert found
    assert len(found) == len(set(found))


def test_a_file_is_dark_on_dark_screens_only() -> None:
    text = svg(bars(WIDE))
    (rules,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    assert rules.startswith("@media screen and (prefers-color-scheme:dark)")
    for colour in set(re.findall(r'fill="(#\w{6})"', text)):
        assert f'[fill="{colour}"]{{fill:{PAIRS[colour]}}}' in rules


def test_png_is_written_without_a_browser(tmp_path: Path) -> None:
    save(bars(WIDE), tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_charts_are_altairs_own_for_notebooks() -> None:
    chart = bars(WIDE)
    assert isinstance(chart, alt.TopLevelMixin)
    assert chart.to_dict()["config"]["background"] == PAPER
    assert "tells" in str(chart.to_dict())


def test_shapes_of_many_marks_are_drawn_once_in_a_page() -> None:
    mark = Mark(name="kind", colour=BLUE, shape="circle")
    points = [Point(measured=1.0 + at, predicted=1.0 + at, mark=mark, label=f"row {at}") for at in range(250)]
    text = svg(scatter(points, title="Many", quantity="time", unit="s"), themed=False)
    assert text.count("<use ") == 250
    assert "<title>row 249</title>" in text


@pytest.mark.parametrize("name", ["altair", "vl_convert"])
def test_without_an_engine_the_error_says_what_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'volvelle\[plot\]"):
        svg(bars(WIDE))
