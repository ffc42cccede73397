"""A break-even line: on it the objective is that of the reference, on one side it is better."""

from collections.abc import Sequence
from typing import Any

from volvelle.report.figures.axes import Measure, placed, ringed
from volvelle.report.figures.engine import Chart, alt, marks_of
from volvelle.report.figures.theme import BLUE, GOOD, GREEN, PAPER, TELLS, WIDE, finished


def break_even_chart(
    points: Sequence[tuple[float, float, str]],
    *,
    across: Measure,
    up: Measure,
    chosen: tuple[float, float],
    better_above: bool | None,
    title: str,
    said: str,
    about: str,
    height: float = 310.0,
    width: float = WIDE,
) -> Chart:
    """The picture; the better side is filled where the line falls."""
    where = placed(across, up)
    rows: list[dict[str, Any]] = [{"x": across.of(a), "y": up.of(b), "tells": tells} for a, b, tells in points]
    layers: list[Any] = []
    (left, right), (bottom, top) = across.ends, up.ends
    falls = len(points) > 1 and points[0][1] >= points[-1][1]
    if better_above is not None and falls:
        first, last = rows[0], rows[-1]
        # Beyond its last crossing the line is taken to go on level.
        edge = [*rows, {"x": right, "y": last["y"]}] if better_above else [{"x": left, "y": first["y"]}, *rows]
        filled = [{"x": row["x"], "y": row["y"], "to": top if better_above else bottom} for row in edge]
        layers.append(marks_of(filled).mark_area(color=GOOD, opacity=1).encode(**where, y2="to:Q"))
    layers.append(marks_of(rows).mark_line(color=BLUE, strokeWidth=2.2).encode(**where))
    dots = marks_of(rows).mark_point(filled=True, color=BLUE, size=34, opacity=1, stroke=PAPER, aria=True)
    layers.append(dots.encode(**where, **TELLS))
    if better_above is not None:
        corner = {"x": alt.value(0.62 * (width - 90)), "y": alt.value(16)}
        corner = corner if better_above else {"x": alt.value(30), "y": alt.value(height - 12)}
        words = marks_of([{"text": "better"}]).mark_text(color=GREEN, fontWeight="bold", fontSize=12.5)
        layers.append(words.encode(text="text:N", **corner))
    layers += ringed(*chosen, "best design", across, up, size=170, dy=16 if up.share(chosen[1]) > 0.85 else -12)
    chart = alt.layer(*layers).properties(width=width - 90, height=height)
    return finished(chart, title=title, about=about, width=width, said=said)
