"""The picture that a plan offers: lines of a figure over what varies, in the unit that fits the largest."""

from volvelle.applications.scores import PlannedCurves
from volvelle.quantities import show
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.lines import line_chart


def plan_picture(curves: PlannedCurves) -> Chart:
    """The curves of a plan."""
    scale, unit = 1.0, curves.y_title
    if curves.kind is not None:
        unit = show(max(value for line in curves.lines.values() for value in line), curves.kind).split(" ", 1)[1]
        scale = curves.kind.units[unit]
    return line_chart(
        {name: [value / scale for value in line] for name, line in curves.lines.items()},
        places=[f"{place:,.0f}" for place in curves.places] if curves.doublings else curves.places,
        title=curves.title,
        about=curves.about,
        x_title=curves.x_title,
        y_title=unit,
    )
