"""What a measured run of High-Performance Linpack states, and the question put to a model.

Two sets of columns are understood and told apart by the header: that of ``hpl.csv.gz`` (single runs) and that of
``hpl_top500.csv.gz`` (entries of the TOP500). What every column means is said in ``data/measurements/README.md``.

What a row states is taken; what it does not state is decided here and in `hpl_servers`, and named in
`HplQuestion.assumed`. P × Q not stated: not drawn out, for which up to 3 % of the chips may idle; P ≥ Q with the builds
of NVIDIA for tensor cores, whose own input files have it so, P ≤ Q else. The block not stated: that of the family's
constants, or for a matrix larger than memory the best up to the largest in use.
"""

import re
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path

from volvelle.applications.contract import Question
from volvelle.applications.hpl.constants import hpl_constants
from volvelle.applications.hpl.panels import HplConstants, PanelByPanel
from volvelle.applications.hpl.servers import is_card_server, node_facts, port_rate
from volvelle.applications.measured_table import MeasuredTable, RowHead, by_columns, joined, read_table
from volvelle.applications.table_cells import column, table_text
from volvelle.catalogue import Catalogue
from volvelle.catalogue.aliases import accelerator_alias
from volvelle.errors import VolvelleError
from volvelle.estimators.calibration import CalibratedCluster
from volvelle.laws.hpl.closed_form import hpl_memory, hpl_work
from volvelle.laws.hpl.panels import least_network_time
from volvelle.mapping.process_grid import ProcessGrid, usable_grid
from volvelle.quantities import BYTES_PER_SECOND, SECONDS, show
from volvelle.system.chip import Chip
from volvelle.system.cluster import Cluster, Dimension
from volvelle.system.link import Link
from volvelle.system.topologies import FatTree, FullyConnected
from volvelle.workload.families.hpl import Hpl

_TERA = 1e12
_KILO = 1e3


@dataclass(frozen=True, slots=True, kw_only=True)
class HplMeasurement:
    """One measured run, as its source states it; what is not stated is None or empty."""

    head: RowHead
    system: str = column("system", "name", "site")
    computer: str = column("computer", "system")
    """The servers, in words."""
    processor: str = column("cpu", "processor")
    accelerator: str = column("accel", "accelerator")
    date: str = column("date", "list")
    """Year and month of the run or of the list."""
    chips: int | None = column("n_accel", "n_accel_derived")
    nodes: int | None
    chips_per_node: int | None = column("accel_per_node")
    total_cores: float | None
    accelerator_cores: float | None = column("accel_cores", zero=True)
    inside: str = column("interconnect_l2")
    """What joins accelerators of a node, in words."""
    network: str = column("interconnect_l3", "interconnect")
    order: int | None = column("N")
    block: int | None = column("NB")
    rows: int | None = column("P")
    columns: int | None = column("Q")
    rate: float | None = column("rmax_tflops", scale=_TERA)
    """FLOP/s, as measured."""
    peak: float | None = column("rpeak_tflops", scale=_TERA)
    power: float | None = column("power_kw", scale=_KILO)
    """Watts of the machine during the run, as listed: no PUE."""
    paper_layered: float | None = column("paper_layered_tflops", scale=_TERA)
    """What Kim et al. print for their layered model, FLOP/s."""
    paper_single: float | None = column("paper_single_layer_tflops", scale=_TERA)
    paper_original: float | None = column("paper_original_tflops", scale=_TERA)

    @property
    def host_cores(self) -> float | None:
        """Of all nodes."""
        return None if self.total_cores is None else self.total_cores - (self.accelerator_cores or 0.0)


def hpl_measurements(file: Path | None = None) -> MeasuredTable[HplMeasurement]:
    """All rows: those of the package, or those of one file (``.csv``, or ``.csv.gz``)."""
    if file is not None:
        return _top500(file) if "n_accel_derived" in table_text(file).partition("\n")[0] else _runs(file)
    return joined(_runs(None), _top500(None))


