"""A Pareto front: the cloud of points that run, the front as a stair, the chosen designs marked."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from volvelle.report.figures.axes import Measure, placed, ringed
from volvelle.report.figures.engine import Chart, alt, marks_of
from volvelle.report.figures.theme import BLUE, CLOUD, FAINT, PALETTE, PAPER, TELLS, WIDE, finished, legend

_FEW = 300
"""Points beside the front up to which each is large enough to point at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontPoint:
    """A point, the kind that gives its colour, and words for the pointer."""

    x: float
    y: float
    kind: str = ""
    tells: str = ""


def front_chart(
    cloud: Sequence[FrontPoint],
    front: Sequence[FrontPoint],
    marks: Sequence[tuple[float, float, str]],
    *,
    across: Measure,
    up: Measure,
    less: tuple[bool, bool],
    title: str,
    about: str,
    stair: bool = True,
    others: str = "other points",
    kinds: Sequence[str] = (),
    kinds_are: str = "",
    height: float = 360.0,
    width: float = WIDE,
) -> Chart:
    """The picture; points are coloured by kind, those of the `front` large, `marks` have labels; `stair` joins points.

    `less` is better, or more, of what goes across and up; `kinds` are in the order of the legend.
    """
    where = placed(across, up)
    seen = {point.kind for point in (*front, *cloud)}
    kinds = [word for word in kinds if word in seen]
    plain = {"": "on the front" + ("" if stair else " (of all objectives)")}
    names = kinds or [plain[""], others]

    def at(point: FrontPoint, name: str) -> dict[str, Any]:
        return {"x": across.of(point.x), "y": up.of(point.y), "kind": point.kind or name, "tells": point.tells}

    colours = [*itertools.islice(itertools.cycle(PALETTE), len(kinds))] or [BLUE, CLOUD]
    kind = alt.Color("kind:N", legend=legend(names, width - 70, symbolType="circle", symbolStrokeWidth=0))
    kind = kind.scale(domain=names, range=colours)
    small = marks_of([at(point, others) for point in cloud])
    ends = sorted((at(point, plain[""]) for point in front), key=lambda row: row["x"])
    layers: list[Any] = []
    if stair and len(front) > 1:
        # Every corner is what the front guarantees: no point lies on its better side.
        bend = "step-after" if less[0] else "step-before"
        colour = FAINT if kinds else BLUE
        layers.append(marks_of(ends).mark_line(interpolate=bend, color=colour, strokeWidth=1.6).encode(**where))
    few = len(cloud) <= _FEW
    dots = small.mark_point(filled=True, size=44 if few else 16, opacity=1, fillOpacity=0.55, aria=few and bool(kinds))
    layers.append(dots.encode(color=kind, **where, **(TELLS if few and kinds else {})))
    large = marks_of(ends).mark_point(
        filled=True, size=110 if kinds else 46, opacity=1, stroke=PAPER, strokeWidth=1.2, aria=True
    )
    layers.append(large.encode(color=kind, **TELLS, **where))
    for place, (a, b, label) in enumerate(marks):
        # The first above, the second below, so that they do not meet.
        below = (place % 2 == 1 and up.share(b) > 0.12) or up.share(b) > 0.9
        layers += ringed(a, b, label, across, up, size=230, dy=18 if below else -15)
    better = f"Better is {'down' if less[1] else 'up'} and to the {'left' if less[0] else 'right'}."
    better += f" Colours: {kinds_are}." if kinds else ""
    sizes = f" Large: on the front{'' if stair else ' of all objectives'}; small: {others}." if kinds and cloud else ""
    chart = alt.layer(*layers).properties(width=width - 90, height=height)
    return finished(chart, title=title, about=about, width=width, said=better + sizes)
