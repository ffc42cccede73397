"""A graph of kernels as a picture: coloured by partition, framed by pipeline stage. SVG written by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from html import escape
from statistics import fmean

__all__ = ["Edge", "Node", "graph_picture"]

_INK, _FAINT, _PAPER = "#1f2933", "#7b8794", "#ffffff"
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
# Pale enough for black letters; neighbours differ in lightness too.
_FILLS = ("#cfe3f5", "#fbd9b5", "#cdebc8", "#f6c9cf", "#ded0f0", "#efe3a8", "#c4e8e6", "#f3cde6", "#dcd6cc", "#bcd0ea")
_STROKES = (
    "#2f6ea5",
    "#b8690f",
    "#3b8132",
    "#b23a48",
    "#6f4aa6",
    "#927b12",
    "#1f7f7b",
    "#a23b84",
    "#6b6255",
    "#27507f",
)
_LETTER, _HEIGHT, _ROW, _GAP, _MARGIN, _TOP = 6.6, 36.0, 66.0, 18.0, 24.0, 84.0
_ROUNDS = 8
"""Times that rows are put in order by their neighbours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A kernel."""

    name: str
    words: str = ""
    """A second line: what it takes, or how it is split."""
    partition: int = 0
    stage: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A tensor from one kernel to another."""

    producer: str
    consumer: str
    words: str = ""
    """Shown when the pointer rests on it."""


def graph_picture(nodes: Sequence[Node], edges: Sequence[Edge], *, title: str, said: str = "") -> str:
    """Rows by depth in the graph, from top to bottom; a node's colour and number are its partition's."""
    rows = _ordered(_rows(nodes, edges), edges)
    by_name = {node.name: node for node in nodes}
    widths = {node.name: max(len(node.name), len(node.words) * 0.82, 8) * _LETTER + 40.0 for node in nodes}
    spans = [sum(widths[name] for name in row) + _GAP * (len(row) - 1) for row in rows]
    width = max(max(spans) + 2 * _MARGIN, 9.6 * len(title) + 2 * _MARGIN, 560.0)
    height = _TOP + _ROW * len(rows) + 20.0
    places: dict[str, tuple[float, float]] = {}
    for number, (row, span) in enumerate(zip(rows, spans, strict=True)):
        x = (width - span) / 2
        for name in row:
            places[name] = (x, _TOP + number * _ROW)
            x += widths[name] + _GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img" aria-labelledby="graph-title graph-words" font-family="{_FONT}">',
        f'<title id="graph-title">{escape(title)}</title>',
        f'<desc id="graph-words">{escape(said or title)}</desc>',
        '<defs><marker id="graph-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        f'orient="auto"><path d="M0 0.6L8 4L0 7.4Z" fill="{_FAINT}"/></marker></defs>',
        f'<rect width="{width:g}" height="{height:g}" fill="{_PAPER}"/>',
        f'<text x="{_MARGIN:g}" y="28" font-size="17" font-weight="600" fill="{_INK}">{escape(title)}</text>',
        *_legend(nodes),
        *(_line(edge, places, widths, by_name) for edge in edges),
        *(_box(node, *places[node.name], widths[node.name]) for node in nodes),
    ]
    return "\n".join([*parts, "</svg>"])


def _rows(nodes: Sequence[Node], edges: Sequence[Edge]) -> list[list[str]]:
    """Kernels by the longest way that leads to them."""
    makers: dict[str, list[str]] = {node.name: [] for node in nodes}
    for edge in edges:
        makers[edge.consumer].append(edge.producer)
    depth: dict[str, int] = {}
    for name in TopologicalSorter(makers).static_order():
        depth[name] = max((depth[maker] + 1 for maker in makers[name]), default=0)
    rows: list[list[str]] = [[] for _ in range(max(depth.values(), default=0) + 1)]
    for node in nodes:
        rows[depth[node.name]].append(node.name)
    return rows


