"""What a plan of High-Performance Linpack tells beside its runs: layers, the equivalent core, curves over N."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from volvelle.applications.hpl.closed_forms import LayeredHpl, OriginalHpl
from volvelle.applications.hpl.contract import AbstractHplModel
from volvelle.applications.hpl.layers import EquivalentCore, LayerTime
from volvelle.applications.hpl.panels import HplConstants, PanelByPanel
from volvelle.applications.scores import Finding, PlannedCurves
from volvelle.errors import VolvelleError
from volvelle.laws.hpl.layers import equivalent_core_rate
from volvelle.mapping.process_grid import ProcessGrid
from volvelle.quantities import BYTES_PER_SECOND, FLOP_PER_SECOND, SECONDS, show
from volvelle.system.cluster import Cluster
from volvelle.workload.families.hpl import Hpl

METHODS = ("panels", "layered", "original")
_POINTS = 16
"""Problem sizes of a curve, the largest last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Methods:
    """The three models, as one question sets them up."""

    constants: HplConstants
    core: EquivalentCore
    efficiency: float
    """Share of the peak at which the closed forms compute; the paper takes all of it."""

    def model(self, method: str) -> AbstractHplModel:
        """The model of that name."""
        if method == "original":
            return OriginalHpl(efficiency=self.efficiency)
        if method == "layered":
            return LayeredHpl(core=self.core, efficiency=self.efficiency)
        return PanelByPanel(constants=self.constants)


def layers_finding(told: Sequence[LayerTime]) -> Finding:
    """Time and rate by layer: the range of the matrix, latency and rate of the link, and each part."""
    return Finding(
        key="layers",
        value=[
            {
                "layer": each.layer.name,
                "row_range": each.rows,
                "column_range": each.columns,
                "latency": float(each.layer.latency),
                "element_time": float(each.layer.element),
                "parts": dict(each.parts),
                "time": each.time,
                "rate": float(each.rate),
            }
            for each in told
        ],
        title="by layer: panels whose trailing matrix lies between the layer's bounds",
        words=("",),
        numbers=tuple(each.layer.name for each in told),
        cells=tuple((name, *cells) for name, *cells in _layer_lines(told)),
    )


def _layer_lines(told: Sequence[LayerTime]) -> Iterator[tuple[str, ...]]:
    """One line a fact, one column a layer."""
    yield "rows, up to", *(f"{each.rows[1]:,.0f}" for each in told)
    yield "columns, up to", *(f"{each.columns[1]:,.0f}" for each in told)
    yield "latency α", *(show(float(each.layer.latency), SECONDS) for each in told)
    yield "rate 8/β", *(show(float(each.layer.rate), BYTES_PER_SECOND) for each in told)
    for place, (name, _) in enumerate(told[0].parts):
        seconds = [each.parts[place][1] for each in told]
        if any(seconds):
            yield name, *("–" if not value else show(value, SECONDS) for value in seconds)
    yield "time", *("–" if not each.time else show(each.time, SECONDS) for each in told)
    yield "rate", *("–" if not each.rate else show(float(each.rate), FLOP_PER_SECOND) for each in told)


def core_finding(core: EquivalentCore, cluster: Cluster) -> Finding:
    """The accelerator as one core."""
    rate = float(equivalent_core_rate(cluster.chip.memory.rate, cores=core.cores, words=core.words))
    return Finding(
        key="equivalent_core",
        value={
            "cores": float(core.cores),
            "words": float(core.words),
            "cycles": float(core.cycles),
            "rate": rate,
            "origin": core.origin,
        },
    )


def core_words(core: EquivalentCore, cluster: Cluster) -> str:
    """The same in a line."""
    rate = float(equivalent_core_rate(cluster.chip.memory.rate, cores=core.cores, words=core.words))
    return (
        f"equivalent core: {core.cores:,.0f} cores, {core.words:.0f} words of 64 bits, {core.cycles:.0f} cycles: "
        f"{show(rate, BYTES_PER_SECOND)} ({core.origin})"
    )


def curves_over_order(methods: Methods, problem: Hpl, cluster: Cluster, grid: ProcessGrid) -> PlannedCurves:
    """The rate of each model over the problem size, up to that of a run, on its grid and with its block.

    Sizes that a model refuses, as too small for so many processes, are left out for all.
    """
    sizes = sorted({problem.order * step // _POINTS // problem.block * problem.block for step in range(1, _POINTS)})
    orders, rates = [], []
    for order in (*(size for size in sizes if size >= problem.block), problem.order):
        asked = Hpl(name=f"hpl-{order}", order=order, block=problem.block)
        try:
            found = [methods.model(name).estimate(asked, cluster, grid).rate for name in METHODS]
        except VolvelleError:
            continue
        orders.append(order)
        rates.append(found)
    lines = {name: tuple(row[place] for row in rates) for place, name in enumerate(METHODS)}
    return PlannedCurves(
        title=f"HPL on {cluster.name}: rate over the problem size",
        about=f"NB {problem.block}, {grid.rows} × {grid.columns} processes, by three models",
        x_title="problem size N",
        places=tuple(map(float, orders)),
        lines=lines,
        kind=FLOP_PER_SECOND,
    )


def curves_finding(curves: PlannedCurves) -> Finding:
    """The same as a table of some sizes, and all in JSON."""
    every = max(1, len(curves.places) // 6)
    shown = range(len(curves.places) - 1, -1, -every)
    return Finding(
        key="curves",
        value={"N": curves.places, **curves.lines},
        title="rate over N",
        words=("N",),
        numbers=tuple(curves.lines),
        cells=tuple(
            (f"{curves.places[place]:,.0f}", *(show(line[place], FLOP_PER_SECOND) for line in curves.lines.values()))
            for place in reversed(shown)
        ),
    )
