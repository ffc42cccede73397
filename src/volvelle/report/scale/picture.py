"""How training scales: efficiency over counts, and below it where the time goes."""

from volvelle.quantities import percent
from volvelle.report.figures.axes import NUMBERS
from volvelle.report.figures.engine import Chart, alt, marks_of
from volvelle.report.figures.theme import BLUE, GREY, INK, PALETTE, TELLS, WIDE, finished, legend
from volvelle.report.scale.text import figure_lines, title_text
from volvelle.verbs.scale import HALF, Scaling

_BESIDE = 100.0
"""Pixels beside the panels."""
_PARTS = 5
"""Parts that have a colour of their own; the rest is one."""
_REST = "all else"


def scale_picture(answer: Scaling, width: float = WIDE) -> Chart:
    """Efficiency and MFU over counts, then the shares of a step."""
    running = [point for point in answer.points if point.step is not None]
    order = [f"{point.accelerators:,}" for point in running]
    x = alt.X("count:O", sort=order, title="accelerators").axis(labelAngle=0)
    lines = []
    for point in running:
        assert point.step is not None, "it runs"
        for name, value in (("efficiency", point.efficiency or 0.0), ("MFU", point.step.utilisation)):
            tells = f"{point.accelerators:,} accelerators: {name} {percent(value)}"
            lines.append({"count": f"{point.accelerators:,}", "y": 100 * value, "line": name, "tells": tells})
    names = ["efficiency", "MFU"]
    colour = alt.Color("line:N", legend=legend(names, width - _BESIDE, symbolType="stroke", symbolStrokeWidth=3))
    y = alt.Y("y:Q", title="%").scale(zero=True).axis(format=NUMBERS, tickCount=5, domain=False)
    base = marks_of(lines).encode(x=x.title(None), y=y, color=colour.scale(domain=names, range=[BLUE, INK]))
    above = alt.layer(
        marks_of([{"y": 100 * HALF}]).mark_rule(color=GREY, strokeDash=[5, 4]).encode(y=y),
        base.mark_line(strokeWidth=2),
        base.mark_point(filled=True, size=40, opacity=1, aria=True).encode(**TELLS),
    )
    most: dict[str, float] = {}
    for point in running:
        for name, share in point.parts.items():
            most[name] = max(share, most.get(name, 0.0))
    kept = sorted(most, key=lambda name: -most[name])[:_PARTS]
    shares = []
    for point in running:
        own = {name: point.parts.get(name, 0.0) for name in kept}
        own[_REST] = max(0.0, 1.0 - sum(own.values()))
        for place, (name, share) in enumerate(own.items()):
            tells = f"{point.accelerators:,} accelerators: {name} {percent(share)}"
            row = {"count": f"{point.accelerators:,}", "y": 100 * share, "part": name, "order": place, "tells": tells}
            shares.append(row)
    domain = [*kept, _REST]
    parts = alt.Color("part:N", legend=legend(domain, width - _BESIDE)).scale(
        domain=domain, range=[*PALETTE[: len(kept)], GREY]
    )
    below = marks_of(shares).mark_bar(aria=True)
    below = below.encode(
        x=x,
        y=alt.Y("y:Q", title="share of the step, %", stack="zero")
        .scale(domain=[0, 100])
        .axis(format=NUMBERS, tickCount=5, domain=False),
        color=parts,
        order="order:Q",
        **TELLS,
    )
    sized = [panel.properties(width=width - _BESIDE, height=200) for panel in (above, below)]
    said = "; ".join(list(figure_lines(answer))[-1:])
    return finished(
        alt.vconcat(*sized, spacing=14).resolve_scale(color="independent"),
        title=title_text(answer),
        about=f"{title_text(answer)}. Efficiency against the fewest that run, and shares of the step. {said}.",
        width=width,
        said=said,
    )
