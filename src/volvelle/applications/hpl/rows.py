"""From a measured run of High-Performance Linpack to the question put to a model: problem, cluster, grid, constants.

What a row states is taken; what it does not state is decided here and in `hpl_servers`, and named in
`HplQuestion.assumed`. P × Q not stated: not drawn out, for which up to 3 % of the chips may idle; P ≥ Q with the builds
of NVIDIA for tensor cores, whose own input files have it so, P ≤ Q else. The block not stated: that of the family's
constants, or for a matrix larger than memory the best up to the largest in use.
"""

import re
from dataclasses import replace

from volvelle.applications.contract import Question
from volvelle.applications.hpl.constants import hpl_constants
from volvelle.applications.hpl.measurements import HplMeasurement
from volvelle.applications.hpl.panels import HplConstants, PanelByPanel
from volvelle.applications.hpl.servers import is_card_server, node_facts, port_rate
from volvelle.catalogue import Catalogue
from volvelle.catalogue.aliases import accelerator_alias
from volvelle.errors import VolvelleError
from volvelle.estimators.calibration import CalibratedCluster
from volvelle.laws.hpl.closed_form import hpl_memory
from volvelle.mapping.process_grid import ProcessGrid, usable_grid
from volvelle.system.chip import Chip
from volvelle.system.cluster import Cluster, Dimension
from volvelle.system.link import Link
from volvelle.system.topologies import FatTree, FullyConnected
from volvelle.workload.families.hpl import Hpl

__all__ = ["HplQuestion", "hpl_question"]


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
    name = _that_fits(row, name, catalogue)
    chip, family = catalogue.chip(name), catalogue.chip_file(name).family
    constants = hpl_constants(family, date=row.date.replace("-", ""))
    chips = row.chips if row.chips is not None else round((row.host_cores or 0) / _A64FX_CORES)
    if name == "a64fx" and row.peak is not None:  # runs in boost mode are listed with its peak
        chip = replace(chip, matrix_rates={**chip.matrix_rates, "fp64": row.peak / chips})
    dies = 2 if name == "mi250x-gcd" else 1
    assumed: list[str] = []
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
    watts = {"500W": 500.0, "DGX-2H": 450.0, "MaxQ": 163.0}
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
