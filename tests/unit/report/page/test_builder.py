"""A page: one file, a policy that forbids every request, words that cannot break it."""

import base64
import hashlib
import re

import pytest

pytest.importorskip("altair")

from tests.unit.report.figures.test_figures import rows
from volvelle.report.page.builder import page, picture_and_sheets, source_link
from volvelle.report.page.parts import Cell, Command, Grid, Headline, Picture, Row, Section
from volvelle.report.sheet import Sheet

SHEET = Sheet(title="<t>", columns=("a", "b"), rows=(("x & y", "1"),), numbers=frozenset({"b"}))


def test_a_page_has_a_picture_for_a_desk_and_one_for_a_telephone() -> None:
    drawn = Picture(draw=rows).html()
    widths = [float(width) for width in re.findall(r'<svg[^>]* width="(\d+)"', drawn)]
    assert len(widths) == 2
    assert widths[1] <= 390 < widths[0]
    assert "<title>work 2</title>" in drawn.partition('class="narrow"')[0]
    assert drawn.count("<title/>") == drawn.count("<title>"), "the narrow marks take their words from the wide ones"


def test_words_cannot_break_a_page_and_it_refers_to_nothing() -> None:
    text = page(title="<script>", sections=picture_and_sheets(rows, (SHEET,)))
    assert "x &amp; y" in text
    assert "<title>&lt;script&gt;</title>" in text
    assert set(re.findall(r"https?://[^\s\"'<]+", text)) == {"http://www.w3.org/2000/svg"}
    assert "<figure>" not in page(title="T", sections=picture_and_sheets(None, (SHEET,)))


def test_the_policy_names_the_script_and_the_style_by_their_hashes() -> None:
    text = page(title="T", sections=picture_and_sheets(rows, (SHEET,)))
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'")
    assert "unsafe" not in policy[1]
    for tag in ("script", "style"):
        inside = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert inside is not None
        named = base64.b64encode(hashlib.sha256(inside[1].encode()).digest()).decode()
        assert f"'sha256-{named}'" in policy[1]
    assert " style=" not in text, "the policy forbids styles of elements"


def test_a_page_ends_with_the_command_that_made_it() -> None:
    text = page(title="T", sections=(), command="volvelle estimate 'my model' --on dgx-h100/8")
    assert "<span>volvelle</span> <span>estimate</span> <span>&#x27;my</span>" in text


def test_a_table_is_sorted_by_values_not_by_words() -> None:
    cells = (("small", Cell(text="9 ms", value=0.009)), ("large", Cell(text="1 s", value=1.0)))
    grid = Grid(title="g", columns=("what", "time"), rows=tuple(Row(cells=row) for row in cells))
    text = grid.html()
    assert '<th scope="col" data-sort>time</th>' in text
    assert '<th scope="col">what</th>' in text
    assert 'data-value="0.009"' in text


def test_a_section_without_parts_is_not_there() -> None:
    assert Section(title="Empty", anchor="empty", parts=()).html() == ""
    assert "fails" in Headline(value="none", says="nothing fits", fails=True).html()
    assert "<code><span>a</span> <span>b</span></code>" in Command("a b").html()


@pytest.mark.parametrize(
    ("place", "address"),
    [
        ("SC 2020, arXiv:1910.02054", "https://arxiv.org/abs/1910.02054"),
        ("arXiv 2405.07518", "https://arxiv.org/abs/2405.07518"),
        ("IEEE CLUSTER 2018, doi 10.1109/CLUSTER.2018.00090", "https://doi.org/10.1109/CLUSTER.2018.00090"),
        ("GitHub FZJ-JSC/jubench-stream-gpu, DESCRIPTION.md", "https://github.com/FZJ-JSC/jubench-stream-gpu"),
        ("docs.nersc.gov/systems/perlmutter", "https://docs.nersc.gov/systems/perlmutter"),
        ("Parallel Computing 35(12), 581–594", ""),
        ("Morgan & Claypool", ""),
    ],
)
def test_a_source_leads_to_its_address_where_its_place_says_one(place: str, address: str) -> None:
    assert source_link(place) == address
