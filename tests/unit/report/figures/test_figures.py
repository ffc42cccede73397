"""Every kind of picture, on small values: well-formed, inside its sheet, saying what it was given."""

import math
import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest

from volvelle.quantities import BYTES, DOLLARS, FLOP_PER_SECOND, SECONDS

pytest.importorskip("altair")

from volvelle.report.figures.axes import Measure
from volvelle.report.figures.bars import Bar, BarGroup, BarPanel, Slot, bar_chart
from volvelle.report.figures.break_even import break_even_chart
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.front import FrontPoint, front_chart
from volvelle.report.figures.graph_picture import Edge, Node, graph_picture
from volvelle.report.figures.heat_map import Cell, HeatPanel, heat_map
from volvelle.report.figures.lines import line_chart
from volvelle.report.figures.rendering import svg
from volvelle.report.figures.roofline import RoofPoint, roofline
from volvelle.report.figures.row_bars import BarRow, Piece, row_chart
from volvelle.report.figures.scatter import Mark, Point, scatter
from volvelle.report.figures.theme import BLUE, NARROW, PAIRS, RAMP_DOWN, RAMP_UP, RUST, WIDE
from volvelle.report.figures.tornado import TornadoBar, tornado_chart

Draw = Callable[[float], Chart]


def bars(width: float) -> Chart:
    def slot(name: str, size: float) -> Slot:
        bar = Bar(parts=(("work", size), ("wait", 1.0)), logged=size, ours=size + 0.5, text=f"{size:g}", title=name)
        return Slot(label=name, bars=(bar,))

    groups = (
        BarGroup(label="few", slots=(slot("a", 2.0),)),
        BarGroup(label="many", slots=(slot("b", 3.0), slot("c", 4.0))),
    )
    panels = [BarPanel(title=name, groups=groups, y_title="seconds") for name in ("first", "second")]
    colours = {"work": BLUE, "wait": RUST}
    return bar_chart(panels, title="Bars", about="b", colours=colours, logged="logged", ours="ours", width=width)


def columns(width: float) -> Chart:
    slots = tuple(
        Slot(label=f"MP{n}\nDP{8 // n}", bars=(Bar(parts=(("work", 1.0 * n),), right=10.0**n, title="t"),))
        for n in (1, 2, 4)
    )
    panel = BarPanel(title="p", groups=(BarGroup(label="", slots=slots),), y_title="y", right_title="GB", limit=80.0)
    return bar_chart([panel], title="Columns", about="c", colours={"work": BLUE}, width=width)


def rows(width: float) -> Chart:
    def piece(kind: str, value: float, **more: bool) -> Piece:
        return Piece(kind=kind, value=value, tells=f"{kind} {value:g}", **more)

    lying = [
        BarRow(label="first part", pieces=(piece("work", 2.0), piece("wait", 1.0)), text="3.00 s", span=(2.5, 4.0)),
        BarRow(label="hidden", pieces=(piece("wait", 0.5, hollow=True),), text="500 ms"),
    ]
    return row_chart(
        lying,
        name="time",
        kind=SECONDS,
        colours={"work": BLUE, "wait": RUST},
        title="Rows",
        about="r",
        limits=[(3.5, "a limit")],
        width=width,
    )


def dotted(width: float) -> Chart:
    lying = [
        BarRow(label=name, pieces=(Piece(kind="work", value=value, tells=name),), text=f"{value:g} s")
        for name, value in (("1. tp8", 20.0), ("2. tp4", 20.1))
    ]
    colours = {"work": BLUE}
    return row_chart(lying, name="time", kind=SECONDS, colours=colours, title="Dots", about="d", dots=True, width=width)


def heat(width: float) -> Chart:
    cells = tuple(
        tuple(Cell(value=v, text=f"{v:g}", other="9" if v == 4 else "") for v in row) for row in ((1, 2), (4, math.nan))
    )
    return heat_map(
        [HeatPanel(title="p", cells=cells)],
        title="Heat",
        about="h",
        rows=["x", "y"],
        groups=["g", "k"],
        columns=["c"],
        note="n",
        width=width,
    )


def lines(width: float) -> Chart:
    return line_chart(
        {"near": (3.0, 1.00), "nearer": (4.0, 1.01)},
        places=["a", "b"],
        title="Lines",
        about="l",
        x_title="x",
        y_title="y",
        logarithmic=True,
        limits=((2.0, "limit"),),
        width=width,
    )


def curves(width: float) -> Chart:
    return line_chart(
        {"one": (3.0, 1.0), "two": (4.0, 2.0)},
        places=[1.0, 2.0],
        points={"seen": (1.5, 2.5)},
        title="Curves",
        about="c",
        x_title="x",
        y_title="y",
        width=width,
    )


def front(width: float) -> Chart:
    return front_chart(
        [FrontPoint(x=3e6, y=9.0)],
        [FrontPoint(x=1e6, y=5.0, tells="first"), FrontPoint(x=2e6, y=3.0, tells="second")],
        [(2e6, 3.0, "best")],
        across=Measure.over((1e6, 3e6), name="price", kind=DOLLARS, margin=0.07),
        up=Measure.over((3.0, 9.0), name="time", kind=SECONDS, margin=0.07),
        less=(True, True),
        title="Front",
        about="f",
        width=width,
    )


def machines(width: float) -> Chart:
    return front_chart(
        [FrontPoint(x=3e6, y=9.0, kind="dgx-h100", tells="another")],
        [FrontPoint(x=1e6, y=5.0, kind="dgx-b200", tells="point 1: this one")],
        [(1e6, 5.0, "best")],
        across=Measure.over((1e6, 3e6), name="price", kind=DOLLARS, margin=0.07),
        up=Measure.over((3.0, 9.0), name="time", kind=SECONDS, margin=0.07),
        less=(True, True),
        title="Machines",
        about="m",
        kinds=("dgx-a100", "dgx-h100", "dgx-b200"),
        kinds_are="system",
        width=width,
    )


