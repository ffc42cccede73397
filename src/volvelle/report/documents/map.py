"""What ``volvelle map GRAPH --json`` prints."""

from typing import Annotated

from pydantic import BeforeValidator

from volvelle.estimators.result import MemoryPart, Range, Violation
from volvelle.report.documents.document import Document, at
from volvelle.report.documents.estimate import MapContributionEntry
from volvelle.report.documents.layout import LayoutEntry
from volvelle.report.documents.range_of_step import ModelErrorEntry
from volvelle.search.certificate import SearchCounts
from volvelle.search.graph.answer import Limit


class GroupEntry(Document):
    """Chips that work together along an axis: how many, and how many along each network dimension."""

    degree: int
    spans: Annotated[dict[str, int], BeforeValidator(dict)]


class ExchangeEntry(Document):
    """A tensor that chips exchange."""

    collective: str = at("collective.value")
    tensor: str
    phase: str = at("phase.value")


class PartitionEntry(Document):
    """Kernels that run together on a chip: seconds, bytes of SRAM, bytes to and from memory."""

    kernels: list[str]
    seconds: float = at("time")
    compute: float
    memory: float
    network: float
    sram: float
    traffic: float


class BlockEntry(Document):
    """One block: which dimension splits each kernel, what is exchanged, what runs together."""

    name: str
    repeat: int
    tile: int | None
    splits: dict[str, str | None] = at("sharded.dims")
    exchanges: list[ExchangeEntry] = at("sharded.conversions")
    partitions: list[PartitionEntry]


class PieceEntry(Document):
    """Copies of a block on a stage."""

    block: str
    first: int
    copies: int
    partitions: list[int] | None


class StageEntry(Document):
    """A pipeline stage: seconds a micro-batch, bytes of memory."""

    seconds: float = at("time")
    hand_over: float
    memory_bytes: float
    memory: list[MemoryPart]
    pieces: list[PieceEntry]


def _by_axis(groups: object) -> object:
    return {group.axis: group for group in groups} if isinstance(groups, tuple) else groups


class MapDocument(Document):
    """The best mapping of a graph, every decision, and the certificate. Times in seconds, memory in bytes.

    Without a mapping, what describes one is null, and `violations` say why.
    """

    workload: str = at("mapping.workload")
    graph: str
    execution: str
    parameters: int
    flops: float
    system: str = at("mapping.cluster")
    accelerators: int = at("mapping.chips")
    feasible: bool = at("mapping.feasible")
    proven: bool = at("mapping.proven")
    bound: float | None = at("mapping.bound")
    gap: float | None = at("mapping.gap")
    search_seconds: float = at("mapping.seconds")
    counts: SearchCounts = at("mapping.counts")
    violations: list[Violation] = at("mapping.violations")
    seconds: float | None = at("mapping.plan.time", None)
    range: Range | None = at("sure.ranges.time", None)
    """Where the time of this mapping lies; a proof is of its centre."""
    ranges: dict[str, Range]
    """Of time, memory, headroom, capex, power, energy, dollars, flops_per_usd and flops_per_joule, as far as they are
    known; of money and power with all prices and powers at one end at once."""
    model_error: ModelErrorEntry | None = at("sure.basis.model_error", None)
    """What the model's share of the range rests on; None: nothing was measured of such mappings."""
    weakest_evidence: str | None = at("sure.basis.weakest_evidence", None)
    """Grade of the weakest number of the machine that the answer rests on."""
    fits_probability: float | None = at("sure.fits", None)
    """That the fullest stage fits the chip, nothing left free."""
    baseline_seconds: float | None = at("baseline.mapping.plan.time", None)
    """On the machine as it is, where some of its numbers were set."""
    utilisation: float | None = at("mapping.plan.utilisation", None)
    throughput: float | None = at("mapping.plan.throughput", None)
    capex_usd: float | None = at("cost.machine_usd")
    """Purchase price of the machine; null, as all of its costs, where the price model does not know it."""
    power_watts: float | None = at("cost.power")
    joules: float | None = at("cost.energy")
    usd: float | None = at("cost.step_usd")
    flops_per_usd: float | None = at("cost.flops_per_usd")
    flops_per_joule: float | None = at("cost.flops_per_joule")
    price_model: str = at("cost.model")
    unpriced: str = at("cost.missing")
    """Why there is no price; empty: there is one."""
    memory_bytes: float | None = at("mapping.plan.memory_bytes", None)
    memory_capacity: float | None = at("mapping.plan.capacity", None)
    degrees: Annotated[dict[str, GroupEntry] | None, BeforeValidator(_by_axis)] = at(
        "mapping.plan.degrees.groups", None
    )
    layout: LayoutEntry | None = at("mapping.plan.mapping", None)  # type: ignore[valid-type]
    contributions: list[MapContributionEntry] | None = at("mapping.plan.contributions", None)
    limits: list[Limit] | None = at("mapping.plan.limits", None)
    blocks: list[BlockEntry] | None = at("mapping.plan.blocks", None)
    stages: list[StageEntry] | None = at("mapping.plan.stages", None)
