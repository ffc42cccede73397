"""Curves over time in panels."""

from volvelle.applications.scores import MeasuredCurve
from volvelle.report.figures.curves import curve_panels
from volvelle.report.figures.rendering import svg


def curve(title: str, name: str) -> MeasuredCurve:
    return MeasuredCurve(title=title, name=name, moments=(0.0, 1.0), measured=(1.0, 2.0), predicted=(1.0, 3.0))


def test_every_curve_has_a_panel_and_every_run_its_name_once() -> None:
    drawn = svg(
        curve_panels([curve("a run", "waiting"), curve("a run", "running"), curve("another", "waiting")], title="t")
    )
    assert drawn.count(">a run<") == 1
    assert drawn.count(">another<") == 1
    assert drawn.count(">waiting<") == 2
    assert ">measured<" in drawn


def test_one_curve_is_a_picture_too() -> None:
    assert ">waiting<" in svg(curve_panels([curve("a run", "waiting")], title="t"))