def _ordered(rows: list[list[str]], edges: Sequence[Edge]) -> list[list[str]]:
    """Each row by the mean place of its neighbours, down and up in turn."""
    near: dict[str, list[str]] = {name: [] for row in rows for name in row}
    for edge in edges:
        near[edge.producer].append(edge.consumer)
        near[edge.consumer].append(edge.producer)
    place = {name: (at + 0.5) / len(row) for row in rows for at, name in enumerate(row)}
    for turn in range(_ROUNDS):
        for row in rows if turn % 2 == 0 else reversed(rows):
            row.sort(key=lambda name: fmean([place[other] for other in near[name]] or [place[name]]))
            for at, name in enumerate(row):
                place[name] = (at + 0.5) / len(row)
    return rows


def _box(node: Node, x: float, y: float, width: float) -> str:
    colour = node.partition % len(_FILLS)
    middle = x + (width + 18.0) / 2
    words = (
        f'<text x="{middle:.1f}" y="{y + 29:.1f}" font-size="10" text-anchor="middle" fill="{_FAINT}">'
        f"{escape(node.words)}</text>"
        if node.words
        else ""
    )
    return (
        f"<g><title>{escape(node.name)}: partition {node.partition + 1}, stage {node.stage + 1}</title>"
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{_HEIGHT:g}" rx="6" fill="{_FILLS[colour]}" '
        f'stroke="{_STROKES[colour]}" stroke-width="{1.2 + 0.9 * (node.stage % 2):g}"/>'
        f'<text x="{x + 11:.1f}" y="{y + 22:.1f}" font-size="11" font-weight="700" text-anchor="middle" '
        f'fill="{_STROKES[colour]}">{node.partition + 1}</text>'
        f'<text x="{middle:.1f}" y="{y + (17 if node.words else 22):.1f}" font-size="12" text-anchor="middle" '
        f'fill="{_INK}">{escape(node.name)}</text>{words}</g>'
    )


def _line(
    edge: Edge, places: Mapping[str, tuple[float, float]], widths: Mapping[str, float], nodes: Mapping[str, Node]
) -> str:
    (x1, y1), (x2, y2) = places[edge.producer], places[edge.consumer]
    x1, y1, x2 = x1 + widths[edge.producer] / 2, y1 + _HEIGHT, x2 + widths[edge.consumer] / 2
    bend = min(0.5 * (y2 - y1), 60.0)
    # A tensor that skips rows bows out, so that it does not run through the boxes between.
    out = 0.0 if y2 - y1 < _ROW else (1 if x1 >= x2 else -1) * min(110.0 + 0.08 * (y2 - y1), 170.0)
    cut = nodes[edge.producer].partition != nodes[edge.consumer].partition
    return (
        f'<path d="M{x1:.1f} {y1:.1f}C{x1 + out:.1f} {y1 + bend:.1f} {x2 + out:.1f} {y2 - bend:.1f} {x2:.1f} {y2:.1f}" '
        f'fill="none" stroke="{_INK if cut else _FAINT}" stroke-width="{1.5 if cut else 1.0:g}"'
        f'{" stroke-dasharray=" + chr(34) + "5 3" + chr(34) if cut else ""} marker-end="url(#graph-tip)">'
        f"<title>{escape(edge.words or f'{edge.producer} to {edge.consumer}')}</title></path>"
    )


def _legend(nodes: Sequence[Node]) -> list[str]:
    """Partitions with their colours (a dozen at most), stages, and what dashes mean."""
    numbers = sorted({node.partition for node in nodes})
    stages = len({node.stage for node in nodes})
    parts, x = [], _MARGIN
    for number in numbers[:8]:
        colour = number % len(_FILLS)
        parts.append(
            f'<rect x="{x:g}" y="42" width="14" height="14" rx="3" fill="{_FILLS[colour]}" '
            f'stroke="{_STROKES[colour]}"/><text x="{x + 19:g}" y="53.5" font-size="12" fill="{_INK}">'
            f"{number + 1}</text>"
        )
        x += 42.0
    more = f" (of {len(numbers)})" if len(numbers) > 8 else ""
    words = f"partition{more}; dashed: through memory" + (
        f"; frames alternate over {stages} stages" if stages > 1 else ""
    )
    parts.append(f'<text x="{x:g}" y="53.5" font-size="12" fill="{_FAINT}">{escape(words)}</text>')
    return parts
