"""A sketch of clusters side by side: nodes, network dimensions with their rates, and what a node has."""

from collections.abc import Sequence

from volvelle.catalogue.published.comet import CometCluster, CometDimension
from volvelle.quantities import BYTES, BYTES_PER_SECOND, FLOP_PER_SECOND, show
from volvelle.report.figures.drawing import FAINT, INK, PAPER, box, line, svg, words

__all__ = ["cluster_sketch"]

_WIDE, _HIGH = 330.0, 412.0
_NODE, _SWITCH, _WIRE = "#1d6fa5", "#dbe4ea", "#7a8f9c"


def cluster_sketch(clusters: Sequence[CometCluster], *, title: str, about: str) -> str:
    """The picture."""
    parts = [words(24, 28, title, size=16, bold=True)]
    for place, cluster in enumerate(clusters):
        left = place * _WIDE + 24.0
        parts.append(words(left, 62, cluster.title, size=14, bold=True))
        rings = all(dimension.shape == "ring" for dimension in cluster.dimensions)
        parts += _torus(cluster, left) if rings else _switches(cluster, left)
        facts = (
            f"{cluster.nodes} nodes, each a {cluster.node}:",
            f"{show(cluster.compute_rate, FLOP_PER_SECOND)} in half precision",
            f"{show(cluster.memory_capacity, BYTES)} at {show(cluster.memory_rate, BYTES_PER_SECOND)}",
            f"{show(cluster.buffer, BYTES)} on the chip",
        )
        parts += [
            words(left, 338 + 19 * row, text, size=12.5, fill=INK if row else FAINT) for row, text in enumerate(facts)
        ]
    return svg(parts, width=_WIDE * len(clusters) + 12.0, height=_HIGH, title=title, about=about)


def _rate(dimension: CometDimension) -> str:
    return f"{dimension.rate / 1e9:g} GB/s each way"


def _switches(cluster: CometCluster, left: float) -> list[str]:
    """Nodes under a switch, and where there are two dimensions, groups of those under another."""
    inner, *outer = cluster.dimensions
    parts = []
    units = 2 if outer else 1
    wide = 276.0 / units
    drawn = 3 if outer else 5
    for unit in range(units):
        x = left + unit * wide
        if outer:
            parts.append(box(x, 150, wide - 14, 140, fill=PAPER, stroke=_WIRE))
        parts.append(box(x + 10, 178, wide - 34, 22, fill=_SWITCH))
        parts.append(words(x + (wide - 14) / 2, 193, "switch", size=11.5, anchor="middle"))
        for place in range(drawn + 1):
            middle = x + 10 + (place + 0.5) * (wide - 34) / (drawn + 1)
            if place == drawn - 1:
                parts.append(words(middle, 252, "…", size=16, anchor="middle"))
                continue
            parts += [line(middle, 200, middle, 236, stroke=_WIRE), box(middle - 9, 236, 18, 18, fill=_NODE)]
        parts.append(words(x + (wide - 14) / 2, 276, f"{inner.size} {cluster.node}s", size=12, anchor="middle"))
        if outer:
            parts.append(line(x + (wide - 14) / 2, 122, x + (wide - 14) / 2, 178, stroke=_WIRE))
    if outer:
        parts.append(box(left + 20, 100, 222, 22, fill=_SWITCH))
        parts.append(words(left + 131, 115, f"switch of {outer[0].size} pods", size=11.5, anchor="middle"))
        parts.append(words(left + 131, 88, f"{outer[0].name}: {_rate(outer[0])}", size=12, anchor="middle"))
        parts.append(words(left + 131, 306, f"{inner.name}: {_rate(inner)}", size=12, anchor="middle"))
    else:
        parts.append(words(left + 131, 166, f"{inner.name}: {_rate(inner)}", size=12, anchor="middle"))
    return parts


def _torus(cluster: CometCluster, left: float) -> list[str]:
    """A corner of the torus, in two of its dimensions and with the third behind."""
    parts = [words(left + 131, 88, f"rings, each dimension: {_rate(cluster.dimensions[0])}", size=12, anchor="middle")]
    at = {
        (x, y, z): (left + 34 + 58 * x + 20 * z, 268 - 46 * y - 15 * z)
        for z in (2, 1, 0)
        for y in range(4)
        for x in range(4)
    }
    for (x, y, z), (px, py) in at.items():
        for other in ((x + 1, y, z), (x, y + 1, z), (x, y, z + 1)):
            if other in at:
                qx, qy = at[other]
                parts.append(line(px, py, qx, qy, stroke=_WIRE, thick=0.8))
    shades = (_NODE, "#6fa3c6", "#b4cfe1")
    parts += [box(px - 5, py - 5, 10, 10, fill=shades[z]) for (_, _, z), (px, py) in at.items()]
    sizes = " × ".join(str(dimension.size) for dimension in cluster.dimensions)
    parts.append(words(left + 131, 294, f"{sizes} {cluster.node}s, a corner shown", size=12, anchor="middle"))
    return parts
