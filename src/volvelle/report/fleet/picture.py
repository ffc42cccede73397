"""Chips that are on and requests that come, by the hour."""

from typing import Any

from volvelle.report.figures.axes import NUMBERS
from volvelle.report.figures.engine import Chart, alt, marks_of
from volvelle.report.figures.theme import INK, PALETTE, TELLS, WIDE, finished, legend
from volvelle.verbs.fleet.answer import Fleet

_STEPS = 720
"""Points of a line at most: of a longer time each is the most of several minutes."""


def fleet_picture(answer: Fleet, width: float = WIDE) -> Chart:
    """Chips of every service upon each other, and below them the requests that come."""
    names = [one.name for one in answer.services]
    minutes = int(answer.chips.size)
    step = max(-(-minutes // _STEPS), 1)
    chips: list[dict[str, Any]] = []
    rates: list[dict[str, Any]] = []
    for place, one in enumerate(answer.services):
        for first in range(0, minutes, step):
            part = slice(first, first + step)
            on = one.chips[part]
            most = int(on.max()) if on.size else 0
            rate = float(one.load.counts[part].sum() / one.load.seconds[part].sum()) if on.size else 0.0
            hour = first / 60.0
            chips.append({"hour": hour, "chips": most, "service": one.name, "order": place})
            rates.append({"hour": hour, "rate": rate, "service": one.name})
    colour = alt.Color("service:N", legend=legend(names, width - 60) if len(names) > 1 else None).scale(
        domain=names, range=[PALETTE[place % len(PALETTE)] for place in range(len(names))]
    )
    x = alt.X("hour:Q", title="hour").scale(nice=False, domain=[0, minutes / 60.0]).axis(format=NUMBERS, tickCount=12)
    above = (
        marks_of(chips)
        .mark_area(interpolate="step-after", opacity=0.85)
        .encode(
            x=x.title(None),
            y=alt.Y("chips:Q", title="chips on", stack="zero").axis(format=NUMBERS, tickCount=5, domain=False),
            color=colour,
            order="order:Q",
        )
        .properties(width=width - 90, height=200)
    )
    y = alt.Y("rate:Q", title="requests a second").axis(format=NUMBERS, tickCount=4, domain=False)
    lines: list[Any] = [
        marks_of(rates).mark_line(interpolate="step-after", strokeWidth=2).encode(x=x, y=y, color=colour)
    ]
    missed = [
        {"hour": check.hour + 0.5, "rate": one.hours[check.hour].spent.rate, "tells": f"{one.name}: limits missed"}
        for one in answer.services
        for check in one.checks
        if not check.held
    ]
    if missed:
        mark = marks_of(missed).mark_point(shape="cross", filled=True, color=INK, size=90, opacity=1, aria=True)
        lines.append(mark.encode(x="hour:Q", y=y, **TELLS))
    below = alt.layer(*lines).properties(width=width - 90, height=130)
    found, total = answer.ranges["chips"], answer.total
    assert total is not None, "a fleet without services has no picture"
    said = f"{total.chips:,} chips in the busiest minute (range {found.low:,.0f}–{found.high:,.0f})"
    if missed:
        said += "; a cross marks an hour in which limits are missed"
    return finished(
        alt.vconcat(above, below, spacing=14),
        title=f"Chips and load by the hour: {answer.name}",
        about=f"Chips that are on for each service of {answer.name}, and requests a second below. {said}.",
        width=width,
        said=said,
    )