def _runs(file: Path | None) -> MeasuredTable[HplMeasurement]:
    needed = ("row_id", "accel", "n_accel", "N")
    return read_table("hpl", by_columns(HplMeasurement), needed=needed, measured=("rmax_tflops",), file=file)


def _top500(file: Path | None) -> MeasuredTable[HplMeasurement]:
    needed = ("row_id", "accelerator", "n_accel_derived", "interconnect", "N")
    return read_table("hpl_top500", by_columns(HplMeasurement), needed=needed, measured=("rmax_tflops",), file=file)


HplQuestion = Question[Hpl, ProcessGrid, HplConstants]
"""What a model is asked for one measured run."""


_AS_CARD = {
    "a100-sxm4-40gb": "a100-pcie-40gb",
    "a100-sxm4-80gb": "a100-pcie-80gb",
    "v100-sxm2-32gb": "v100-pcie-32gb",
    "p100-sxm2": "p100-pcie",
}
_INSIDE = {
    "pascal": "nvlink1",
    "volta": "nvlink2",
    "ampere": "nvlink3",
    "hopper": "nvlink4",
    "blackwell": "nvlink5",
    "cdna2": "infinity-fabric-mi250x",
    "cdna3": "infinity-fabric-mi300a",
    "cdna4": "infinity-fabric-mi355x",
    "ponte-vecchio": "xe-link",
}
_NAMED = {
    "Fugaku": "fugaku",
    "Summit": "summit",
    "Sierra": "sierra",
    "HPC5": "hpc5",
    "Selene": "selene",
    "Marconi": "marconi100",
    "Piz Daint": "piz-daint",
    "DGX SuperPOD": "dgx-superpod-v100",
}
"""Systems of Kim et al. and their entries in the catalogue."""
_A64FX_CORES = 48
_BOARD = 8
"""Accelerators on a board of the vendor's own eight-way design."""
_LARGER = {"a100-sxm4-40gb": "a100-sxm4-80gb", "v100-sxm2-16gb": "v100-sxm2-32gb"}
_LISTED_IN_FULL = frozenset({"pascal", "volta", "ampere", "hopper", "blackwell"})
"""Families whose peak is listed with their matrix units, where they have some."""
_HALF = 0.65
"""Share of the accelerators' peak below which a listed one is that of half of them, or of their plain units."""
_TALL = frozenset({"ampere", "hopper", "blackwell"})
"""Families whose input files, as the vendor ships them, have P ≥ Q."""


def hpl_question(row: HplMeasurement, catalogue: Catalogue) -> HplQuestion | str:
    """What to ask for a row, or why nothing can be asked."""
    if row.head.split == "excluded":
        return f"excluded: {row.head.excluded_because}"
    if row.order is None or row.rate is None:
        return "the row states no N" if row.order is None else "the row states no rate"
    alias = accelerator_alias(row.accelerator)
    name = None if alias is None else alias.chip
    cpu = "A64FX" in row.processor
    if name is None and not cpu:
        return "no accelerator of the catalogue" if row.accelerator else "no accelerator is stated"
    if row.chips is None and not cpu:
        return "the number of accelerators is not stated"
    try:
        return _asked(row, name or "a64fx", catalogue)
    except VolvelleError as error:
        return str(error)


