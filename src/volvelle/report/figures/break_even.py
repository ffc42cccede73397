"""A break-even line: on it the objective is that of the reference, on one side it is better."""

from collections.abc import Sequence
from typing import Any

from volvelle.report.figures.axes import Measure
from volvelle.report.figures.engine import Chart, alt, marks_of
from volvelle.report.figures.theme import BLUE, GOOD, GREEN, PAPER, RUST, TELLS, WIDE, finished

__all__ = ["break_even_chart"]


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
    x, y = alt.X("x:Q").scale(across.scale).axis(across.axis()), alt.Y("y:Q").scale(up.scale).axis(up.axis())
    rows = [{"x": across.of(a), "y": up.of(b), "tells": tells} for a, b, tells in points]
    layers: list[Any] = []
    (left, right), (bottom, top) = across.ends, up.ends
    falls = len(rows) > 1 and rows[0]["y"] >= rows[-1]["y"]
    if better_above is not None and falls:
        first, last = rows[0], rows[-1]
        # Beyond its last crossing the line is taken to go on level.
        edge = [*rows, {"x": right, "y": last["y"]}] if better_above else [{"x": left, "y": first["y"]}, *rows]
        filled = [{"x": row["x"], "y": row["y"], "to": top if better_above else bottom} for row in edge]
        layers.append(marks_of(filled).mark_area(color=GOOD, opacity=1).encode(x=x, y=y, y2="to:Q"))
    layers.append(marks_of(rows).mark_line(color=BLUE, strokeWidth=2.2).encode(x=x, y=y))
    dots = marks_of(rows).mark_point(filled=True, color=BLUE, size=34, opacity=1, stroke=PAPER, aria=True)
    layers.append(dots.encode(x=x, y=y, **TELLS))
    if better_above is not None:
        corner = {"x": alt.value(0.62 * (width - 90)), "y": alt.value(16)}
        corner = corner if better_above else {"x": alt.value(30), "y": alt.value(height - 12)}
        words = marks_of([{"text": "better"}]).mark_text(color=GREEN, fontWeight="bold", fontSize=12.5)
        layers.append(words.encode(text="text:N", **corner))
    layers += _chosen({"x": across.of(chosen[0]), "y": up.of(chosen[1]), "text": "best design"}, across, up, x, y)
    chart = alt.layer(*layers).properties(width=width - 90, height=height)
    return finished(chart, title=title, about=about, width=width, said=said)


def _chosen(row: dict[str, Any], across: Measure, up: Measure, x: Any, y: Any) -> list[Any]:
    (left, right), (bottom, top) = across.ends, up.ends
    middle = (left * right) ** 0.5 if left > 0 else (left + right) / 2
    high = row["y"] > top - 0.15 * (top - bottom)
    style: dict[str, Any] = {"align": "left" if row["x"] < middle else "right", "dx": 11 if row["x"] < middle else -11}
    style |= {"dy": 16 if high else -12, "fontSize": 12.5, "fontWeight": "bold"}
    text = marks_of([row]).encode(x=x, y=y, text="text:N")
    return [
        marks_of([row]).mark_point(filled=False, size=170, stroke=RUST, strokeWidth=2.2, opacity=1).encode(x=x, y=y),
        text.mark_text(color=PAPER, stroke=PAPER, strokeWidth=4, strokeJoin="round", **style),
        text.mark_text(color=RUST, **style),
    ]
