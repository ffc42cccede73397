"""Table VI and the figures of the DFModel paper as pictures: ours, with what was logged beside it."""

from collections.abc import Sequence

from volvelle.catalogue.published.dfmodel import Study
from volvelle.quantities import percent
from volvelle.report.figures.bars import Bar, BarGroup, BarPanel, Slot, bar_chart
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.heat_map import Cell, HeatPanel, heat_map
from volvelle.report.figures.roofline import RoofPoint, roofline
from volvelle.report.figures.theme import BLUE, GREEN, GREY, ORANGE, RUST, SKY, VIOLET, WIDE
from volvelle.reproductions.dfmodel.design_space import WITHIN, DesignSpace, FoundPoint
from volvelle.reproductions.dfmodel.figures import SweptRun, TrainingRun
from volvelle.reproductions.dfmodel.table6 import FoundIntensity, Table6

WORKLOADS: dict[Study, str] = {
    "LLM": "GPT-3 1T training",
    "DLRM": "793B DLRM training",
    "HPL": "HPL",
    "FFT": "1T-point FFT",
}
_CHIPS = {"h100": "H100", "tpu": "TPU v4", "sn30": "SN30", "wse-2": "WSE-2"}
_NETWORKS = {
    "2d_torus": "2-D torus",
    "3d_torus": "3-D torus",
    "dragonfly": "dragonfly",
    "dgx_1": "DGX-1",
    "dgx_2": "DGX-2",
}
_TECHNOLOGIES = (("ddr", "pcie"), ("ddr", "nvlink"), ("hbm", "pcie"), ("hbm", "nvlink"))
_NAMES = {"ddr": "DDR", "hbm": "HBM", "pcie": "PCIe", "nvlink": "NVLink"}
_LOGGED = "logged"
_MEASURES = (
    ("performance", "utilisation", 1.0),
    ("per_watt", "power efficiency, GFLOP/s per watt", 1e-9),
    ("per_dollar", "cost efficiency, GFLOP/s per dollar", 1e-9),
)


def _grid(found: DesignSpace, workload: Study) -> dict[tuple[str, str, str, str], FoundPoint]:
    return {
        (one.point.accelerator, one.point.topology, one.point.memory, one.point.link): one for one in found.of(workload)
    }


def _figure(value: float) -> str:
    """Two or three digits, as short as a cell needs."""
    if value >= 99.5:
        return f"{value:.0f}"
    if value >= 9.95:
        return f"{value:.1f}"
    if value >= 0.0995:
        return f"{value:.2f}"
    return f"{value:.3f}" if value >= 0.00995 else f"{value:.4f}"


def heat_picture(found: DesignSpace, workload: Study, *, width: float = WIDE) -> Chart:
    """Figures 10, 12, 14 and 16."""
    points = _grid(found, workload)
    panels = []
    for name, title, unit in _MEASURES:
        rows = []
        for network, network_name in _NETWORKS.items():
            cells = []
            for chip, chip_name in _CHIPS.items():
                for memory, link in _TECHNOLOGIES:
                    one = points[chip, network, memory, link]
                    ours, logged = (one.measure(name, logged=which) * unit for which in (False, True))
                    differs = abs(ours / logged - 1) > WITHIN
                    cells.append(
                        Cell(
                            value=ours,
                            text=_figure(ours),
                            other=_figure(logged) if differs else "",
                            title=f"{chip_name}, {network_name}, {_NAMES[memory]}, {_NAMES[link]}: "
                            f"ours {ours:.5g}, logged {logged:.5g}",
                        )
                    )
            rows.append(tuple(cells))
        panels.append(HeatPanel(title=title, cells=tuple(rows)))
    number = found.of(workload)[0].point.figure
    outlined = sum(one.better for one in found.of(workload))
    note = (
        f"All 80 figures within {percent(WITHIN)} of those logged."
        if not outlined
        else "Outlined: ours, and below it in brackets what was logged, where they differ by more than "
        f"{percent(WITHIN)}."
    )
    return heat_map(
        panels,
        title=f"Figure {number}: {WORKLOADS[workload]} on 1024 accelerators",
        about="Heat maps of utilisation, power efficiency and cost efficiency over accelerators, networks, memory and "
        "link technologies.",
        rows=tuple(_NETWORKS.values()),
        groups=tuple(_CHIPS.values()),
        columns=tuple(f"{_NAMES[memory]}\n{_NAMES[link]}" for memory, link in _TECHNOLOGIES),
        note=note,
        width=width,
    )


