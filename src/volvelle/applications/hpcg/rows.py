"""What a measured HPCG run states, and the question it puts to the model, with what had to be assumed."""

from dataclasses import dataclass
from pathlib import Path

from volvelle.applications.contract import Question
from volvelle.applications.hpcg.constants import hpcg_factors, hpcg_families
from volvelle.applications.hpcg.estimator import Hpcg, HpcgFactors, HpcgLayout
from volvelle.applications.measured_table import MeasuredTable, RowHead, read_columns
from volvelle.applications.table_cells import column
from volvelle.catalogue import Catalogue
from volvelle.catalogue.aliases import accelerator_alias
from volvelle.domains import BYTE_RATE, SIZE
from volvelle.system.chip import Chip, Memory
from volvelle.system.cluster import Cluster, Dimension
from volvelle.system.link import Link
from volvelle.system.topologies import FatTree


@dataclass(frozen=True, slots=True, kw_only=True)
class HpcgMeasurement:
    """One HPCG run, as its source states it."""

    head: RowHead
    system: str
    date: str
    """Year and month, such as 2022-06 or 202206; the year alone where no month is stated."""
    device: str = column("unit_type", needed=True)
    """Kind of accelerator or processor."""
    devices: int | None = column("n_units", needed=True)
    nodes: int | None
    ranks_per_node: int | None = column("ranks_per_node", "units")
    memory_rate: float | None = column("mem_bw_gbs_per_unit", scale=1e9, needed=True)
    """Peak of one device, bytes per second."""
    memory_rate_basis: str = column("mem_bw_basis")
    rate: float | None = column("hpcg_tflops", scale=1e12, measured=True)
    """FLOP per second of the whole run."""


def hpcg_measurements(file: Path | None = None) -> MeasuredTable[HpcgMeasurement]:
    """All rows: those of the package, or those of one file (``.csv``, or ``.csv.gz``)."""
    return read_columns("hpcg", HpcgMeasurement, file=file)


_HOSTS = ("a64fx", "sparc64", "zen2")
_IN_A_NODE = 4
"""Accelerators of a node, where a row does not say: the most common in the lists."""


HpcgQuestion = Question[Hpcg, HpcgLayout, HpcgFactors]
"""A run on a machine, with the factors of its family and date."""


def device_family(device: str, catalogue: Catalogue) -> str | None:
    """The family of a device by what lists call it; None where there are no constants for it."""
    alias = accelerator_alias(device)
    if alias is None:
        return None
    family = alias.family or (catalogue.chip_file(alias.chip).family if alias.chip else None)
    return family if family in hpcg_families() else None


def hpcg_question(row: HpcgMeasurement, catalogue: Catalogue) -> HpcgQuestion | str:
    """The question a row puts, or why it puts none."""
    if row.head.split == "excluded":
        return f"excluded: {row.head.excluded_because}"
    if row.rate is None:
        return "it states no HPCG rate"
    if row.devices is None or row.memory_rate is None:
        return "it does not state how many devices it has, or their memory rate"
    family = device_family(row.device, catalogue)
    if family is None:
        return f"there are no constants of HPCG for {row.device!r}"
    assumed = []
    host = family in _HOSTS
    nodes = row.nodes
    if nodes is None:
        nodes = row.devices if host else max(1, round(row.devices / _IN_A_NODE))
        assumed.append("one device a node" if host else f"{_IN_A_NODE} devices a node")
    if "assumed" in row.memory_rate_basis or "recalled" in row.memory_rate_basis:
        assumed.append("memory rate")
    ranks = 1.0
    if host:
        # A rank a core is what lists of processors run; it draws all of the memory rate.
        ranks = float(row.ranks_per_node or 10_000)
    factors = hpcg_factors(family, date=build_date(row))
    return Question(
        candidates=((Hpcg(), HpcgLayout(nodes=nodes, ranks_per_device=ranks)),),
        system=_machine(row, row.devices, row.memory_rate),
        calibration=factors,
        assumed=tuple(assumed),
        outside=() if factors.fitted else (f"no fitted run was on {family}",),
    )


def build_date(row: HpcgMeasurement) -> str:
    """Year and month of a run; the middle of the year where only that is stated, empty where nothing is."""
    digits = row.date.replace("-", "")
    return f"{digits}06" if len(digits) == 4 else digits


def _machine(row: HpcgMeasurement, devices: int, memory_rate: float) -> Cluster:
    """As much of a machine as a row states: devices and the rate of their memory."""
    memory = Memory(name="memory", capacity=SIZE.most, rate=memory_rate)
    chip = Chip(name=row.device, matrix_rates={}, vector_rates={}, buffer=SIZE.least, memories=(memory,))
    joined = Dimension(
        name="network", size=devices, topology=FatTree(), link=Link(name="unstated", rate=BYTE_RATE.most)
    )
    return Cluster(name=f"{row.system or 'unnamed'}/{devices}", chip=chip, dimensions=(joined,))
