"""Which reading of the paper makes several layers better than one: inputs and readings changed one after another.

Kim et al. find that several layers cut the mean error over eight systems from 18.6 to 7.5 %. Their equations with a
process's own share of a node's ports do not: one layer and several then differ by a percent. Two readings, neither of
which the paper states, bring both figures back: every process has the whole network of its node to itself, and every
panel goes through the accelerator's memory, so that the first layer spans the whole matrix and not, as equations 18 and
19 say, the part that one accelerator holds. The second is told without a free input: the network that Table 2's column
of one layer needs, solved for each system, leaves nothing open in its column of several.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from volvelle.applications.hpl.closed_forms import LayeredHpl
from volvelle.applications.hpl.constants import core_of
from volvelle.applications.hpl.rows import HplMeasurement, HplQuestion, hpl_measurements, hpl_question
from volvelle.catalogue import Catalogue
from volvelle.mapping.process_grid import ProcessGrid, usable_grid
from volvelle.reproductions.mcl_hpl.study import BLOCK, CLUSTER, P100_BLOCK, SYSTEMS, rounded
from volvelle.system.cluster import Cluster
from volvelle.workload.families.hpl import Hpl

_PETA = 1e15
_PRINTED: dict[str, tuple[int, float, int, int]] = {
    "Fugaku": (152_064, 513.85, 20_486_016, 20_486_016),
    "Summit": (27_648, 205.97, 16_470_144, 16_470_144),
    "Sierra": (17_280, 128.73, 11_756_160, 11_756_160),
    "HPC5": (7_280, 51.44, 5_722_368, 5_722_368),
    "Selene": (1_760, 34.31, 3_368_064, 3_382_272),
    "Marconi": (3_920, 29.50, 2_728_320, 2_728_320),
    "Piz Daint": (5_704, 27.15, 3_756_288, 3_756_288),
    "DGX SuperPOD": (1_536, 11.19, 2_478_336, 2_478_336),
}
"""Table 2: accelerators (nodes of Table 1 by those of a node), PFLOP/s of their peak, N with one layer and several."""

UNPUBLISHED = (
    ("NB", f"{BLOCK} on the eight systems, {P100_BLOCK} on the P100 cluster, for all of a table"),
    ("P × Q", "not drawn out, P ≤ Q; on the P100 cluster P ≥ Q"),
    ("α of every link", "the catalogue's latencies: 0.5 µs in a node by NVLink, 2.5 by PCIe, 1 to 5 µs between nodes"),
    (
        "β of every link",
        "the catalogue's rates; whether a process has a port to itself or a share is the second reading",
    ),
    ("α of memory", "1029 cycles, which the paper takes for P100, for every chip"),
    ("cores and words", "of V100, A100 and A64FX: data sheets; the paper prints those of P100"),
    ("node grids", "as square as can be, P and Q followed where a side is prime: one of two ways to read its rule"),
)
"""What the paper does not print, and what stands for it here."""


_LATENCY = 1e-6
"""Seconds of a network, where its rate is solved for: more, and three of the eight systems have no rate at all."""
_BISECTIONS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemReading:
    """One row of the paper's tables, read in one way."""

    name: str
    measured: float
    paper_one: float | None
    paper_several: float | None
    one: float | None
    """FLOP/s with one layer; None on the P100 cluster, for which the paper prints none."""
    several: float
    network: float
    """Bytes a second that one process gets of the outermost network."""
    ports: float
    """Of all ports of its node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One way to read the paper."""

    name: str
    systems: tuple[SystemReading, ...]
    cluster: tuple[SystemReading, ...] = ()
    """The P100 cluster; empty where the paper prints nothing to solve for."""

    def error(self, layers: str, *, of: str = "systems", paper: bool = False) -> float | None:
        """Mean error of ``one`` layer or ``several``, against what was measured or what the paper prints."""
        against = f"paper_{layers}" if paper else "measured"
        pairs = [(getattr(row, layers), getattr(row, against)) for row in getattr(self, of)]
        errors = [abs(value / other - 1.0) for value, other in pairs if value is not None and other is not None]
        return sum(errors) / len(errors) if errors else None


Read = Callable[[HplMeasurement, bool], tuple[Hpl, Cluster, ProcessGrid]]
"""What is asked of a row, for several layers or for one."""


