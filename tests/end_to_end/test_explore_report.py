"""Reports of a study: a page that stands alone, a terminal's width, files that other programs read."""

import csv
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

from tests.small_studies import best_layouts, finished, small_study
from volvelle.report.documents.document import json_text
from volvelle.report.documents.explore import ExploreDocument, InversionDocument
from volvelle.report.explore import pictures as explore_pictures
from volvelle.report.explore.files import front_csv, write_explore_files
from volvelle.report.explore.page import explore_page
from volvelle.report.explore.text import print_answers, print_inversion
from volvelle.report.figures.rendering import svg
from volvelle.report.figures.theme import NARROW, WIDE
from volvelle.studies.answers.answers import Answers, answer
from volvelle.studies.answers.designs import measure_text
from volvelle.studies.answers.invert import invert
from volvelle.studies.sweep.manifest import open_results

pytest.importorskip("altair")

VOID = {"meta", "br", "hr", "img", "input", "link", "rect", "circle", "path", "line"}


class Outline(HTMLParser):
    """Checks that every element is closed, and gathers what a page refers to."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.refers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.ids += [known["id"]] if known.get("id") else []  # type: ignore[list-item]
        self.refers += [str(known[name]) for name in ("src", "href", "xlink:href") if name in known]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element that closes itself opens nothing."""

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    study = small_study()
    return answer(finished(study, tmp_path_factory.mktemp("report") / "results"), study, seconds=3.0)


@pytest.fixture(scope="module")
def page(answers: Answers) -> str:
    return explore_page(answers)


def printed(answers: Answers) -> str:
    console = Console(file=io.StringIO(), width=140, highlight=False)
    print_answers(answers, console)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_the_page_is_whole_and_refers_to_nothing_outside(page: str) -> None:
    outline = Outline()
    outline.feed(page)
    assert outline.open == []
    assert all(link.startswith(("#", "https://")) for link in outline.refers), "links, and nothing that is fetched"
    assert len(outline.ids) == len(set(outline.ids))
    assert {"recommendation", "front", "sensitivity", "tornado", "heat", "where-time-goes", "doubt", "cost"} <= set(
        outline.ids
    )
    elsewhere = set(re.findall(r"https?://[^\s\"'<]+", page)) - {"http://www.w3.org/2000/svg"}
    assert elsewhere <= set(re.findall(r'<a href="([^"]+)" rel="noreferrer">', page))
    assert "@import" not in page
    assert set(re.findall(r"url\(.", page)) <= {"url(#"}
    assert len(page.encode()) < 1_500_000


def test_the_page_has_the_numbers(page: str, answers: Answers) -> None:
    best = answers.best.design
    assert best is not None
    assert answers.local is not None
    assert measure_text("days", best.measures["days"]) in page
    assert measure_text("machine_usd", best.measures["machine_usd"]) in page
    assert "which machine" in page
    assert "24" in page
    assert "power &lt;= 1.2 MW" in page
    for one in answers.local.assumptions:
        assert one.figure.date in page
    for design in answers.front.designs:
        assert f'<td data-value="{design.number:g}">' in page


def test_words_of_a_study_cannot_break_the_page(tmp_path: Path) -> None:
    study = small_study(question="<script>alert(1)</script>", axes={"scale_out.rate": {"times": [1, 2]}})
    page = explore_page(answer(finished(study, tmp_path / "results"), study))
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


@pytest.mark.parametrize("name", ["break_even", "front", "heat", "time", "tornado"])
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_every_picture_is_well_formed_and_as_wide_as_asked(name: str, width: float, answers: Answers) -> None:
    as_wide_as_asked(svg(getattr(explore_pictures, f"{name}_picture")(answers, width=width)), width)


def test_maps_of_every_point_are_well_formed(tmp_path: Path) -> None:
    study = small_study(facet="accelerators")
    found = answer(finished(study, tmp_path / "results"), study)
    drawn = [explore_pictures.grid_picture(grid, found) for grid in found.grids]
    assert len(drawn) == 2
    for picture in drawn:
        as_wide_as_asked(svg(picture), WIDE)


def as_wide_as_asked(picture: str, width: float) -> None:
    assert float(ElementTree.fromstring(picture).attrib["width"]) <= 1.08 * width
    assert "NaN" not in picture
    assert "undefined" not in picture


def test_a_page_has_each_picture_for_a_desk_and_for_a_telephone_and_turns_dark(page: str) -> None:
    widths = [float(width) for width in re.findall(r'<svg[^>]* width="(\d+)"', page)]
    assert len(widths) >= 8
    assert max(widths[1::2]) <= 380
    assert page.count("prefers-color-scheme") == 2, "of the page, and of its pictures"


def test_numbers_of_the_machine_that_no_axis_varies_have_their_units(page: str) -> None:
    assert "TFLOP/s" in page  # the matrix rate
    assert "300 GB/s" in page  # the scale-up link
    assert " us<" in page  # latencies


