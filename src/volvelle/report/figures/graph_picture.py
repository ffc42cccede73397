"""A graph of kernels as a drawing: coloured by partition, framed by pipeline stage."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from statistics import fmean

from volvelle.report.figures.engine import Chart
from volvelle.report.figures.sketch import Box, Wire, Words, sketch
from volvelle.report.figures.theme import FAINT, INK, ON_PALE, TINTS

_LETTER, _HEIGHT, _ROW, _GAP, _TOP = 7.2, 42.0, 72.0, 18.0, 36.0
_KEYS = 8
"""Partitions whose colours are told."""
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


def graph_picture(nodes: Sequence[Node], edges: Sequence[Edge], *, title: str, about: str = "") -> Chart:
    """Rows by depth in the graph, from top to bottom; a node's colour and number are its partition's."""
    rows = _ordered(_rows(nodes, edges), edges)
    by_name = {node.name: node for node in nodes}
    widths = {node.name: max(len(node.name), len(node.words) * 0.94, 8) * _LETTER + 40.0 for node in nodes}
    spans = [sum(widths[name] for name in row) + _GAP * (len(row) - 1) for row in rows]
    # Tensors that skip rows bow out to either side.
    width = max(max(spans) + 200.0, 320.0)
    places: dict[str, tuple[float, float]] = {}
    for number, (row, span) in enumerate(zip(rows, spans, strict=True)):
        x = (width - span) / 2
        for name in row:
            places[name] = (x, _TOP + number * _ROW)
            x += widths[name] + _GAP
    wires = [_wire(edge, places, widths, by_name) for edge in edges]
    boxes = [_box(node, *places[node.name], widths[node.name]) for node in nodes]
    return sketch(
        [
            *_keys(nodes),
            # By kind, so that marks that look alike are one layer.
            *sorted(wires, key=lambda wire: bool(wire.dash)),
            *(box for box, *_ in boxes),
            *(word for kind in range(1, 4) for _, *words in boxes for word in words[kind - 1 : kind]),
        ],
        width=width,
        height=_TOP + _ROW * len(rows) - 20.0,
        title=title,
        about=about or title,
        said=_said(nodes),
    )


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


def _box(node: Node, x: float, y: float, width: float) -> tuple[Box, Words, Words, Words]:
    colour, stroke = node.partition % len(TINTS), INK if node.stage % 2 else FAINT
    middle = x + (width + 18.0) / 2
    tells = f"{node.name}: partition {node.partition + 1}, stage {node.stage + 1}"
    return (
        Box(x=x, y=y, width=width, height=_HEIGHT, fill=TINTS[colour], stroke=stroke, rounded=6.0, tells=tells),
        Words(x=x + 12, y=y + _HEIGHT / 2, text=str(node.partition + 1), size=11, align="center", bold=True),
        Words(x=middle, y=y + (15 if node.words else 21), text=node.name, size=13, align="center"),
        Words(x=middle, y=y + 30, text=node.words, size=12, align="center", colour=ON_PALE),
    )


def _wire(
    edge: Edge, places: Mapping[str, tuple[float, float]], widths: Mapping[str, float], nodes: Mapping[str, Node]
) -> Wire:
    (x1, y1), (x2, y2) = places[edge.producer], places[edge.consumer]
    x1, y1, x2 = x1 + widths[edge.producer] / 2, y1 + _HEIGHT, x2 + widths[edge.consumer] / 2
    bend = min(0.5 * (y2 - y1), 60.0)
    # A tensor that skips rows bows out, so that it does not run through the boxes between.
    out = 0.0 if y2 - y1 < _ROW else (1 if x1 >= x2 else -1) * min(110.0 + 0.08 * (y2 - y1), 170.0)
    cut = nodes[edge.producer].partition != nodes[edge.consumer].partition
    return Wire(
        points=((x1, y1), (x1 + out, y1 + bend), (x2 + out, y2 - bend), (x2, y2)),
        colour=INK if cut else FAINT,
        thick=1.5 if cut else 1.0,
        dash=(5, 3) if cut else (),
        curved=True,
        tip=True,
        tells=edge.words or f"{edge.producer} to {edge.consumer}",
    )


def _keys(nodes: Sequence[Node]) -> list[Box | Words]:
    numbers = sorted({node.partition for node in nodes})[:_KEYS]
    boxes = [
        Box(x=38.0 * at, y=0.0, width=14, height=14, fill=TINTS[number % len(TINTS)], stroke=FAINT, rounded=3.0)
        for at, number in enumerate(numbers)
    ]
    return [*boxes, *(Words(x=38.0 * at + 19, y=7.0, text=str(number + 1)) for at, number in enumerate(numbers))]


def _said(nodes: Sequence[Node]) -> str:
    partitions, stages = len({node.partition for node in nodes}), len({node.stage for node in nodes})
    more = f" (the first {_KEYS} of {partitions})" if partitions > _KEYS else ""
    frames = f"; frames alternate over {stages} stages" if stages > 1 else ""
    return f"Colours and numbers: partitions{more}; dashed: through memory{frames}."