def breakdown_picture(found: DesignSpace, workload: Study, *, width: float = WIDE) -> Chart:
    """Figures 11, 13, 15 and 17."""
    points = _grid(found, workload)
    colours = {"compute": BLUE, "memory": ORANGE, "network": RUST}
    panels = []
    for chip, title in _CHIPS.items():
        groups = []
        for network, label in _NETWORKS.items():
            slots = []
            for memory, link in _TECHNOLOGIES:
                one = points[chip, network, memory, link]
                bar = Bar(
                    parts=tuple(zip(colours, one.breakdown, strict=True)),
                    logged=one.point.apart_utilisation,
                    ours=one.apart_utilisation,
                    title=f"{title}, {label}, {_NAMES[memory]}, {_NAMES[link]}",
                )
                slots.append(Slot(label=f"{_NAMES[memory]} {_NAMES[link]}", bars=(bar,)))
            groups.append(BarGroup(label=label, slots=tuple(slots)))
        panels.append(
            BarPanel(title=title, groups=tuple(groups), y_title="share of time; utilisation", top=1.0, percent=True)
        )
    number = found.of(workload)[0].point.figure + 1
    return bar_chart(
        panels,
        title=f"Figure {number}: where the time of {WORKLOADS[workload]} goes, nothing overlapped",
        about="Shares of compute, memory and network in the time of every design point, with utilisation marked.",
        colours=colours,
        logged="utilisation, logged",
        ours="utilisation, ours",
        said="By network, and by memory and link technology.",
        height=110.0,
        width=width,
    )


_SHORT = {
    "kernel by kernel, 8×1": "by kernel\n8×1",
    "vendor's, 8×1": "vendor's\n8×1",
    "DFModel's, products pinned, 8×1": "DFModel's\n8×1",
    "free optimum, 8×1": "free\n8×1",
    "free optimum, 4×2": "free\n4×2",
}
"""Names of mappings, as short as the axis needs them."""


def _alone(groups: Sequence[BarGroup], y_title: str) -> tuple[BarPanel]:
    return (BarPanel(title="", groups=tuple(groups), y_title=y_title),)


def table6_picture(found: Table6, *, width: float = WIDE) -> Chart:
    """Table VI as bars."""
    groups = []
    for constants in ("repository", "text"):
        rows = found.with_constants(constants)
        rate = rows[0].dram_rate / 1e9
        slots = tuple(
            Slot(
                label=_SHORT[row.name],
                bars=(
                    Bar(
                        parts=(("ours, proven optimal", row.ours.time * 1e3),),
                        logged=row.logged * 1e3 if row.logged is not None and constants == "repository" else None,
                        title=row.name,
                        text=f"{row.ours.time * 1e3:.3f}",
                    ),
                ),
            )
            for row in rows
        )
        whose = "the authors' inputs" if constants == "repository" else "the paper's text"
        groups.append(BarGroup(label=f"DRAM of {rate:g} GB/s, as in {whose}", slots=slots))
    return bar_chart(
        _alone(groups, "time, ms"),
        title="Table VI: GPT-3 175B on eight SN10, a layer and sample",
        about="Time of a layer and sample for five mappings and two sets of constants.",
        colours={"ours, proven optimal": BLUE},
        logged=_LOGGED,
        width=width,
    )


def roofline_picture(found: Sequence[FoundIntensity], *, width: float = WIDE) -> Chart:
    """Figure 18."""
    first = found[0]
    points = [
        RoofPoint(name=str(number), rate=rate, intensities=(traffic.memory, traffic.network), logged=logged)
        for number, one in enumerate(found, 1)
        for traffic, rate, logged in ((one.logged, one.logged_rate, True), (one, one.rate, False))
    ]
    names = "; ".join(f"{number} {one.name}" for number, one in enumerate(found, 1))
    return roofline(
        points,
        {"DRAM": first.memory_rate, "network": first.network_rate},
        peak=first.peak,
        title="Figure 18: four mappings of GPT-3 175B under the roofs of an SN10",
        about="Hierarchical roofline: rate of a chip by operations for every byte of DRAM and of network traffic.",
        said=f"{names}. Rings: as logged.",
        width=width,
    )


_PARTS = {
    "forward": BLUE,
    "backward": SKY,
    "communication": RUST,
    "pipeline bubble": GREY,
    "between stages": VIOLET,
}


def _training_slot(one: TrainingRun, label: str) -> Slot:
    bar = Bar(parts=tuple(one.breakdown.items()), logged=one.run.time, title=one.run.run)
    return Slot(label=label, bars=(bar,))


