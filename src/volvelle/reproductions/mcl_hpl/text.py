"""The reproduction of MCL-HPL as tables, JSON and pictures."""

from collections.abc import Sequence

from volvelle.quantities import percent
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.lines import line_chart
from volvelle.report.figures.scatter import Mark, Point, scatter
from volvelle.report.figures.theme import BLUE, GREY, RUST
from volvelle.report.terminal import show_table, wide_console
from volvelle.reproductions.mcl_hpl.study import Curve, Reproduction

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
