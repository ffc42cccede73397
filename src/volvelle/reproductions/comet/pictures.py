"""Pictures of COMET's Figures 5 and 7 to 12."""

from volvelle.catalogue.published.comet import Comet
from volvelle.report.figures.bars import Bar, BarGroup, BarPanel, Slot, bar_chart
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.heat_map import Cell, HeatPanel, heat_map
from volvelle.report.figures.lines import line_chart
from volvelle.report.figures.theme import BLUE, NAVY, ORANGE, RUST, SAND, SKY, WIDE
from volvelle.reproductions.comet.cluster_sketch import cluster_sketch
from volvelle.reproductions.comet.figures import (
    BASELINE,
    FIGURE_5_STAGES,
    FIGURE_8_RATES,
    FIGURE_9_FACTORS,
    FIGURE_9_RATES,
    FIGURE_10_FACTORS,
    GIGA,
    Sweep,
    configuration,
)

COLOURS = {
    "compute, forward": NAVY,
    "compute, input gradient": BLUE,
    "compute, weight gradient": SKY,
    "exposed, forward": RUST,
    "exposed, input gradient": ORANGE,
    "exposed, weight gradient": SAND,
}
_HIGHEST = 256.0
"""Highest degree drawn on DGX and TPU; beyond it columns are so tall that the others vanish."""
_STAGES = {0: "no ZeRO", 1: "ZeRO-1", 2: "ZeRO-2", 3: "ZeRO-3"}


def memory_picture(swept: Sweep, data: Comet, *, width: float = WIDE) -> Chart:
    """Figure 5."""
    capacity = data.cluster("dgx-a100").memory_capacity / GIGA
    degrees = [f"{mp:.0f}" for mp in swept.columns["mp"][swept.where(zero=0)]]
    return line_chart(
        {_STAGES[zero]: swept.columns["footprint_gb"][swept.where(zero=zero)].tolist() for zero in FIGURE_5_STAGES},
        title="Figure 5: memory of a node, Transformer-1T on 1024 nodes",
        about="Less model parallelism needs more memory under every stage of ZeRO but the third.",
        places=degrees,
        x_title="nodes that share one copy of the model (MP); MP × DP = 1024",
        y_title="GB a node",
        logarithmic=True,
        limits=((capacity, f"{capacity:g} GB, an A100"),),
        width=width,
    )


def _slot(swept: Sweep, row: int, nodes: int, *, share: bool) -> Slot:
    mp, whole = float(swept.columns["mp"][row]), float(swept.columns["run_time"][row])
    bar = Bar(
        parts=tuple(
            (name, float(swept.columns[name][row]) / (whole if share else 1.0))
            for name in COLOURS
            if swept.columns[name][row] > 0.0
        ),
        right=None if share else float(swept.columns["footprint_gb"][row]),
        title=configuration(mp, nodes),
        text="" if share else f"{whole:.2f}",
    )
    return Slot(label=f"MP{mp:.0f}\nDP{nodes / mp:.0f}", bars=(bar,))


def _panel(swept: Sweep, data: Comet, key: str, title: str, y_title: str, *, share: bool = False) -> BarPanel:
    cluster = data.cluster(key)
    capacity = cluster.memory_capacity / GIGA
    rows = (row for row, mp in enumerate(swept.columns["mp"]) if mp <= _HIGHEST)
    slots = tuple(_slot(swept, row, cluster.nodes, share=share) for row in rows)
    return BarPanel(
        title=title if share else f"{title} (dashed: the {capacity:g} GB of a node)",
        groups=(BarGroup(label="", slots=slots),),
        y_title=y_title,
        top=1.0 if share else None,
        percent=share,
        right_title="" if share else "GB a node",
        limit=None if share else capacity,
    )


def strategies_picture(swept: Sweep, data: Comet, *, width: float = WIDE) -> Chart:
    """Figure 7."""
    best = min(swept.columns["run_time"])
    fastest = configuration(float(swept.columns["mp"][list(swept.columns["run_time"]).index(best)]), 1024)
    return bar_chart(
        [
            _panel(swept, data, "dgx-a100", "a  run time and memory", f"run time, {fastest} = 1"),
            _panel(swept, data, "dgx-a100", "b  where it goes", "share of run time", share=True),
        ],
        title="Figure 7: model against data parallelism, 1024 A100",
        about="Run time has its lowest point between the extremes; memory doubles with each halving of MP.",
        colours={name: colour for name, colour in COLOURS.items() if max(swept.columns[name]) > 0.0},
        said="Run time a sequence. Higher degrees of model parallelism are slower still, and left out.",
        height=200.0,
        width=width,
    )