def test_a_terminal_of_a_hundred_columns_holds_the_answers(answers: Answers) -> None:
    text = printed(answers)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 100
    assert "What it is limited by" in text
    assert "1 % more" in text
    assert "at the margin" in text
    assert "Money rests on" in text


def test_files_hold_the_front_and_the_summary(answers: Answers, tmp_path: Path) -> None:
    files = {file.name: file for file in write_explore_files(answers, tmp_path)}
    assert set(files) == {"report.html", "front.csv", "summary.json"}
    rows = list(csv.DictReader(io.StringIO(front_csv(answers))))
    assert [int(row["point"]) for row in rows] == answers.front.numbers.tolist()
    assert [float(row["days"]) for row in rows] == answers.front.values[:, 0].tolist()
    summary = json.loads(files["summary.json"].read_text("utf-8"))
    assert summary == json.loads(json_text("explore", ExploreDocument.model_validate(answers)))
    assert summary["best"]["design"]["point"] == answers.best.design.number  # type: ignore[union-attr]
    assert len(list(tmp_path.iterdir())) == 3


def test_a_folder_with_reports_can_be_started_afresh(answers: Answers, tmp_path: Path) -> None:
    finished(answers.study, tmp_path / "results")
    write_explore_files(answers, tmp_path / "results")
    assert open_results(tmp_path / "results", answers.study, chunk=32).pending() == []
    assert len(open_results(tmp_path / "results", answers.study, chunk=36, fresh=True).pending()) == 2


@pytest.mark.long
def test_layouts_found_anew_are_shown(tmp_path: Path) -> None:
    study = best_layouts()
    found = answer(finished(study, tmp_path / "results"), study)
    assert re.search(r"laid out as +tp", printed(found))
    assert "the best layout at each point" in explore_page(found)


def test_where_nothing_meets_the_constraints_all_reports_say_why(tmp_path: Path) -> None:
    study = small_study(constraints=["days <= 1"])
    found = answer(finished(study, tmp_path / "results"), study)
    page, text = explore_page(found), printed(found)
    assert "No design meets the constraints" in page
    for said in (page, text):
        assert "relaxed by" in said
    assert json.loads(json_text("explore", ExploreDocument.model_validate(found)))["best"]["unmet"]["run"] == 48


def test_one_objective_makes_no_front_but_a_report(tmp_path: Path) -> None:
    study = small_study(objectives=["max mfu"], constraints=[], measures=[])
    found = answer(finished(study, tmp_path / "results"), study)
    assert 'id="front"' not in explore_page(found)
    assert 'id="cost"' not in explore_page(found)
    assert "Most MFU" in printed(found)


def test_three_objectives_are_shown_by_their_first_two(tmp_path: Path) -> None:
    study = small_study(objectives=["days", "machine_usd", "max mfu"])
    found = answer(finished(study, tmp_path / "results"), study)
    assert "of all objectives" in explore_page(found)
    assert max(len(line.rstrip()) for line in printed(found).splitlines()) <= 100


def test_an_inversion_is_printed_and_written(tmp_path: Path) -> None:
    study = small_study()
    results = finished(study, tmp_path / "results")
    for text, said in (("days <= 60 and least run_usd", "meet it"), ("days <= 1 and least run_usd", "What would help")):
        console = Console(file=io.StringIO(), width=100, highlight=False)
        found = invert(results, study, text)
        print_inversion(found, console)
        assert said in console.file.getvalue()  # type: ignore[attr-defined]
        assert json.loads(json_text("explore", InversionDocument.model_validate(found)))["requirement"] == text


def test_a_range_that_crosses_a_limit_is_told_and_what_misses_it_is_not_called_better(tmp_path: Path) -> None:
    study = small_study()
    days = answer(finished(study, tmp_path / "first"), study).best.design.measures["days"]  # type: ignore[union-attr]
    limited = small_study(
        constraints=[f"days <= {1.01 * days:g}"],
        axes={"accelerators": [512, 1024], "scale_out.rate": {"times": [1, 4]}},
        objectives=["machine_usd", "days"],
    )
    found = answer(finished(limited, tmp_path / "second"), limited)
    assert found.local is not None
    missed = {swing.path for swing in found.local.swings if not all(swing.met)}
    assert "accelerators" in missed, "half as many are cheaper, and late"
    page = explore_page(found)
    for said in (page, " ".join(printed(found).split())):
        assert "lies inside the range of days" in said.replace("&lt;", "<")
    assert "misses a constraint" in page


def test_the_recommended_design_comes_as_a_command(tmp_path: Path) -> None:
    study = small_study(axes={"accelerators": [512, 1024]}, constraints=[])
    page = explore_page(answer(finished(study, tmp_path / "results"), study))
    command = re.sub(r"<[^>]+>", "", re.search(r"<code>(.*?)</code>", page)[1])  # type: ignore[index]
    assert command.startswith(
        "volvelle estimate gpt3-175b --on dgx-a100/1024 --batch 1536 --tokens 3e+11 --tp 8 --pp 8"
    )
