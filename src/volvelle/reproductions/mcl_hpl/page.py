"""What the page on High-Performance Linpack shows: its tables in Markdown, and the figures that its prose quotes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import median

from volvelle.applications.hpl.application import HPL
from volvelle.applications.hpl.closed_forms import LayeredHpl, OriginalHpl
from volvelle.applications.hpl.fit import BOUNDS, family_runs
from volvelle.applications.hpl.rows import HplMeasurement, hpl_measurements
from volvelle.applications.measured_table import calibration_rows
from volvelle.applications.scores import RowValidation, ScoredRow, score
from volvelle.applications.validation import validate
from volvelle.catalogue import Catalogue
from volvelle.mapping.process_grid import ProcessGrid
from volvelle.quantities import FLOP_PER_SECOND, show
from volvelle.reproductions.mcl_hpl.readings import Reading, readings
from volvelle.reproductions.mcl_hpl.study import Line, Reproduction, figure_3, reproduce_mcl_hpl
from volvelle.workload.families.hpl import Hpl

_ACCELERATORS = (
    ("P100 cards", "p100-pcie"),
    ("P100 SXM2", "p100-sxm2"),
    ("V100 SXM2", "v100-sxm2-.*"),
    ("V100 cards", "v100-pcie-.*"),
    ("A100 80 GB", "a100-.*-80gb"),
    ("A100 40 GB", "a100-.*-40gb"),
    ("H100", "h100-.*"),
    ("H200", "h200-.*"),
    ("GH200", "gh200"),
    ("B200", "b200"),
    ("MI250X", "mi250x-gcd"),
    ("MI300A", "mi300a"),
    ("Max 1550", "pvc-1550"),
    ("others", ".*"),
)
"""Lines of the table and the names of the catalogue that belong to each; the first that fits counts."""
_MACHINES = (
    *("El Capitan", "Frontier", "Aurora", "JUPITER Booster", "Eos NVIDIA DGX SuperPOD", "Supercomputer Fugaku", "Alps"),
    *("LUMI", "Leonardo", "Perlmutter"),
)
"""Machines from the top of the list that the page names."""
_ALONE = ("1N1G", "1N2G", "1N3G")
"""Runs of the paper whose parameters it states."""


def hpl_page(catalogue: Catalogue | None = None) -> tuple[dict[str, str], dict[str, str]]:
    """Tables by file name, and figures for prose by key."""
    catalogue = catalogue or Catalogue()
    measured = hpl_measurements()
    found = validate(HPL, measured, catalogue=catalogue)
    tables = {table.key: table for table in reproduce_mcl_hpl(catalogue)}
    listed = [row for row in found.rows if row.head.group == "top500" and row.head.split == "heldout"]
    accelerated = [row for row in listed if _chip(row) != "a64fx" and not row.details.get("apart")]
    files = {
        "hpl-targets.md": _targets(found, accelerated, tables, catalogue),
        "hpl-accelerators.md": accelerator_table(accelerated),
        "hpl-machines.md": machine_table(listed),
        "hpl-apart.md": apart_table(found.rows),
        "hpl-readings.md": readings_table(readings(catalogue)),
    }
    texts = _quoted(found, accelerated, {row.head.row_id: row for row in measured.rows})
    texts |= _of_the_paper(found, tables)
    calibration = calibration_rows(measured, shipped=True)
    texts |= {f"runs_{family}": str(len(family_runs(family, calibration, catalogue))) for family in BOUNDS}
    return files, {f"hpl_{name}": text for name, text in texts.items()}


def apart_table(rows: Iterable[ScoredRow]) -> str:
    """Entries whose network cannot have carried their rate, by split and accelerator."""
    grouped: dict[tuple[str, str], list[ScoredRow]] = {}
    for row in rows:
        if row.details.get("apart"):
            grouped.setdefault((row.head.split, _chip(row)), []).append(row)
    return _markdown(
        ("kept apart", "accelerator", "rows", "mean error", "bias", "one of them"),
        (
            (
                split,
                chip,
                str(len(group)),
                _percent(of.mean_abs_error),
                _signed(of.bias),
                str(group[0].details["apart"]),
            )
            for (split, chip), group in sorted(grouped.items())
            for of in (score(group),)
        ),
        words=2,
    )


def readings_table(found: Iterable[Reading]) -> str:
    """One layer and several, by how the paper is read."""

    def cell(value: float | None) -> str:
        return "–" if value is None else _percent(value)

    heads = ("reading", "one layer", "several", "one, to the paper's", "several, to the paper's", "P100 cluster")
    return _markdown(
        heads,
        (
            (
                reading.name,
                *(cell(reading.error(layers)) for layers in ("one", "several")),
                *(cell(reading.error(layers, paper=True)) for layers in ("one", "several")),
                cell(reading.error("several", of="cluster")),
            )
            for reading in found
        ),
    )


def accelerator_table(rows: Iterable[ScoredRow]) -> str:
    """Held-out entries of the TOP500 by accelerator."""
    grouped: dict[str, list[ScoredRow]] = {name: [] for name, _ in _ACCELERATORS}
    for row in rows:
        name = next(name for name, pattern in _ACCELERATORS if re.fullmatch(pattern, _chip(row)))
        grouped[name].append(row)
    scores = {name: score(group) for name, group in grouped.items() if group}
    return _markdown(
        ("held-out TOP500 rows", "rows", "median error", "mean error", "bias"),
        (
            (name, str(of.rows), _percent(of.median_abs_error), _percent(of.mean_abs_error), _signed(of.bias))
            for name, of in scores.items()
        ),
    )


def machine_table(rows: Iterable[ScoredRow]) -> str:
    """Held-out entries of machines that everybody knows."""
    known = [(place, row) for row in rows for place, name in enumerate(_MACHINES) if row.label.startswith(f"{name}:")]
    ordered = sorted(known, key=lambda pair: (pair[0], pair[1].head.row_id))
    return _markdown(
        ("held-out entry", "listed", "predicted", "error"),
        (
            (
                row.label,
                show(row.measured, FLOP_PER_SECOND),
                show(row.predicted, FLOP_PER_SECOND),
                _signed(row.error),
            )
            for _, row in ordered
        ),
    )


def _targets(
    found: RowValidation, listed: Sequence[ScoredRow], tables: dict[str, Reproduction], catalogue: Catalogue
) -> str:
    """What was asked for and what is found."""
    core = next(curve for curve in figure_3(catalogue) if curve.name == "one equivalent core").rates[-1]
    alone = [abs(line.against_paper or 0.0) for line in tables["table-5"].lines if line.name in _ALONE]
    systems, cluster = found.only("kim2021-tables-1-2").overall(), found.only("kim2021-table-5").overall()
    entries = score(listed)
    inside = score(row for row in found.rows if row.head.split == "heldout" and not row.details.get("apart")).coverage
    apart = _apart(catalogue)
    lines: tuple[tuple[str, str, str, bool | None], ...] = (
        (
            "one layer of the layered model against the original",
            "equal",
            "equal to 9 digits" if apart < 1e-9 else f"{100 * apart:.2g} % apart",
            apart < 1e-9,
        ),
        (
            "one P100 as one equivalent core, N 44 000",
            "3840 GFLOP/s ± 1 %",
            f"{core * 1e-9:.0f}",
            abs(core / 3840e9 - 1.0) <= 0.01,
        ),
        (
            "the paper's model against its own figures, where its parameters are known (one node, up to three GPUs)",
            "within 3 %",
            ", ".join(f"{100 * off:.1f}" for off in alone) + " %",
            max(alone) <= 0.03,
        ),
        (
            "the eight systems of the paper, panel by panel, mean",
            "≤ 6 %",
            f"{_percent(systems.mean_abs_error)} (the paper: {_percent(tables['table-2'].mean('paper'))})",
            systems.mean_abs_error <= 0.06,
        ),
        (
            "the 15 runs of the P100 cluster, mean",
            "≤ 5 %",
            f"{_percent(cluster.mean_abs_error)} (the paper: {_percent(tables['table-5'].mean('paper'))})",
            cluster.mean_abs_error <= 0.05,
        ),
        ("the same, median", "", _percent(cluster.median_abs_error), None),
        (
            "TOP500, held-out, accelerators, median",
            "≤ 7 %",
            _percent(entries.median_abs_error),
            entries.median_abs_error <= 0.07,
        ),
        (
            "TOP500, held-out, accelerators, mean",
            "≤ 11 %",
            _percent(entries.mean_abs_error),
            entries.mean_abs_error <= 0.11,
        ),
        ("held-out rows in the 80 % range", "75 … 85 %", f"{100 * inside:.0f} %", 0.75 <= inside <= 0.85),
    )
    return _markdown(
        ("what", "asked for", "found", ""),
        ((what, asked, got, "" if met is None else "met" if met else "missed") for what, asked, got, met in lines),
        words=2,
    )


def _apart(catalogue: Catalogue) -> float:
    """How far one layer of the layered model is from the original with its lower orders, at worst of a few grids."""
    cluster = catalogue.cluster("dgx-a100/1024")
    flat = replace(cluster, dimensions=(replace(cluster.dimensions[-1], size=cluster.accelerators),))
    problem = Hpl(name="one layer", order=1_048_576, block=256)
    grids = [ProcessGrid(rows=rows, columns=columns) for rows, columns in ((1, 1), (4, 8), (32, 32))]
    whole = OriginalHpl(lower_order=True)
    return max(
        abs(LayeredHpl().estimate(problem, flat, grid).time / whole.estimate(problem, flat, grid).time - 1.0)
        for grid in grids
    )


def _quoted(
    found: RowValidation, listed: Sequence[ScoredRow], measured: Mapping[str, HplMeasurement]
) -> dict[str, str]:
    """Figures over held-out and calibration rows."""
    fitted = [row for row in found.rows if row.head.group == "top500" and row.head.split == "calibration"]
    entries, near = score(listed), score(fitted)
    apart = [row for row in found.rows if row.details.get("apart") and row.head.split == "heldout"]
    kept = [row for row in found.rows if row.head.split == "heldout" and not row.details.get("apart")]
    sites = [row for row in found.rows if row.head.group == "hpl-nvidia-run" and row.head.split == "heldout"]
    plain = _one_efficiency(measured, fitted, listed)
    return {
        "rows": str(entries.rows),
        "median": _percent(entries.median_abs_error),
        "mean": _percent(entries.mean_abs_error),
        "coverage": f"{100 * score(kept).coverage:.0f} %",
        "plain_median": _percent(median(plain)),
        "plain_mean": _percent(sum(plain) / len(plain)),
        "sites_rows": str(len(sites)),
        "sites_mean": _percent(score(sites).mean_abs_error),
        "calibration_median": _percent(near.median_abs_error),
        "calibration_mean": _percent(near.mean_abs_error),
        "apart_rows": str(len(apart)),
        "apart_mean": f"{100 * score(apart).mean_abs_error:.0f} %",
        "with_apart_median": _percent(score([*listed, *apart]).median_abs_error),
        "with_apart_mean": _percent(score([*listed, *apart]).mean_abs_error),
    }


def _one_efficiency(
    measured: Mapping[str, HplMeasurement], fitted: Sequence[ScoredRow], listed: Sequence[ScoredRow]
) -> list[float]:
    """Errors of a single share of the listed peak for all, the median of calibration entries."""
    peaks = {name: row.peak for name, row in measured.items() if row.peak}
    share = median(row.measured / peaks[row.head.row_id] for row in fitted if row.head.row_id in peaks)
    return [abs(share * peaks[row.head.row_id] / row.measured - 1.0) for row in listed if row.head.row_id in peaks]


def _of_the_paper(found: RowValidation, tables: dict[str, Reproduction]) -> dict[str, str]:
    """Figures beside Kim et al."""
    systems = {line.name: line for line in tables["table-2"].lines}
    runs = sorted(tables["table-5"].lines, key=lambda line: abs(_off(line)))
    first = [line.against_paper or 0.0 for line in tables["table-1"].lines]
    texts = {
        "systems_mean": _percent(found.only("kim2021-tables-1-2").overall().mean_abs_error),
        "systems_paper": _percent(tables["table-2"].mean("paper")),
        "systems_layered": _percent(tables["table-2"].mean("ours")),
        "cluster_good": str(len(runs) - 2),
        "cluster_runs": str(len(runs)),
        "cluster_good_mean": _percent(sum(abs(_off(line)) for line in runs[:-2]) / (len(runs) - 2)),
        "original_least": f"{-100 * max(first):.0f} %",
        "original_most": f"{-100 * min(first):.0f} %",
    }
    for word, key in (("dgx", "DGX"), ("marconi", "Marconi"), ("fugaku", "Fugaku")):
        line = next(line for name, line in systems.items() if name.startswith(key))
        texts[f"system_{word}"] = _signed(_off(line))
    for place, line in zip(("worse", "worst"), runs[-2:], strict=True):
        texts |= {
            f"cluster_{place}": line.name,
            f"cluster_{place}_off": _signed(_off(line)),
            f"cluster_{place}_paper": _signed((line.paper or line.measured) / line.measured - 1.0),
        }
    return texts


def _off(line: Line) -> float:
    return line.panels / line.measured - 1.0


def _chip(row: ScoredRow) -> str:
    """The catalogue's name of the accelerator, which ends a label."""
    return row.label.rsplit(" ", 1)[-1]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _signed(share: float) -> str:
    return f"{100 * share:+.0f} %".replace("-", "−")


def _markdown(heads: Sequence[str], rows: Iterable[Sequence[str]], *, words: int = 1) -> str:
    """A table whose first columns are words and whose others are numbers."""
    ruler = ["---" if place < words or not head else "---:" for place, head in enumerate(heads)]
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, ruler, *rows)) + "\n"
