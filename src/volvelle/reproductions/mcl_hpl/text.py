"""The reproduction of MCL-HPL as tables, JSON and pictures."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from volvelle.quantities import BYTES_PER_SECOND, percent, show
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.lines import line_chart
from volvelle.report.figures.scatter import Mark, Point, scatter
from volvelle.report.figures.theme import BLUE, GREY, RUST
from volvelle.report.terminal import show_table, wide_console
from volvelle.reproductions.mcl_hpl.readings import UNPUBLISHED, Reading
from volvelle.reproductions.mcl_hpl.study import Curve, Line, Reproduction

_MEASURED = (44000.0, 3882.0)
"""The paper's run on one P100: N and GFLOP/s."""
_MARKS = {
    "paper": Mark(name="paper", colour=GREY, shape="square"),
    "ours": Mark(name="the paper's model, here", colour=BLUE, shape="circle"),
    "panels": Mark(name="panel by panel", colour=RUST, shape="diamond"),
}


def print_mcl_hpl(tables: Sequence[Reproduction], curves: Sequence[Curve]) -> None:
    """Each table with what was measured, what the paper prints and what the models say here."""
    for table in tables:
        scale, unit = _scale(table)
        show_table(
            f"{table.title}, {unit}",
            ("system",),
            ("measured", "paper", "here", "to paper", "to measured", "panels", "to measured"),
            (
                (
                    line.name,
                    f"{line.measured * scale:,.2f}",
                    "–" if line.paper is None else f"{line.paper * scale:,.2f}",
                    f"{line.ours * scale:,.2f}",
                    "–" if line.against_paper is None else f"{percent(line.against_paper, 1, signed=True)}",
                    f"{percent(line.ours / line.measured - 1, 1, signed=True)}",
                    f"{line.panels * scale:,.2f}",
                    f"{percent(line.panels / line.measured - 1, 1, signed=True)}",
                )
                for line in table.lines
            ),
        )
        wide_console().print(
            f"mean error against measured: paper {percent(table.mean('paper'))}, the same model here "
            f"{percent(table.mean('ours'))}, panel by panel {percent(table.mean('panels'))}\n"
        )
    if curves:
        show_table(
            "Figure 3: one P100, GFLOP/s (3882 measured at N 44000; the paper has 4347 and 3840)",
            ("N",),
            tuple(curve.name for curve in curves),
            (
                (str(order), *(f"{curve.rates[index] * 1e-9:.0f}" for curve in curves))
                for index, order in enumerate(curves[0].orders)
                if order % 8000 == 4000
            ),
        )


def print_readings(found: Sequence[Reading]) -> None:
    """One layer and several by reading, what the last two say of each system, and what is not published."""

    def cell(value: float | None) -> str:
        return "–" if value is None else percent(value)

    show_table(
        "One layer and several: mean error over the eight systems by reading (the paper has 18.6 and 7.5 %)",
        ("reading",),
        ("one", "several", "to paper", "to paper", "cluster", "to paper"),
        (
            (
                reading.name,
                cell(reading.error("one")),
                cell(reading.error("several")),
                cell(reading.error("one", paper=True)),
                cell(reading.error("several", paper=True)),
                cell(reading.error("several", of="cluster")),
                cell(reading.error("several", of="cluster", paper=True)),
            )
            for reading in found
        ),
    )
    *_, part, whole = found
    show_table(
        "Networks that the paper's one layer needs, and several layers with them, to the paper's",
        ("system",),
        ("needed a process", "ports of a node", "memory its part", "memory the whole"),
        (
            (
                row.name,
                show(row.network, BYTES_PER_SECOND),
                show(row.ports, BYTES_PER_SECOND),
                percent(row.several / (row.paper_several or row.measured) - 1, 1, signed=True),
                percent(other.several / (other.paper_several or other.measured) - 1, 1, signed=True),
            )
            for row, other in zip(part.systems, whole.systems, strict=True)
        ),
    )
    show_table("Not published, and taken here", ("input", "taken"), (), UNPUBLISHED)


def readings_document(found: Sequence[Reading]) -> list[dict[str, object]]:
    """The same as plain values."""
    return [
        {
            "reading": reading.name,
            "mean_abs_error": {"one": reading.error("one"), "several": reading.error("several")},
            "to_paper": {"one": reading.error("one", paper=True), "several": reading.error("several", paper=True)},
            "cluster": reading.error("several", of="cluster"),
            "cluster_to_paper": reading.error("several", of="cluster", paper=True),
            "rows": [asdict(row) for row in (*reading.systems, *reading.cluster)],
        }
        for reading in found
    ]


