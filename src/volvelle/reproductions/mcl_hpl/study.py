"""The tables and the figure of Kim et al. (ETRI Journal 2021), computed again with the models of this package.

The paper states the networks of its systems but not their latencies, rates, blocks or grids; these come from the
catalogue and from the rows' own question, so that only the single P100 has the paper's own parameters throughout.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from volvelle.applications.hpl.closed_forms import LayeredHpl, OriginalHpl
from volvelle.applications.hpl.constants import core_of, equivalent_core, hpl_constants
from volvelle.applications.hpl.contract import AbstractHplModel
from volvelle.applications.hpl.layers import EquivalentCore
from volvelle.applications.hpl.panels import PanelByPanel
from volvelle.applications.hpl.rows import HplMeasurement, hpl_measurements, hpl_question
from volvelle.catalogue import Catalogue
from volvelle.mapping.process_grid import ProcessGrid
from volvelle.system.cluster import Cluster
from volvelle.workload.families.hpl import Hpl

BLOCK = 384
"""Of the large systems, where the paper states none."""
P100_BLOCK = 192
_P100_RATE = 4.7e12
"""FLOP/s of a P100 card as its data sheet rounds it, which is what gives the paper's figures."""
CLUSTER, SYSTEMS = "kim2021-table-5", "kim2021-tables-1-2"
"""Rows of the paper's own cluster, and of its eight systems."""
_TABLES = (
    ("table-1", "Table 1: the original model", SYSTEMS, "paper_original"),
    ("table-2-single", "Table 2: one communication layer", SYSTEMS, "paper_single"),
    ("table-2", "Table 2: several communication layers", SYSTEMS, "paper_layered"),
    ("table-5", "Table 5: the P100 cluster", CLUSTER, "paper_layered"),
)
"""Key and title of each, the rows it is about, and the column of theirs that has what the paper prints."""
FIGURE_3 = tuple(range(4000, 44001, 2000))
"""Problem sizes of the figure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One system: measured, in the paper, and by us."""

    name: str
    measured: float
    paper: float | None
    """What the paper prints for the model of this table."""
    ours: float
    """The same model here."""
    panels: float
    """Panel by panel."""

    @property
    def against_paper(self) -> float | None:
        """Relative to what the paper prints."""
        return None if self.paper is None else self.ours / self.paper - 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """One table."""

    key: str
    title: str
    lines: tuple[Line, ...]

    def mean(self, which: str) -> float:
        """Mean absolute error against what was measured: of ``paper``, ``ours`` or ``panels``."""
        values = [(getattr(line, which), line.measured) for line in self.lines]
        errors = [abs(float(value) / measured - 1.0) for value, measured in values if value is not None]
        return sum(errors) / len(errors)


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One line of the figure: rates over problem sizes."""

    name: str
    orders: tuple[int, ...]
    rates: tuple[float, ...]


def reproduce_mcl_hpl(catalogue: Catalogue | None = None) -> tuple[Reproduction, ...]:
    """Tables 1, 2 (single layer and several) and 5."""
    catalogue = catalogue or Catalogue()
    rows = hpl_measurements().rows
    return tuple(
        Reproduction(
            key=key,
            title=title,
            lines=tuple(_line(row, column, catalogue) for row in rows if row.head.group == group),
        )
        for key, title, group, column in _TABLES
    )


def _line(row: HplMeasurement, column: str, catalogue: Catalogue) -> Line:
    asked = hpl_question(row, catalogue)
    assert not isinstance(asked, str), f"{row.head.row_id} puts no question: {asked}"
    assert row.rate is not None, f"{row.head.row_id} states no rate"
    block = P100_BLOCK if row.head.group == CLUSTER else BLOCK
    problem = Hpl(name=asked.work.name, order=asked.work.order, block=block)
    machine = rounded(asked.system) if row.head.group == CLUSTER else asked.system
    core = equivalent_core(machine.chip.name)
    models: dict[str, AbstractHplModel] = {
        "paper_original": OriginalHpl(),
        "paper_single": LayeredHpl(outermost_only=True),
        "paper_layered": LayeredHpl(core=core),
    }
    panels = PanelByPanel(constants=asked.calibration).estimate(asked.work, asked.system, asked.decision)
    return Line(
        name=row.system.removeprefix("HD-PEX P100 cluster "),
        measured=row.rate,
        paper=getattr(row, column),
        ours=models[column].estimate(problem, machine, asked.decision).rate,
        panels=panels.rate,
    )


def rounded(cluster: Cluster) -> Cluster:
    """The cluster with the peak that the paper's own figures ask for."""
    rates = {**cluster.chip.matrix_rates, "fp64": _P100_RATE}
    return replace(cluster, chip=replace(cluster.chip, matrix_rates=rates))


FIGURE_6, FIGURE_7 = ("1N1G", "1N2G", "1N3G", "1N4G"), ("4N4G", "4N8G", "4N12G")
"""Configurations of the cluster over problem sizes: one node, and four."""
_STEPS = 12
"""Problem sizes of a configuration."""


def over_sizes(names: Sequence[str], catalogue: Catalogue | None = None) -> tuple[tuple[Curve, ...], dict[str, Line]]:
    """Figures 6 and 7: rates of some configurations over N by MCL-HPL and panel by panel, and what was measured."""
    catalogue = catalogue or Catalogue()
    curves: list[Curve] = []
    measured: dict[str, Line] = {}
    for row in hpl_measurements().rows:
        name = row.system.rsplit(" ", 1)[-1]
        asked = hpl_question(row, catalogue)
        if row.head.group != CLUSTER or name not in names or isinstance(asked, str):
            continue
        measured[name] = _line(row, "paper_layered", catalogue)
        machine, most = rounded(asked.system), asked.work.order
        orders = (*(most * step // _STEPS // P100_BLOCK * P100_BLOCK for step in range(1, _STEPS)), most)
        models: dict[str, tuple[AbstractHplModel, Cluster]] = {
            "MCL-HPL": (LayeredHpl(core=core_of(machine.chip)), machine),
            "panels": (PanelByPanel(constants=asked.calibration), asked.system),
        }
        for word, (model, system) in models.items():
            rates = tuple(
                model.estimate(Hpl(name=name, order=order, block=P100_BLOCK), system, asked.decision).rate
                for order in orders
            )
            curves.append(Curve(name=f"{name}, {word}", orders=orders, rates=rates))
    return tuple(curves), measured


def figure_3(catalogue: Catalogue | None = None) -> tuple[Curve, ...]:
    """Rates of one P100 over the problem size: memory as a plain sum, as one equivalent core, and panel by panel."""
    catalogue = catalogue or Catalogue()
    cluster = rounded(catalogue.cluster("hd-pex/1"))
    grid = ProcessGrid(rows=1, columns=1)
    core = equivalent_core("p100-pcie")
    assert core is not None
    models: dict[str, AbstractHplModel] = {
        "memory as a plain sum": LayeredHpl(core=EquivalentCore(cores=1.0, words=1.0, cycles=core.cycles)),
        "one equivalent core": LayeredHpl(core=core),
        "panel by panel": PanelByPanel(constants=hpl_constants("pascal")),
    }
    return tuple(
        Curve(
            name=name,
            orders=FIGURE_3,
            rates=tuple(
                model.estimate(Hpl(name="p100", order=order, block=P100_BLOCK), cluster, grid).rate
                for order in FIGURE_3
            ),
        )
        for name, model in models.items()
    )
