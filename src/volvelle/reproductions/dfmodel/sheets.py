"""Table VI and the figures of the DFModel paper as tables: what was logged, what we find, and why they differ."""

from collections.abc import Sequence

from volvelle.catalogue.published.dfmodel import Study
from volvelle.report.sheet import Sheet
from volvelle.reproductions.dfmodel.constants import Constant
from volvelle.reproductions.dfmodel.design_space import DesignSpace
from volvelle.reproductions.dfmodel.figures import SweptRun, TrainingRun
from volvelle.reproductions.dfmodel.ratios import FoundRatio
from volvelle.reproductions.dfmodel.table6 import FoundIntensity, SpeedUp, Table6

__all__ = [
    "breakdown_sheet",
    "constants_sheet",
    "departures_sheet",
    "heat_sheet",
    "intensity_sheet",
    "ratio_sheet",
    "speed_up_sheet",
    "summary_sheet",
    "sweep_sheet",
    "table6_sheet",
    "training_sheet",
]

_MACHINE = ("accelerator", "network", "memory", "link")
_MEASURES = {"performance": "utilisation", "per_dollar": "FLOP/s per dollar", "per_watt": "FLOP/s per watt"}


def _change(value: float | None) -> str:
    """Ours over logged, less one."""
    if value is None:
        return "–"
    return "0 %" if abs(value) < 5e-5 else f"{100 * value:+.2f} %".replace("-", "−")


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def _number(value: float | None, form: str = ".3f") -> str:
    return "–" if value is None else format(value, form)


def constants_sheet(constants: Sequence[Constant]) -> Sheet:
    """What the results rest on."""
    return Sheet(
        title="Constants used",
        columns=("constant", "used", "the paper's text", "whose"),
        rows=tuple((one.name, one.used, one.printed or "–", one.origin) for one in constants),
    )


def table6_sheet(found: Table6, constants: str) -> Sheet:
    """Table VI with one set of constants."""
    rows = found.with_constants(constants)
    columns = ("logged, ms", "ours, ms", "difference", "tile", "partitions", "proven", "seconds")
    logged = constants == "repository"
    rate = rows[0].dram_rate / 1e9
    return Sheet(
        title=f"Table VI, constants of the {constants}: DRAM {rate:g} GB/s",
        columns=("mapping", *columns),
        rows=tuple(
            (
                row.name,
                _number(row.logged * 1e3 if row.logged is not None and logged else None),
                _number(row.ours.time * 1e3),
                _change(row.difference) if logged else "–",
                str(row.ours.found.tile),
                str(row.ours.partitions),
                "yes" if row.ours.found.proven else "no",
                f"{row.ours.seconds:.2f}",
            )
            for row in rows
        ),
        numbers=frozenset(columns),
        note="Time of one layer and sample; two replicas on 4×2 halve it."
        if logged
        else "The logged runs have the other rate; with twice the DRAM rate what memory bounds is faster.",
    )


def speed_up_sheet(found: Sequence[SpeedUp]) -> Sheet:
    """The speed-ups that Table VI prints."""
    columns = ("paper", "logged", "ours, repository", "ours, text")
    return Sheet(
        title="Speed-ups of Table VI",
        columns=("comparison", *columns),
        rows=tuple(
            (one.comparison, *(f"{value:.2f}" for value in (one.paper, one.logged, one.repository, one.text)))
            for one in found
        ),
        numbers=frozenset(columns),
    )


def intensity_sheet(found: Sequence[FoundIntensity]) -> Sheet:
    """Figure 18."""
    columns = ("DRAM logged", "DRAM ours", "network logged", "network ours", "TFLOP/s logged", "ours")
    return Sheet(
        title="Figure 18: FLOP for every byte, and the rate of a chip",
        columns=("mapping", *columns),
        rows=tuple(
            (
                one.name,
                f"{one.logged.memory:.0f}",
                f"{one.memory:.0f}",
                f"{one.logged.network:.0f}",
                f"{one.network:.0f}",
                f"{one.logged_rate / 1e12:.1f}",
                f"{one.rate / 1e12:.1f}",
            )
            for one in found
        ),
        numbers=frozenset(columns),
        note="On 4×2 the best mapping with nothing overlapped moves less than the logged one, whose solver stopped "
        f"with {found[-1].gap or 0.0:.1%} left to prove.",
    )


def summary_sheet(found: DesignSpace) -> Sheet:
    """Counts by workload."""
    columns = ("figure", "points", "within 0.5 %", "better", "largest difference")
    rows = []
    for workload in dict.fromkeys(one.point.workload for one in found.points):
        points = found.of(workload)
        largest = max((one.differences[0] for one in points), key=abs)
        rows.append(
            (
                str(workload),
                str(points[0].point.figure),
                str(len(points)),
                str(sum(one.within for one in points)),
                str(sum(one.better for one in points)),
                _change(largest),
            )
        )
    return Sheet(
        title="Design space, by workload",
        columns=("workload", *columns),
        rows=tuple(rows),
        numbers=frozenset(columns),
        note="Utilisation, cost and power each within 0.5 % of the log; better: utilisation higher than logged.",
    )