def _asked(row: HplMeasurement, name: str, catalogue: Catalogue) -> HplQuestion:
    assert row.order is not None
    if is_card_server(row.computer) and name in _AS_CARD:
        name = _AS_CARD[name]
    if "DGX-2" in row.computer and name.startswith("v100"):
        name = "v100-sxm3-32gb"
    name = _that_fits(row, name, catalogue)
    chip, family = catalogue.chip(name), catalogue.chip_file(name).family
    constants = hpl_constants(family, date=row.date.replace("-", ""))
    assumed: list[str] = []
    row, chip = _as_its_peak_says(row, chip, family, assumed)
    assert row.order is not None
    chips = row.chips if row.chips is not None else round((row.host_cores or 0) / _A64FX_CORES)
    if name == "a64fx" and row.peak is not None:  # runs in boost mode are listed with its peak
        chip = replace(chip, matrix_rates={**chip.matrix_rates, "fp64": row.peak / chips})
    dies = 2 if name == "mi250x-gcd" else 1
    cluster = _cluster(row, chip, family, chips * dies, dies, catalogue, assumed)
    chip = cluster.chip
    if row.rows and row.columns:
        rows, columns = row.rows, row.columns
    else:
        columns, rows = usable_grid(cluster.accelerators)
        if family not in _TALL and row.head.group != "kim2021-table-5":
            rows, columns = columns, rows
        assumed.append(f"{rows} × {columns} processes")
    node = cluster.spans[-2] if len(cluster.dimensions) > 1 else 1
    grid = ProcessGrid.for_nodes(rows, columns, node=node)
    problem = Hpl(name=row.head.row_id, order=row.order, block=min(row.block or constants.block, row.order))
    if row.block is None:
        problem = _with_block(problem, cluster, grid, constants)
        assumed.append(f"NB {problem.block}")
    return Question(candidates=((problem, grid),), system=cluster, calibration=constants, assumed=tuple(assumed))


