"""A Pareto front: the cloud of points that run, the front as a stair, the chosen designs marked."""

from collections.abc import Sequence
from typing import Any

from volvelle.report.figures.axes import Measure, placed, ringed
from volvelle.report.figures.engine import Chart, alt, marks_of
from volvelle.report.figures.theme import BLUE, CLOUD, PAPER, TELLS, WIDE, finished, legend


def front_chart(
    cloud: Sequence[tuple[float, float]],
    front: Sequence[tuple[float, float, str]],
    marks: Sequence[tuple[float, float, str]],
    *,
    across: Measure,
    up: Measure,
    less: tuple[bool, bool],
    title: str,
    about: str,
    stair: bool = True,
    height: float = 360.0,
    width: float = WIDE,
) -> Chart:
    """The picture; `front` points have words for the pointer, `marks` labels; `stair` joins those of two objectives.

    `less` is better, or more, of what goes across and up.
    """
    own = "on the front" + ("" if stair else " (of all objectives)")
    kinds = [own, "other points (some of them)"]
    where = placed(across, up)

    def at(a: float, b: float, **more: Any) -> dict[str, Any]:
        return {"x": across.of(a), "y": up.of(b), **more}

    kind = alt.Color("kind:N", legend=legend(kinds, width - 70, symbolType="circle"))
    kind = kind.scale(domain=kinds, range=[BLUE, CLOUD])
    others = [at(a, b, kind=kinds[1]) for a, b in cloud]
    ends = sorted((at(a, b, kind=own, tells=tells) for a, b, tells in front), key=lambda one: one["x"])
    layers: list[Any] = [marks_of(others).mark_point(filled=True, size=14, opacity=0.7).encode(color=kind, **where)]
    if stair and len(front) > 1:
        # Every corner is what the front guarantees: no point lies on its better side.
        bend = "step-after" if less[0] else "step-before"
        layers.append(marks_of(ends).mark_line(interpolate=bend, color=BLUE, strokeWidth=1.6).encode(**where))
    dots = marks_of(ends).mark_point(filled=True, size=42, opacity=1, stroke=PAPER, strokeWidth=0.7, aria=True)
    layers.append(dots.encode(color=kind, **TELLS, **where))
    for place, (a, b, label) in enumerate(marks):
        # The first above, the second below, so that they do not meet.
        below = (place % 2 == 1 and up.share(b) > 0.12) or up.share(b) > 0.9
        layers += ringed(a, b, label, across, up, size=190, dy=15 if below else -12)
    better = f"better is {'down' if less[1] else 'up'} and to the {'left' if less[0] else 'right'}"
    chart = alt.layer(*layers).properties(width=width - 90, height=height)
    return finished(chart, title=title, about=about, width=width, said=better)