def departures_sheet(found: DesignSpace) -> Sheet:
    """Points that are not as logged or not as described."""
    columns = ("logged", "ours", "difference")
    return Sheet(
        title="Points that need a word",
        columns=("point", *columns, "why"),
        rows=tuple(
            (
                " ".join(
                    (
                        one.found.point.workload,
                        one.found.point.accelerator,
                        one.found.point.topology,
                        one.found.point.memory,
                        one.found.point.link,
                    )
                ),
                _number(one.found.point.utilisation, ".4f"),
                _number(one.found.utilisation, ".4f"),
                _change(one.found.differences[0]),
                f"{one.kind}: {one.reason}",
            )
            for one in found.departures
        ),
        numbers=frozenset(columns),
    )


def heat_sheet(found: DesignSpace, workload: Study) -> Sheet:
    """Figures 10, 12, 14 and 16."""
    columns = ("logged", "ours", "M$ logged", "M$ ours", "kW logged", "kW ours")
    points = found.of(workload)
    return Sheet(
        title=f"Figure {points[0].point.figure}: utilisation, cost and power, {workload}",
        columns=(*_MACHINE, *columns),
        rows=tuple(
            (
                one.point.accelerator,
                one.point.topology,
                one.point.memory,
                one.point.link,
                _number(one.point.utilisation, ".4f"),
                _number(one.utilisation, ".4f"),
                f"{one.point.cost / 1e6:.2f}",
                f"{one.cost / 1e6:.2f}",
                f"{one.point.power / 1e3:.0f}",
                f"{one.power / 1e3:.0f}",
            )
            for one in points
        ),
        numbers=frozenset(columns),
    )


def breakdown_sheet(found: DesignSpace, workload: Study) -> Sheet:
    """Figures 11, 13, 15 and 17."""
    columns = ("compute", "memory share", "network share", "logged", "ours")
    points = found.of(workload)
    return Sheet(
        title=f"Figure {points[0].point.figure + 1}: shares of time and utilisation, nothing overlapped, {workload}",
        columns=(*_MACHINE, *columns),
        rows=tuple(
            (
                one.point.accelerator,
                one.point.topology,
                one.point.memory,
                one.point.link,
                *(f"{share:.1%}" for share in one.breakdown),
                _number(one.point.apart_utilisation, ".4f"),
                _number(one.apart_utilisation, ".4f"),
            )
            for one in points
        ),
        numbers=frozenset(columns),
    )


def ratio_sheet(found: Sequence[FoundRatio]) -> Sheet:
    """Section VI-C."""
    columns = ("paper", "logged points", "ours")
    return Sheet(
        title="Ratios of section VI-C: geometric means over design points",
        columns=("workload", "comparison", "of", *columns),
        rows=tuple(
            (
                one.workload,
                one.comparison,
                _MEASURES[name],
                _number(one.printed[name], ".2f"),
                _number(one.logged[name]),
                _number(one.ours[name]),
            )
            for one in found
            for name in one.printed
        ),
        numbers=frozenset(columns),
        note="Language-model ratios between dragonfly and other networks leave wafers out. Where logged solvers "
        "stopped early, our proven optima are closer to the paper's figures than its logs are.",
    )


def training_sheet(found: Sequence[TrainingRun], title: str, note: str) -> Sheet:
    """Figures 7 and 8."""
    columns = ("logged, s", "ours, s", "difference", "gap left in the log")
    return Sheet(
        title=title,
        columns=("run", *columns),
        rows=tuple(
            (
                one.run.run,
                _number(one.run.time),
                _number(one.time),
                _change(one.difference),
                _share(one.run.gap),
            )
            for one in found
        ),
        numbers=frozenset(columns),
        note=note,
    )


def sweep_sheet(found: Sequence[SweptRun], title: str, note: str) -> Sheet:
    """Figures 19 and 22."""
    columns = ("logged", "ours", "difference", "powers of two", "tile", "partitions", "gap left in the log")
    return Sheet(
        title=title,
        columns=("run", *columns),
        rows=tuple(
            (
                one.run.run,
                _number(one.run.utilisation, ".4f"),
                _number(one.ours.utilisation, ".4f"),
                _change(one.difference),
                _number(one.coarse.utilisation, ".4f"),
                str(one.ours.found.tile),
                str(one.ours.partitions),
                _share(one.run.gap),
            )
            for one in found
        ),
        numbers=frozenset(columns),
        note=note,
    )
