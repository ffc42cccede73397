"""From a measured HPCG row to the question it puts to the model, with what had to be assumed."""

from math import inf

from volvelle.applications.contract import Question
from volvelle.applications.hpcg.constants import hpcg_factors, hpcg_families
from volvelle.applications.hpcg.estimator import Hpcg, HpcgFactors, HpcgLayout
from volvelle.applications.hpcg.measurements import HpcgMeasurement
from volvelle.catalogue import Catalogue
from volvelle.catalogue.aliases import accelerator_alias
from volvelle.system.chip import Chip, Memory
from volvelle.system.cluster import Cluster, Dimension
from volvelle.system.link import Link
from volvelle.system.topologies import FatTree

__all__ = ["HpcgQuestion", "build_date", "device_family", "hpcg_question"]

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
    memory = Memory(name="memory", capacity=inf, rate=memory_rate)
    chip = Chip(name=row.device, matrix_rates={}, vector_rates={}, buffer=0.0, memories=(memory,))
    joined = Dimension(name="network", size=devices, topology=FatTree(), link=Link(name="unstated", rate=inf))
    return Cluster(name=f"{row.system or 'unnamed'}/{devices}", chip=chip, dimensions=(joined,))