def other_clusters_picture(tpu: Sweep, dojo: Sweep, data: Comet, *, width: float = WIDE) -> Chart:
    """Figure 12."""
    axis = "run time, DGX MP64_DP16 = 1"
    return bar_chart(
        [
            _panel(tpu, data, "tpu-v4", "a  4096 TPU v4", axis),
            _panel(dojo, data, "dojo", "b  64 Dojo trays", axis),
        ],
        title="Figure 12: the same model on other clusters",
        about="TPU v4 has a bathtub like DGX; on Dojo time falls with every step towards data parallelism.",
        colours=COLOURS,
        said="Run time a sequence. Degrees of model parallelism above 256 are left out.",
        height=200.0,
        width=width,
    )


def expanded_picture(swept: Sweep, data: Comet, *, width: float = WIDE) -> Chart:
    """Figure 8."""
    nodes = data.cluster("dgx-a100").nodes
    degrees = sorted(set(swept.columns["mp"].tolist()), reverse=True)

    def cell(mp: float, rate: float) -> Cell:
        value = swept.at("run_time", mp=mp, expanded_gbs=rate)
        return Cell(value=value, text=f"{value:.2f}", title=f"{configuration(mp, nodes)}, {rate:g} GB/s: {value:.3f}")

    return heat_map(
        [
            HeatPanel(
                title=f"run time, {configuration(BASELINE, nodes)} = 1",
                cells=tuple(tuple(cell(mp, rate) for rate in FIGURE_8_RATES) for mp in degrees),
            )
        ],
        title="Figure 8: memory beyond 80 GB",
        about="Slow expanded memory undoes what less model parallelism gains; fast memory halves run time.",
        rows=[configuration(mp, nodes) for mp in degrees],
        groups=[""],
        columns=[f"{rate:g}" for rate in FIGURE_8_RATES],
        x_title="rate of expanded memory, GB/s",
        note="Blue is faster than the baseline, orange slower.",
        even=1.0,
        width=width,
    )


def compute_picture(swept: Sweep, *, width: float = WIDE) -> Chart:
    """Figure 9."""
    return line_chart(
        {
            f"{rate:g} GB/s": swept.columns["run_time"][swept.where(expanded_gbs=rate)].tolist()
            for rate in FIGURE_9_RATES
        },
        title="Figure 9: compute of a node, MP8_DP128",
        about="Run time falls with faster nodes, less and less, and less where memory is slow.",
        places=[f"× {factor:g}" for factor in FIGURE_9_FACTORS],
        x_title="peak compute of a node",
        y_title="run time, × 1 with 2039 GB/s = 1",
        said="Each line: rate of the memory beyond 80 GB.",
        width=width,
    )


def network_picture(many: Sweep, few: Sweep, *, width: float = WIDE) -> Chart:
    """Figure 10."""

    def panel(swept: Sweep, title: str) -> HeatPanel:
        def cell(inside: float, between: float) -> Cell:
            value = swept.at("run_time", inside=inside, between=between)
            return Cell(
                value=value, text=f"{value:.2f}", title=f"in a pod × {inside:g}, between × {between:g}: {value:.3f}"
            )

        return HeatPanel(
            title=title,
            cells=tuple(tuple(cell(one, other) for other in FIGURE_10_FACTORS) for one in FIGURE_10_FACTORS),
        )

    return heat_map(
        [panel(many, "MP64_DP16, × 1 = 1"), panel(few, "MP8_DP128, × 1 = 1")],
        title="Figure 10: network",
        about="With 64 nodes a copy both dimensions matter; with 8, all of one pod, the inner one does, a little.",
        rows=[f"× {factor:g}" for factor in FIGURE_10_FACTORS],
        groups=[""],
        columns=[f"× {factor:g}" for factor in FIGURE_10_FACTORS],
        x_title="bandwidth between pods",
        y_title="in a pod",
        note="Blue is faster than × 1, orange slower.",
        even=1.0,
        width=width,
    )


def clusters_picture(data: Comet, *, width: float = WIDE) -> Chart:
    """Figures 6 and 11."""
    return cluster_sketch(
        tuple(data.clusters.values()),
        title="Figures 6 and 11: the three clusters",
        about="1024 A100 in pods of eight, 4096 TPU v4 in a torus of three dimensions, 64 Dojo trays under a switch.",
        width=width,
    )