Clusters = Mapping[str, tuple[Sequence[Curve], Mapping[str, Line]]]
"""Figures 6 and 7 by name: their curves, and what was measured at the largest size of each configuration."""


def print_clusters(clusters: Clusters) -> None:
    """Each figure at a quarter, a half and the whole of each configuration's largest size."""
    for name, (curves, measured) in clusters.items():
        last = len(curves[0].orders) - 1
        show_table(
            f"{name.capitalize().replace('-', ' ')}: the P100 cluster over N, GFLOP/s",
            ("configuration",),
            ("N", "at a quarter of it", "at half", "at N", "paper", "measured"),
            (
                (
                    curve.name,
                    f"{curve.orders[-1]:,}",
                    *(f"{curve.rates[place] * 1e-9:,.0f}" for place in (last // 4, last // 2, last)),
                    f"{(line.paper or 0.0) * 1e-9:,.0f}" if "MCL" in curve.name else "–",
                    f"{line.measured * 1e-9:,.0f}",
                )
                for curve in curves
                for line in (measured[curve.name.split(",", maxsplit=1)[0]],)
            ),
        )


def clusters_document(clusters: Clusters) -> dict[str, object]:
    """The same as plain values, FLOP/s by N."""
    return {
        name: {curve.name: dict(zip(curve.orders, curve.rates, strict=True)) for curve in curves}
        for name, (curves, _) in clusters.items()
    }


def figure_over_sizes(title: str, curves: Sequence[Curve], measured: Mapping[str, Line]) -> Chart:
    """Figure 6 or 7: rates over N, each configuration up to its own largest."""
    return line_chart(
        {curve.name: [rate * 1e-12 for rate in curve.rates] for curve in curves},
        places=[step / len(curves[0].orders) for step in range(1, len(curves[0].orders) + 1)],
        points={f"{name} measured": (1.0, line.measured * 1e-12) for name, line in measured.items()},
        title=title,
        about="Rates of the P100 cluster by problem size, by MCL-HPL and panel by panel, and what was measured.",
        x_title="problem size, as a share of the largest of each configuration",
        y_title="TFLOP/s",
    )


def _scale(table: Reproduction) -> tuple[float, str]:
    return (1e-12, "TFLOP/s") if table.key == "table-5" else (1e-15, "PFLOP/s")


def mcl_hpl_document(tables: Sequence[Reproduction], curves: Sequence[Curve]) -> dict[str, object]:
    """Everything as plain values, FLOP/s."""
    return {
        "tables": {
            table.key: {
                "title": table.title,
                "mean_abs_error": {which: table.mean(which) for which in ("paper", "ours", "panels")},
                "rows": [
                    {
                        "name": line.name,
                        "measured": line.measured,
                        "paper": line.paper,
                        "ours": line.ours,
                        "ours_over_paper": line.against_paper,
                        "panel_by_panel": line.panels,
                    }
                    for line in table.lines
                ],
            }
            for table in tables
        },
        "figure-3": {curve.name: dict(zip(curve.orders, curve.rates, strict=True)) for curve in curves},
    }


def mcl_hpl_pictures(tables: Sequence[Reproduction], curves: Sequence[Curve]) -> dict[str, Chart]:
    """By file name."""
    found: dict[str, Chart] = {}
    for table in tables:
        scale, unit = _scale(table)
        points = [
            Point(
                measured=line.measured * scale,
                predicted=value * scale,
                mark=_MARKS[which],
                label=f"{line.name}: {_MARKS[which].name} {value * scale:.3g} of {line.measured * scale:.3g} {unit}",
            )
            for line in table.lines
            for which in ("paper", "ours", "panels")
            for value in (getattr(line, which),)
            if value is not None
        ]
        found[f"{table.key}.svg"] = scatter(points, title=table.title, quantity="rate", unit=unit, above="too fast")
    if curves:
        found["figure-3.svg"] = line_chart(
            {curve.name: [rate * 1e-9 for rate in curve.rates] for curve in curves},
            places=[order / 1000 for order in curves[0].orders],
            points={"measured (Kim et al.)": (_MEASURED[0] / 1000, _MEASURED[1])},
            title="Figure 3: one P100",
            about="Rate of Linpack by problem size, after two models of the paper, and what was measured.",
            x_title="problem size N, thousands",
            y_title="GFLOP/s",
        )
    return found