def tornado(width: float) -> Chart:
    bars = [
        TornadoBar(name="memory", low=3.0, high=5.0, low_text="2 TB/s", high_text="1 TB/s", note="cannot run at 0"),
        TornadoBar(name="limited", low=2.0, high=6.0, low_text="512", high_text="4,096", kept=(3.5, 6.0)),
        TornadoBar(name="nothing", low=4.0, high=4.0, low_text="", high_text=""),
    ]
    return tornado_chart(
        bars, at=4.0, at_text="best: 4", name="days", kind=None, less=True, title="Tornado", about="t", width=width
    )


def break_even(width: float) -> Chart:
    return break_even_chart(
        [(1.0, 9.0, "p"), (2.0, 4.0, "q")],
        across=Measure.over((1.0, 8.0), name="rate"),
        up=Measure.over((2e9, 9e10), name="size", kind=BYTES),
        chosen=(2.0, 3e10),
        better_above=True,
        title="Even",
        said="s",
        about="e",
        width=width,
    )


def roof(width: float) -> Chart:
    points = [
        RoofPoint(name="1", rate=5e13, intensities=(50.0, None)),
        RoofPoint(name="1", rate=4e13, intensities=(40.0, 80.0), logged=True),
    ]
    roofs = {"memory": 2e12, "network": 1e11}
    return roofline(points, roofs, peak=1e14, title="Roof", about="r", width=width)


def seen(width: float) -> Chart:
    mark = Mark(name="held-out", colour=RUST, shape="diamond")
    points = [
        Point(measured=1.0, predicted=1.1, mark=mark, label="run 1 <&>"),
        Point(measured=9.0, predicted=8.0, mark=mark, label="run 2"),
    ]
    return scatter(points, title="Scatter", quantity="time", unit="s", width=width)


def graph(width: float) -> Chart:
    nodes = [Node(name="in", words="split by x"), Node(name="out", partition=1, stage=1)]
    return graph_picture(nodes, [Edge(producer="in", consumer="out", words="4 MB")], title="Graph")


ALL = (bars, columns, rows, dotted, heat, lines, curves, front, machines, tornado, break_even, roof, seen, graph)


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("draw", ALL)
def test_a_picture_is_well_formed_no_wider_than_asked_and_has_only_colours_with_a_dark_partner(
    draw: Draw, width: float
) -> None:
    text = svg(draw(width), themed=False)
    root = ElementTree.fromstring(text)
    assert float(root.attrib["width"]) <= width * 1.06 or draw is graph
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"]
    assert "NaN" not in text
    assert "undefined" not in text
    assert set(re.findall(r'(?:fill|stroke)="(#\w+)"', text)) <= set(PAIRS)


def test_a_front_names_machines_and_shows_those_that_are_not_on_it() -> None:
    text = svg(machines(WIDE))
    assert ">dgx-h100</text>" in text
    assert "dgx-a100" not in text
    assert "<title>another</title>" in text


def test_a_tornado_does_not_call_better_what_misses_a_constraint() -> None:
    text = svg(tornado(WIDE))
    assert "limited: 512 (misses a constraint)" in text
    assert ">misses a constraint</text>" in text


def test_what_a_pointer_reads_is_in_the_picture() -> None:
    assert "<title>run 1 &lt;&amp;&gt;</title>" in svg(seen(WIDE))
    assert "<title>first</title>" in svg(front(WIDE))
    assert "<title>c: ours 4.5</title>" in svg(bars(WIDE))
    assert "<title>4 MB</title>" in svg(graph(WIDE))


def test_axes_have_units_that_suit_their_values() -> None:
    text = svg(front(WIDE))
    assert "price, MUSD" in text
    assert "time, s" in text
    assert Measure.over((3e12, 9e14), name="rate", kind=FLOP_PER_SECOND).title == "rate, TFLOP/s"


def test_values_far_apart_are_on_a_logarithmic_axis_and_near_ones_are_not() -> None:
    assert Measure.over((1.0, 9.0), name="x").scale.to_dict()["type"] == "log"
    assert Measure.over((8.0, 9.0), name="x").scale.to_dict()["type"] == "linear"
    assert Measure.over((0.0, 9.0), name="x").scale.to_dict()["type"] == "linear"


def test_a_heat_map_with_an_even_value_has_two_colours_around_it() -> None:
    cells = tuple((Cell(value=value, text=f"{value:g}"),) for value in (0.5, 1.0, 2.0))
    chart = heat_map(
        [HeatPanel(title="", cells=cells)],
        title="t",
        about="a",
        rows=["x", "y", "z"],
        groups=[""],
        columns=["c"],
        note="",
        even=1.0,
    )
    text = svg(chart)
    assert all(f'fill="{colour}"' in text for colour in (RAMP_UP[0], RAMP_UP[-1], RAMP_DOWN[-1]))


def test_names_of_lines_that_end_together_are_moved_apart() -> None:
    places = re.findall(r'translate\([\d.]+,([\d.]+)\)"[^>]*>near(?:er)?<', svg(lines(WIDE)))
    assert len(places) == 2
    assert abs(float(places[0]) - float(places[1])) >= 14


def test_work_that_moves_nothing_through_a_resource_has_no_mark_there() -> None:
    titles = re.findall(r"<title>1, (\w+)", svg(roof(WIDE)))
    assert sorted(titles) == ["memory", "memory", "network"]
