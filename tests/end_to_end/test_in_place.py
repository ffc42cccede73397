"""What pages show is written in place, between comments that no reader sees."""

import pytest
from in_place import Stale, blocks, figures_in, filled, on_the_site
from markdown_it import MarkdownIt

PAGE = """\
# A page

It takes <!--=time-->1 s<!--/--> a step, **<!--=share-->50 %<!--/--> of peak**.

<!-- output: answer -->
```text
old
```
<!-- end -->

- in a list:

  <!-- output: answer from "two" before "four" -->
  <!-- end -->

<!-- table: rows -->
<!-- end -->

<!-- site:
```{toctree}
other
```
-->
"""
PIECES = {"answer": "one\ntwo\nthree\nfour\n", "rows": "| a |\n| --- |\n| 1 |\n"}
FIGURES = {"time": "2 s", "share": "25 %"}


def test_figures_blocks_parts_and_tables_are_written_between_their_marks() -> None:
    page = filled(PAGE, PIECES, FIGURES)
    assert figures_in(page) == [("time", "2 s"), ("share", "25 %")]
    assert "```text\none\ntwo\nthree\nfour\n```\n<!-- end -->" in page
    assert (
        '  <!-- output: answer from "two" before "four" -->\n  ```text\n  two\n  three\n  ```\n  <!-- end -->' in page
    )
    assert blocks(page)["rows"] == "| a |\n| --- |\n| 1 |"


def test_writing_twice_changes_nothing() -> None:
    once = filled(PAGE, PIECES, FIGURES)
    assert filled(once, PIECES, FIGURES) == once
    assert filled(once, {}, {}, some=True) == once


def test_with_some_of_what_pages_show_the_rest_stays_as_it_stands() -> None:
    page = filled(PAGE, {"answer": "new\ntwo\nfour\n"}, {"time": "2 s"}, some=True)
    assert figures_in(page) == [("time", "2 s"), ("share", "50 %")]
    assert "new" in page
    assert "<!-- table: rows -->\n<!-- end -->" in page


def test_a_figure_that_moved_makes_its_page_stale() -> None:
    page = filled(PAGE, PIECES, FIGURES)
    assert filled(page, PIECES, FIGURES | {"time": "3 s"}) != page


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("<!-- output: nobody -->\n<!-- end -->", "shows output 'nobody', which scripts/generate_pages.py does not"),
        ("it is <!--=nobody-->1<!--/-->", "shows figure 'nobody'"),
        ('<!-- output: answer from "five" -->\n<!-- end -->', "'answer' has no line with 'five'"),
    ],
)
def test_a_mark_that_nobody_fills_is_named(page: str, said: str) -> None:
    with pytest.raises(Stale, match=said):
        filled(page, PIECES, FIGURES)


def test_a_fence_is_longer_than_any_that_it_holds() -> None:
    page = filled("<!-- output: answer -->\n<!-- end -->", {"answer": "```\nx\n```\n"}, {})
    assert "````text\n```\nx\n```\n````" in page


def test_the_site_gets_no_mark_and_as_many_lines() -> None:
    page = filled(PAGE, PIECES, FIGURES)
    site = on_the_site(page)
    assert "<!--" not in site
    assert "```{toctree}\nother\n```" in site
    assert site.splitlines()[2] == "It takes 2 s a step, **25 % of peak**."
    assert site.index("toctree") > 0
    assert page.splitlines().index("```{toctree}") == site.splitlines().index("```{toctree}")


def test_plain_markdown_shows_the_text_and_hides_the_marks() -> None:
    shown = MarkdownIt("commonmark").enable("table").render(filled(PAGE, PIECES, FIGURES))
    assert "<strong><!--=share-->25 %<!--/--> of peak</strong>" in shown
    assert "<td>1</td>" in shown