def readings(catalogue: Catalogue | None = None) -> tuple[Reading, ...]:
    """From the catalogue's figures to the paper's."""
    catalogue = catalogue or Catalogue()
    rows = [row for row in hpl_measurements().rows if row.head.group in (SYSTEMS, CLUSTER)]
    questions = {row.head.row_id: _question(row, catalogue) for row in rows}
    networks = {
        row.head.row_id: _network_for(row.paper_single, *_as_printed(row, questions[row.head.row_id], several=False))
        for row in rows
        if row.paper_single is not None
    }

    def here(row: HplMeasurement, several: bool) -> tuple[Hpl, Cluster, ProcessGrid]:
        asked = questions[row.head.row_id]
        block, system = BLOCK, asked.system
        if row.head.group == CLUSTER:
            block, system = P100_BLOCK, rounded(system)
        return replace(asked.work, block=block), system, asked.decision

    def ports(row: HplMeasurement, several: bool) -> tuple[Hpl, Cluster, ProcessGrid]:
        problem, system, grid = here(row, several)
        return problem, whole_network(system), grid

    def solved(row: HplMeasurement, several: bool) -> tuple[Hpl, Cluster, ProcessGrid]:
        problem, system, grid = _as_printed(row, questions[row.head.row_id], several=several)
        return problem, with_network(system, networks[row.head.row_id]), grid

    def reading(
        name: str, read: Read, *, of: tuple[str, ...] = (SYSTEMS, CLUSTER), whole_memory: bool = False
    ) -> Reading:
        told = [
            _told(row, questions[row.head.row_id].system, read, whole_memory=whole_memory)
            for row in rows
            if row.head.group in of
        ]
        return Reading(
            name=name,
            systems=tuple(row for row in told if row.one is not None),
            cluster=tuple(row for row in told if row.one is None),
        )

    return (
        reading("as here: ports are shared", here),
        reading("all ports for every process", ports),
        reading("and memory over the whole matrix", ports, whole_memory=True),
        reading("the network one layer needs", solved, of=(SYSTEMS,)),
        reading("this and memory over all", solved, of=(SYSTEMS,), whole_memory=True),
    )


def whole_network(system: Cluster) -> Cluster:
    """The machine as if each process had the ports of its node to itself, at the rates that data sheets print."""
    node = system.spans[-2] if len(system.dimensions) > 1 else 1
    *inner, last = system.dimensions
    full = replace(last, link=replace(last.link, rate=last.link.rate * node))
    printed = (replace(each.link, rate=each.link.rate**2 / each.link.sustained) for each in (*inner, full))
    dimensions = tuple(replace(each, link=link) for each, link in zip((*inner, full), printed, strict=True))
    return replace(system, dimensions=dimensions)


def with_network(system: Cluster, rate: float) -> Cluster:
    """The machine with an outermost network that gives a process so many bytes a second."""
    *inner, last = system.dimensions
    link = replace(last.link, latency=_LATENCY, rate=rate * last.link.rate / last.link.sustained)
    return replace(system, dimensions=(*inner, replace(last, link=link)))


def _network_for(rate: float, problem: Hpl, system: Cluster, grid: ProcessGrid) -> float:
    """Bytes a second for a process at which one layer makes a rate, by bisection."""
    low, high = 1e8, 1e13
    for _ in range(_BISECTIONS):
        middle = (low * high) ** 0.5
        found = LayeredHpl(outermost_only=True).estimate(problem, with_network(system, middle), grid).rate
        low, high = (middle, high) if found < rate else (low, middle)
    return high


def _told(row: HplMeasurement, described: Cluster, read: Read, *, whole_memory: bool) -> SystemReading:
    assert row.rate is not None, row.head.row_id
    problem, system, grid = read(row, True)
    several = LayeredHpl(core=core_of(system.chip), whole_memory=whole_memory).estimate(problem, system, grid).rate
    one = None if row.head.group == CLUSTER else LayeredHpl(outermost_only=True).estimate(*read(row, False)).rate
    node = described.spans[-2] if len(described.dimensions) > 1 else 1
    return SystemReading(
        name=row.system.removeprefix("HD-PEX P100 cluster "),
        measured=row.rate,
        paper_one=row.paper_single,
        paper_several=row.paper_layered,
        one=one,
        several=several,
        network=float(system.dimensions[-1].link.sustained),
        ports=float(described.dimensions[-1].link.rate * node),
    )


def _question(row: HplMeasurement, catalogue: Catalogue) -> HplQuestion:
    asked = hpl_question(row, catalogue)
    assert not isinstance(asked, str), f"{row.head.row_id} puts no question: {asked}"
    return asked


def _as_printed(row: HplMeasurement, asked: HplQuestion, *, several: bool) -> tuple[Hpl, Cluster, ProcessGrid]:
    """The accelerators, the peak and N that Table 2 prints."""
    chips, peak, single, layered = next(each for words, each in _PRINTED.items() if row.system.startswith(words))
    rates = {**asked.system.chip.matrix_rates, "fp64": peak * _PETA / chips}
    chip = replace(asked.system.chip, matrix_rates=rates)
    small, large = usable_grid(chips)
    node = asked.system.spans[-2] if len(asked.system.dimensions) > 1 else 1
    *inner, last = asked.system.dimensions
    system = replace(asked.system, chip=chip, dimensions=(*inner, replace(last, size=chips // node)))
    order = layered if several else single
    return Hpl(name=asked.work.name, order=order, block=BLOCK), system, ProcessGrid.for_nodes(small, large, node=node)
