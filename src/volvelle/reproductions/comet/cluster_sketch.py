"""A sketch of clusters side by side: nodes, network dimensions with their rates, and what a node has."""

from collections.abc import Sequence

from volvelle.catalogue.published.comet import CometCluster, CometDimension
from volvelle.quantities import BYTES, BYTES_PER_SECOND, FLOP_PER_SECOND, show
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.sketch import Box, Wire, Words, sketch
from volvelle.report.figures.theme import BAND, BLUE, FAINT, GREY, INK, NARROW, PAPER, SKY, WIDE

_WIDE, _HIGH = 252.0, 340.0
_MIDDLE = 110.0
_Item = Box | Wire | Words


def cluster_sketch(clusters: Sequence[CometCluster], *, title: str, about: str, width: float = WIDE) -> Chart:
    """The picture: clusters beside each other, on a telephone below each other."""
    across = 1 if width <= NARROW else len(clusters)
    items: list[_Item] = []
    for place, cluster in enumerate(clusters):
        left, top = place % across * _WIDE, place // across * _HIGH
        rings = all(dimension.shape == "ring" for dimension in cluster.dimensions)
        facts = (
            f"{cluster.nodes} nodes, each a {cluster.node}:",
            f"{show(cluster.compute_rate, FLOP_PER_SECOND)} in half precision",
            f"{show(cluster.memory_capacity, BYTES)} at {show(cluster.memory_rate, BYTES_PER_SECOND)}",
            f"{show(cluster.buffer, BYTES)} on the chip",
        )
        items += [
            Words(x=left, y=top + 8, text=cluster.title, size=13, bold=True),
            *(_torus(cluster, left, top) if rings else _switches(cluster, left, top)),
            *(
                Words(x=left, y=top + 262 + 18 * row, text=text, colour=INK if row else FAINT)
                for row, text in enumerate(facts)
            ),
        ]
    down = -(-len(clusters) // across)
    return sketch(items, width=_WIDE * across - 20, height=_HIGH * down, title=title, about=about)


def _rate(dimension: CometDimension) -> str:
    return f"{dimension.rate / 1e9:g} GB/s each way"


def _middle(x: float, y: float, text: str) -> Words:
    return Words(x=x, y=y, text=text, size=11.5, align="center")


def _switches(cluster: CometCluster, left: float, top: float) -> list[_Item]:
    """Nodes under a switch, and where there are two dimensions, groups of those under another."""
    inner, *outer = cluster.dimensions
    items: list[_Item] = []
    units, drawn = (2, 3) if outer else (1, 5)
    wide = 2 * _MIDDLE / units
    for unit in range(units):
        x, room = left + unit * wide, wide - (8 if outer else 0)
        middle = x + room / 2
        if outer:
            items.append(Wire(points=((middle, top + 68), (middle, top + 116)), colour=GREY))
            items.append(Box(x=x, y=top + 92, width=room, height=126, fill="transparent", stroke=GREY))
        items.append(Box(x=x + 8, y=top + 116, width=room - 16, height=20, fill=BAND))
        items.append(_middle(middle, top + 126, "switch"))
        for place in range(drawn + 1):
            at = x + 8 + (place + 0.5) * (room - 16) / (drawn + 1)
            if place == drawn - 1:
                items.append(Words(x=at, y=top + 176, text="…", size=15, align="center"))
                continue
            items.append(Wire(points=((at, top + 136), (at, top + 170)), colour=GREY))
            items.append(Box(x=at - 8, y=top + 170, width=16, height=16, fill=BLUE))
        items.append(_middle(middle, top + 202, f"{inner.size} {cluster.node}s"))
    if outer:
        items.append(Box(x=left + 10, y=top + 48, width=200, height=20, fill=BAND))
        items.append(_middle(left + _MIDDLE, top + 58, f"switch of {outer[0].size} pods"))
        items.append(_middle(left + _MIDDLE, top + 36, f"{outer[0].name}: {_rate(outer[0])}"))
        items.append(_middle(left + _MIDDLE, top + 232, f"{inner.name}: {_rate(inner)}"))
    else:
        items.append(_middle(left + _MIDDLE, top + 104, f"{inner.name}: {_rate(inner)}"))
    return items


def _torus(cluster: CometCluster, left: float, top: float) -> list[_Item]:
    """A corner of the torus, in two of its dimensions and with the third behind."""
    at = {
        (x, y, z): (left + 14 + 50 * x + 18 * z, top + 206 - 42 * y - 14 * z)
        for z in (2, 1, 0)
        for y in range(4)
        for x in range(4)
    }
    wires = [
        Wire(points=(here, at[other]), colour=GREY, thick=0.8)
        for (x, y, z), here in at.items()
        for other in ((x + 1, y, z), (x, y + 1, z), (x, y, z + 1))
        if other in at
    ]
    nodes = [
        Box(x=x - 5, y=y - 5, width=10, height=10, fill=(BLUE, SKY, BAND)[z], stroke=PAPER)
        for (_, _, z), (x, y) in at.items()
    ]
    sizes = " × ".join(str(dimension.size) for dimension in cluster.dimensions)
    return [
        _middle(left + _MIDDLE, top + 36, f"rings, each dimension: {_rate(cluster.dimensions[0])}"),
        *wires,
        *nodes,
        _middle(left + _MIDDLE, top + 232, f"{sizes} {cluster.node}s, a corner shown"),
    ]