def rail_picture(found: Sequence[TrainingRun], *, width: float = WIDE) -> Chart:
    """Figure 7."""
    slots = tuple(_training_slot(one, str(one.run.fast_domain)) for one in found)
    return bar_chart(
        _alone([BarGroup(label="chips with fast links between them", slots=slots)], "time of a batch, s"),
        title="Figure 7: GPT-3 1T on 16384 H100 in a rail-only network",
        about="Time of a batch by the size of the fast domain, with what it is spent on.",
        colours=_PARTS,
        logged="logged, whole batch",
        width=width,
    )


def layout_picture(found: Sequence[TrainingRun], *, width: float = WIDE) -> Chart:
    """Figure 8."""
    groups: dict[str, list[Slot]] = {}
    fixed = {"fix_TP": "TP fixed to 8", "fix_PP": "PP fixed to 32", "fix_DP": "DP fixed to 32"}

    def degree(one: TrainingRun) -> int:
        return -dict(zip(one.run.axes, one.run.dims, strict=True)).get("DP" if "fix_TP" in one.run.run else "TP", 1)

    for one in sorted(found, key=degree, reverse=True):
        kind, layout = one.run.run.split("/")
        groups.setdefault(fixed[kind], []).append(_training_slot(one, layout.replace("_", "·")))
    return bar_chart(
        _alone([BarGroup(label=name, slots=tuple(groups[name])) for name in fixed.values()], "time of a batch, s"),
        title="Figure 8: GPT-3 1T on 4096 A100, layout by layout",
        about="Time of a batch for each layout, with what it is spent on.",
        colours=_PARTS,
        logged="logged, whole batch",
        said="Degrees of tensor · pipeline · data parallelism.",
        width=width,
    )


def sram_picture(found: Sequence[SweptRun], *, width: float = WIDE) -> Chart:
    """Figure 19."""
    styles = {"kernel by kernel": GREY, "dataflow": BLUE}
    places = {(str(one.run.style), one.run.run.split("/")[1]): one for one in found}
    groups = []
    for sram in "sml":
        slots = []
        for dram in "sml":
            pair = [places[style, f"{sram}_sram_{dram}_dram"] for style in styles]
            bars = tuple(
                Bar(parts=((one.run.style, one.ours.utilisation),), logged=one.run.utilisation, title=one.run.run)
                for one in pair
            )
            slots.append(Slot(label=f"{pair[0].run.dram_rate / 1e9:g} GB/s", bars=bars))
        size = places["dataflow", f"{sram}_sram_s_dram"].run.sram / 2**20
        groups.append(BarGroup(label=f"SRAM of {size:.0f} MiB", slots=tuple(slots)))
    return bar_chart(
        (BarPanel(title="", groups=tuple(groups), y_title="utilisation", top=1.0, percent=True),),
        title="Figure 19: GPT-3 175B on eight chips of 307 TFLOP/s, by SRAM and DRAM",
        about="Utilisation kernel by kernel and with dataflow for nine memory systems.",
        colours=styles,
        logged=_LOGGED,
        width=width,
    )


def three_dimensional_picture(found: Sequence[SweptRun], *, width: float = WIDE) -> Chart:
    """Figure 22."""
    memories = {"DDR": ("2-D DDR", ORANGE), "HBM": ("2.5-D HBM", GREEN), "3D": ("3-D stacked", BLUE)}
    groups, colours = [], {}
    for key, (name, colour) in memories.items():
        runs = [one for one in found if one.run.run.startswith(f"{key}/")]
        said = f"{name}, {runs[0].run.dram_rate / 1e9:,.0f} GB/s"
        colours[said] = colour
        slots = tuple(
            Slot(
                label=f"{percent(float(one.run.run.split('/')[1]), 0)}",
                bars=(
                    Bar(
                        parts=((said, one.ours.rate / 1e12),),
                        logged=None if one.logged_rate is None else one.logged_rate / 1e12,
                        title=one.run.run,
                    ),
                ),
            )
            for one in runs
        )
        groups.append(BarGroup(label=name, slots=slots))
    return bar_chart(
        _alone(groups, "rate of a chip, TFLOP/s"),
        title="Figure 22: a GPT of 100 T parameters, by memory and share of compute",
        about="Rate of a chip by memory technology and by the share of its area that computes.",
        colours=colours,
        logged=_LOGGED,
        said="By the share of the chip's units that compute.",
        width=width,
    )
