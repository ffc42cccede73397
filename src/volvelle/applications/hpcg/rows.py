"""From a measured HPCG row to the question it puts to the model, with what had to be assumed."""

from dataclasses import dataclass

from volvelle.applications.hpcg.estimator import HpcgRun
from volvelle.applications.hpcg.measurements import HpcgMeasurement

__all__ = ["HpcgQuestion", "hpcg_question"]

_FAMILIES = (
    ("P100", "pascal"),
    ("V100", "volta"),
    ("A100", "ampere"),
    ("GH200", "hopper"),
    ("GB200", "blackwell"),
    ("GB300", "blackwell"),
    ("H100", "hopper"),
    ("H200", "hopper"),
    ("H800", "hopper"),
    ("H20", "hopper"),
    ("B200", "blackwell"),
    ("B300", "blackwell"),
    ("MI210", "cdna2"),
    ("MI250", "cdna2"),
    ("MI300", "cdna3"),
    ("MI325", "cdna3"),
    ("MI355", "cdna4"),
    ("PVC", "ponte-vecchio"),
    ("GPU MAX", "ponte-vecchio"),
    ("A64FX", "a64fx"),
    ("SPARC64", "sparc64"),
    ("EPYC 7742", "zen2"),
)
"""What a device is called in lists → its family; the first that occurs in the name counts."""

_HOSTS = ("a64fx", "sparc64", "zen2")
_IN_A_NODE = 4
"""Accelerators of a node, where a row does not say: the most common in the lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HpcgQuestion:
    """A run and the family of its devices."""

    run: HpcgRun
    family: str
    date: str
    """Year and month; the middle of the year where only that is stated, empty where nothing is."""
    assumed: tuple[str, ...]


def hpcg_question(row: HpcgMeasurement) -> HpcgQuestion | str:
    """The question a row puts, or why it puts none."""
    if row.head.split == "excluded":
        return f"excluded: {row.head.excluded_because}"
    if row.rate is None:
        return "it states no HPCG rate"
    if row.devices is None or row.memory_rate is None:
        return "it does not state how many devices it has, or their memory rate"
    named = row.device.upper()
    family = next((family for name, family in _FAMILIES if name in named), None)
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
    run = HpcgRun(devices=row.devices, nodes=nodes, memory_rate=row.memory_rate, ranks_per_device=ranks)
    date = f"{row.date}06" if len(row.date) == 4 else row.date
    return HpcgQuestion(run=run, family=family, date=date, assumed=tuple(assumed))
