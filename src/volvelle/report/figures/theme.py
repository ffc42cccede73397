"""How every picture looks: one font, one palette in light and dark, one set of axes, titles and legends.

A picture is drawn once, in light colours; each colour has a partner that takes its place on a dark screen.
"""

from textwrap import wrap
from typing import Any

from volvelle.report.figures.engine import Chart, alt

WIDE, NARROW = 720.0, 340.0
"""Pixels of a picture across: on a page, and on a telephone."""
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
"""The first comes with the renderer, so text is as wide on every machine; the others have the same widths."""

INK, FAINT, GRID, PAPER = "#1f2933", "#5b6770", "#e4e8eb", "#ffffff"
ON_PALE, ON_DEEP, BLANK = "#1f2934", "#fffffe", "#f4f5f6"
"""Words on pale and on deep cells; a cell without a value."""
BAND, CLOUD, GOOD = "#dde4ea", "#b4bfc8", "#e2efe8"
NAVY, BLUE, SKY, RUST, ORANGE, SAND = "#0f4c75", "#2f78ad", "#8fbcdb", "#b4450f", "#e08a3c", "#f2cf9e"
GREEN, LEAF, VIOLET, LILAC, GREY = "#2f7d5b", "#8fbf9f", "#6d4fa3", "#b9a6d6", "#8b98a3"
PALETTE = (BLUE, RUST, VIOLET, GREEN, ORANGE, GREY, NAVY)
"""For kinds without an order."""
TINTS = ("#cfe3f5", "#fbd9b5", "#cdebc8", "#ded0f0", "#f6c9cf", "#c4e8e6", "#efe3a8", "#dcd6cc")
"""Pale enough for words."""
_DARK_TINTS = ("#1d4263", "#6b3f14", "#23512a", "#46327a", "#6e2a36", "#175452", "#574a10", "#4a443b")


def _ramp(first: str, last: str, steps: int) -> tuple[str, ...]:
    """Colours from one to another."""
    ends = [[int(colour[place : place + 2], 16) for place in (1, 3, 5)] for colour in (first, last)]
    return tuple(
        "#" + "".join(f"{round(a + (b - a) * step / (steps - 1)):02x}" for a, b in zip(*ends, strict=True))
        for step in range(steps)
    )


RAMP = _ramp("#edf3f8", "#0a3e6e", 16)
"""From little to much."""
RAMP_DOWN, RAMP_UP = _ramp("#fbfcfc", "#266ea0", 12), _ramp("#fcfbfa", "#c8561c", 12)
"""From even downwards and upwards."""
PAIRS = {
    INK: "#e5e9ec",
    FAINT: "#9aa6af",
    GRID: "#2b333a",
    PAPER: "#12161a",
    ON_PALE: "#e5e9ec",
    ON_DEEP: "#0d1216",
    BLANK: "#1a2026",
    BAND: "#262f37",
    CLOUD: "#66737e",
    GOOD: "#1c2c26",
    NAVY: "#3f83b5",
    BLUE: "#5fa8dc",
    SKY: "#9cc9e8",
    RUST: "#e8743b",
    ORANGE: "#f0a45e",
    SAND: "#ecd3a8",
    GREEN: "#4fae86",
    LEAF: "#a9d8b8",
    VIOLET: "#a58ade",
    LILAC: "#c3b3df",
    GREY: "#83909b",
    **dict(zip(TINTS, _DARK_TINTS, strict=True)),
    **dict(zip(RAMP, _ramp("#1b252e", "#79c3f2", 16), strict=True)),
    **dict(zip(RAMP_DOWN, _ramp("#1a2127", "#5fb0e6", 12), strict=True)),
    **dict(zip(RAMP_UP, _ramp("#1b2026", "#f08a4e", 12), strict=True)),
}
"""Light → dark."""
TELLS: dict[str, Any] = {"tooltip": "tells:N", "description": "tells:N"}
"""Encodings of a mark that says something when the pointer rests on it."""


def dark_rules(text: str, *, within: str = "") -> str:
    """CSS that changes the colours of an SVG text on dark screens, not in print."""
    return f"@media screen and (prefers-color-scheme:dark){{{recoloured(text, within=within)}}}"


def recoloured(text: str, *, within: str = "") -> str:
    """CSS that gives the colours of an SVG text their dark partners."""
    return "".join(
        f'{within}[{name}="{light}"]{{{name}:{dark}}}'
        for light, dark in PAIRS.items()
        for name in ("fill", "stroke")
        if f'{name}="{light}"' in text
    )


def legend(names: Any, width: float, **more: Any) -> Any:
    """Names in as many columns as the width has room for."""
    longest = max((len(str(name)) for name in names), default=1)
    return alt.Legend(columns=max(1, int(width // (34 + 6.6 * longest))), **more)


def haloed(words: Any, *, colour: str, **style: Any) -> list[Any]:
    """Text on a rim of paper, which keeps it apart from whatever it lies on."""
    rim = {"color": PAPER, "stroke": PAPER, "strokeWidth": 4, "strokeJoin": "round"}
    return [words.mark_text(**rim, **style), words.mark_text(color=colour, **style)]


def finished(chart: Any, *, title: str, about: str, width: float, said: str = "") -> Chart:
    """The chart under its title, `said` in smaller letters below that; `about` is read out where it cannot be seen."""
    heading = alt.TitleParams(
        text=wrap(title, int(width / 8.4)), subtitle=wrap(said, int(width / 6.4)) if said else alt.Undefined
    )
    whole: Chart = chart.properties(title=heading, description=about, usermeta={"title": title}).configure(**_config())
    return whole


def _config() -> dict[str, Any]:
    return {
        "font": FONT,
        "background": PAPER,
        "padding": {"left": 10, "right": 12, "top": 10, "bottom": 10},
        "view": {"stroke": None},
        "mark": {"aria": False},
        "axis": {
            "labelColor": FAINT,
            "labelFontSize": 12,
            "labelPadding": 6,
            "labelLimit": 0,
            "labelSeparation": 6,
            "titleColor": INK,
            "titleFontSize": 12.5,
            "titleFontWeight": "normal",
            "titlePadding": 8,
            "gridColor": GRID,
            "domainColor": FAINT,
            "ticks": False,
        },
        "title": {
            "anchor": "start",
            "frame": "bounds",
            "color": INK,
            "fontSize": 16,
            "fontWeight": "bold",
            "offset": 12,
            "subtitleColor": FAINT,
            "subtitleFontSize": 12,
            "subtitlePadding": 5,
        },
        "legend": {
            "orient": "top",
            "direction": "horizontal",
            "title": None,
            "offset": 8,
            "labelLimit": 0,
            "labelColor": INK,
            "labelFontSize": 12,
            "symbolType": "square",
            "symbolSize": 110,
            "symbolStrokeWidth": 0,
            "symbolOpacity": 1,
            "rowPadding": 4,
            "columnPadding": 14,
        },
    }
