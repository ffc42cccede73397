"""Names beside points of panels with logarithmic axes."""

import re

import pytest

from volvelle.report.figures.log_panels import LogPanel, log_panels
from volvelle.report.figures.rendering import svg

_PLACE = re.compile(r"translate\(([-\d.]+),\s*([-\d.]+)\)")


def _heights(points: dict[str, tuple[float, float]]) -> dict[str, float]:
    """Where each name is drawn, in pixels from the top."""
    panel = LogPanel(y_title="y", points=points, lines={"law": [(0.1, 0.1), (1000.0, 1000.0)]})
    drawn = svg(log_panels([panel], title="panels", about="two points", x_title="x"), themed=False)
    found = {}
    for words in re.findall(r"<text[^>]*>[^<]*</text>", drawn):
        name = re.sub(r"<[^>]*>", "", words)
        place = _PLACE.search(words)
        if name in points and place is not None:
            found[name] = float(place[2])
    return found


def test_names_of_neighbours_are_written_on_lines_of_their_own() -> None:
    close = _heights({"first of two": (10.0, 10.0), "second of two": (12.0, 11.0)})
    assert close["first of two"] - close["second of two"] > 12.0


def test_a_name_with_room_beside_its_point_stays_there() -> None:
    apart = _heights({"first of two": (1.0, 10.0), "second of two": (100.0, 10.0)})
    assert apart["first of two"] == pytest.approx(apart["second of two"])