def _as_its_peak_says(row: HplMeasurement, chip: Chip, family: str, assumed: list[str]) -> tuple[HplMeasurement, Chip]:
    """A row whose listed peak is about half of its accelerators': it ran without matrix units, or counts them twice."""
    if row.peak is None or not row.chips or family not in _LISTED_IN_FULL or row.head.group != "top500":
        return row, chip
    whole, plain = float(chip.matrix_rate("fp64")), float(chip.vector_rates.get("fp64", 0.0))
    if row.peak >= _HALF * row.chips * whole:
        return row, chip
    if 0.0 < plain <= _HALF * whole:
        assumed.append("no matrix units, as the listed peak has none")
        return row, replace(chip, matrix_rates={**chip.matrix_rates, "fp64": plain})
    assumed.append("half of the accelerators, as the listed peak has no more")
    return replace(row, chips=max(1, row.chips // 2)), chip


def _with_block(problem: Hpl, cluster: Cluster, grid: ProcessGrid, constants: HplConstants) -> Hpl:
    """The block where none is stated: the family's; for a matrix larger than memory the best up to the largest used."""
    if float(hpl_memory(float(problem.order))) <= cluster.chip.memory.capacity * cluster.accelerators:
        return problem
    tried = [problem]
    while tried[-1].block * 2 <= constants.spilled_block:
        tried.append(replace(problem, block=tried[-1].block * 2))
    model = PanelByPanel(constants=constants)
    return min(tried, key=lambda each: model.estimate(each, cluster, grid).time)


def _that_fits(row: HplMeasurement, name: str, catalogue: Catalogue) -> str:
    """The part with more memory where only that holds the matrix: lists name the wrong one at times."""
    if name not in _LARGER or row.order is None or row.chips is None:
        return name
    share = float(hpl_memory(float(row.order))) / row.chips
    fits = catalogue.chip(name).memory.capacity < share <= catalogue.chip(_LARGER[name]).memory.capacity
    return _LARGER[name] if fits else name


def _cluster(
    row: HplMeasurement, chip: Chip, family: str, chips: int, dies: int, catalogue: Catalogue, assumed: list[str]
) -> Cluster:
    """The machine of a row: nodes, ports and memory as stated or as sold, or the catalogue's own entry."""
    known = next((entry for words, entry in _NAMED.items() if row.system.startswith(words)), None)
    if known is not None and row.head.group == "kim2021-tables-1-2":
        return replace(
            catalogue.with_chip(catalogue.cluster(f"{known}/{chips}"), chip.name), chip=_as_described(row, chip)
        )
    rate, named = port_rate(row.network, family)
    if not named and row.network:
        assumed.append(f"ports of {rate * 8e-9:.0f} Gb/s")
    if row.chips_per_node is not None:
        each = row.chips_per_node * dies
        rails = re.search(r"(\d)x ", row.network)
        ports = int(rails[1]) if rails else 2 if "dual" in row.network.lower() else 1
        if each >= _BOARD and "NVLink" in row.inside:  # the vendor's own design has eight ports
            ports = _BOARD
    else:
        cores = row.host_cores / row.chips if row.host_cores and row.chips else None
        facts = node_facts(
            computer=row.computer, processor=row.processor, network=row.network, family=family, cores=cores
        )
        assumed += facts.assumed
        each, ports = facts.accelerators * dies, facts.ports
    each = max(divisor for divisor in range(1, min(each, chips) + 1) if chips % divisor == 0)
    chip = _as_described(row, chip)
    base = catalogue.link("infiniband-edr")
    network = replace(base, name=row.network or "network", rate=rate * ports / each)
    card = "PCIe" in row.inside or "pcie" in chip.name or chip.name == "titan-v"
    inside: Link = catalogue.link("pcie3-x16" if card else _INSIDE.get(family, "pcie4-x16"))
    dimensions = [Dimension(name="network", size=chips // each, topology=FatTree(), link=network)]
    if each > 1:
        dimensions.insert(0, Dimension(name="node", size=each, topology=FullyConnected(), link=inside))
    # One slot for all where the row says so; else four uplinks a node, as in servers of eight with two a switch.
    shared = each if "shared uplink" in row.inside else max(1.0, each / 4.0)
    return CalibratedCluster(
        name=f"{row.system or row.head.row_id}/{chips}",
        calibrations=catalogue.calibrations(chip.name),
        chip=chip,
        dimensions=tuple(dimensions),
        host_rate=_host_rate(row, family, catalogue) / shared,
    )


def _as_described(row: HplMeasurement, chip: Chip) -> Chip:
    """The chip with the memory and the power limit that the row's words tell."""
    text = f"{row.accelerator} {row.computer}"
    if "H100" in text and re.search("94 ?G", text):
        chip = replace(chip, memories=(replace(chip.memory, capacity=94 * 2.0**30),))
    if "without FP64 tensor cores" in row.head.notes:
        chip = replace(chip, matrix_rates={**chip.matrix_rates, "fp64": chip.vector_rates["fp64"]})
    watts = {"500W": 500.0, "DGX-2": 350.0, "DGX-2H": 450.0, "MaxQ": 163.0}
    for words, power in watts.items():
        if words in text:
            chip = replace(chip, power=power)
    return chip


def _host_rate(row: HplMeasurement, family: str, catalogue: Catalogue) -> float:
    """What one accelerator sustains to host memory."""
    if "POWER9" in row.processor or "AC922" in row.computer or "Summit" in row.system or "Sierra" in row.system:
        return float(catalogue.link("nvlink2-cpu-triple").sustained)
    if "GH200" in row.accelerator:
        return float(catalogue.link("nvlink-c2c").sustained)
    links = {"ampere": "pcie4-x16", "hopper": "pcie5-x16", "blackwell": "pcie5-x16"}
    return float(catalogue.link(links.get(family, "pcie3-x16")).sustained)


def beyond_its_network(row: HplMeasurement, asked: HplQuestion) -> str:
    """Why the network that a row states cannot have carried the rate that it states; empty where it can.

    The bytes that the benchmark sends, at the full rate of the ports, take longer than the whole run is said to have.
    """
    if row.rate is None or row.head.group != "top500":
        return ""
    grid, order, link = asked.decision, float(asked.work.order), asked.system.dimensions[-1].link
    needed = float(
        least_network_time(
            order,
            float(grid.rows),
            float(grid.columns),
            down=inf if grid.rows <= grid.node_rows else link.rate,
            across=inf if grid.columns <= grid.node_columns else link.rate,
        )
    )
    took = float(hpl_work(order)) / row.rate
    if needed <= took:
        return ""
    return (
        f"its {row.network} gives a process {show(float(link.rate), BYTES_PER_SECOND)}: what the benchmark sends takes "
        f"{show(needed, SECONDS)}, and the run is listed with {show(took, SECONDS)}"
    )
