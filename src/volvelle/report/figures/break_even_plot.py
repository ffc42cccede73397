"""A break-even line as a picture: on it the objective is that of the reference, on one side it is better."""

from collections.abc import Sequence
from html import escape

from volvelle.report.figures.drawing import FAINT, PAPER, svg, words
from volvelle.report.figures.plot_axes import PlotAxis, frame

__all__ = ["break_even_plot", "plane"]

_WIDTH, _HEIGHT = 760.0, 420.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 78.0, 26.0, 66.0, 56.0
_LINE, _CHOSEN, _GOOD = "#0f5c8c", "#c2410c", "#e2efe8"


def break_even_plot(
    points: Sequence[tuple[float, float, str]],
    *,
    across: PlotAxis,
    up: PlotAxis,
    chosen: tuple[float, float],
    better_above: bool | None,
    title: str,
    line_text: str,
    about: str,
) -> str:
    """The picture; axes come with their pixels from `plane`."""
    parts = [words(_LEFT, 24, title, size=16, bold=True), words(_LEFT, 48, line_text, size=12.5, fill=FAINT)]
    path = "L".join(f"{across.at(x):.1f} {up.at(y):.1f}" for x, y, _ in points)
    falls = len(points) > 1 and points[0][1] >= points[-1][1]
    if better_above is not None and falls:
        parts.append(f'<path d="{_region(points, across, up, above=better_above)}" fill="{_GOOD}"/>')
    parts += frame(across, up)
    parts.append(f'<path d="M{path}" fill="none" stroke="{_LINE}" stroke-width="2.2" stroke-linejoin="round"/>')
    for x, y, said in points:
        parts.append(
            f'<circle cx="{across.at(x):.1f}" cy="{up.at(y):.1f}" r="2.8" fill="{_LINE}" stroke="{PAPER}" '
            f'stroke-width="0.7"><title>{escape(said)}</title></circle>'
        )
    if better_above is not None:
        y = up.end + 20 if better_above else up.start - 12
        x = across.start + (0.6 if better_above else 0.1) * (across.end - across.start)
        parts.append(words(x, y, "better", size=12.5, anchor="end", fill="#2f7d5b", bold=True))
    x, y = across.at(chosen[0]), up.at(chosen[1])
    right_side = x < (_LEFT + _WIDTH) / 2
    parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="none" stroke="{_CHOSEN}" stroke-width="2.2"/>')
    parts.append(
        words(
            x + (11 if right_side else -11),
            y + (20 if y < up.end + 30 else -9),
            "best design",
            size=12.5,
            anchor="start" if right_side else "end",
            fill=_CHOSEN,
            bold=True,
        )
    )
    return svg(parts, width=_WIDTH, height=_HEIGHT, title=title, about=about)


def _region(points: Sequence[tuple[float, float, str]], across: PlotAxis, up: PlotAxis, *, above: bool) -> str:
    """The better side of a falling line: above and to the right of it, or below and to the left."""
    path = "L".join(f"{across.at(x):.1f} {up.at(y):.1f}" for x, y, _ in points)
    first, last = across.at(points[0][0]), across.at(points[-1][0])
    if above:
        return f"M{first:.1f} {up.end:.1f}L{path}H{across.end:.1f}V{up.end:.1f}Z"
    return f"M{across.start:.1f} {up.at(points[0][1]):.1f}L{path}L{last:.1f} {up.start:.1f}H{across.start:.1f}Z"


def plane() -> tuple[tuple[float, float], tuple[float, float]]:
    """Pixels of the axes: across from left to right, up from bottom to top."""
    return (_LEFT, _WIDTH - _RIGHT), (_HEIGHT - _BOTTOM, _TOP)
