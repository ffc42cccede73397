"""What ``volvelle estimate --json`` prints."""

from typing import Literal

from volvelle.estimators.result import MemoryPart, Range, Violation
from volvelle.estimators.training.resource_use import ResourceUse
from volvelle.report.documents.compare import DifferenceEntry
from volvelle.report.documents.document import Document, at
from volvelle.report.documents.layout import LayoutEntry
from volvelle.report.documents.range_of_step import ModelErrorEntry
from volvelle.report.documents.run import RunEntry
from volvelle.verbs.stragglers import Straggler


class MapContributionEntry(Document):
    """Where a part of the time goes."""

    name: str
    part: str
    seconds: float = at("time")
    exposed: bool
    resource: str


class ContributionEntry(MapContributionEntry):
    """Where a part of the time goes."""

    law: str


class InputEntry(Document):
    """A number the answer rests on."""

    name: str
    value: str
    low: str | None
    high: str | None
    evidence: Literal["measured", "vendor", "derived", "assumed"] = at("figure.evidence.word")
    source: str = at("figure.source")
    note: str = at("figure.note")


class LawEntry(Document):
    """A formula that was used."""

    name: str
    function: str = at("path")
    paper: str
    place: str


class NearRunEntry(Document):
    """A measured run like the one asked about."""

    row_id: str
    model: str
    accelerator: str
    chips: int
    error: float
    """Of its prediction, relative to what was measured."""
    source: str


class TrainedEntry(Document):
    """What of the model is trained, and what that keeps beside the weights."""

    trainable_parameters: int
    trainable_share: float
    frozen_bytes: float
    adapter_rank: int
    adapter_targets: list[str]
    frozen_element: str | None
    frozen_parts: list[str]
    frozen_layers: int
    optimizer: str
    optimizer_bytes: float
    gradient_element: str
    keys_per_query: float | None


class LayerExchangeEntry(Document):
    """A collective of a layer; figures are of one run."""

    collective: str
    axis: str
    """Which chips exchange."""
    bytes: float
    """Of the tensor on which the group works."""
    seconds: float = at("time")
    exposed_seconds: float = at("exposed")
    per_step: bool
    """Once a step; else once a micro-batch."""


class LayerEntry(Document):
    """One operation in one phase, on a chip of the slowest stage; figures are of one run."""

    block: str
    operation: str = at("layer")
    phase: Literal["forward", "recomputation", "input gradient", "weight gradient"]
    repeats: float = at("layers")
    """Repetitions of the block on that stage."""
    micro_batches: float
    """Runs of each in a step."""
    flops: float
    bytes: float
    """Moved between chip and memory."""
    seconds: float = at("time")
    """Of its kernels."""
    exchanges: list[LayerExchangeEntry]


class EstimateDocument(Document):
    """One training step. Times in seconds, memory in bytes, energy in joules, money in USD."""

    model: str
    parameters: int
    trained: TrainedEntry
    flops: float
    batch: int = at("step.batch")
    sequence: int
    system: str = at("cluster.name")
    accelerators: int = at("cluster.accelerators")
    notes: list[str]
    """The defaults that were used, and the facts that the machine lacks."""
    estimator: str
    """Who gave the time: closed (formulas), or event (a replay of every kernel and transfer)."""
    stragglers: list[Straggler]
    """Pipeline stages that have a slower chip, as they were given."""
    seconds_without_stragglers: float | None
    """The same step with all chips at full speed; None: no stragglers were given."""
    replay_correlation: float | None = at("estimate.facts.replay_correlation", None)
    """Of replays of sampled machines with the closed form, which carries them on to all; None: none were asked for."""
    stack: str
    """The software it is about; empty: as the chip's constants say."""
    stack_timed: bool
    """Whether that software was timed on such chips."""
    other_stacks: dict[str, float]
    """Other software that was timed on such chips → seconds of the same step."""
    nearest_runs: list[NearRunEntry]
    """Measured runs that are most like it, nearest first."""
    mapping: LayoutEntry = at("estimate.mapping")  # type: ignore[valid-type]
    feasible: bool = at("estimate.feasible")
    seconds: float | None = at("speed.time", None)
    """None, as all that follows from it: counts do not divide, so there is no such layout."""
    range: Range | None = at("speed.time_range", None)
    model_error: ModelErrorEntry | None = at("basis.model_error", None)
    """What the model's share of the range of the time rests on; None: nothing was measured on such chips."""
    outside_calibration: list[str] = at("basis.outside")
    """Ways in which the question leaves what calibration runs tell of; each widens the range."""
    unpriced: list[str] = at("basis.unpriced")
    """What the model has that nothing prices; the range is wider by what runs of such models are off."""
    weakest_evidence: str = at("basis.weakest_evidence")
    """Grade of the weakest number of the machine that the answer rests on."""
    ranges: dict[str, Range]
    """Of time, memory, headroom, power, energy and dollars, as far as they are known."""
    tokens_per_second: float | None = at("speed.tokens_per_second", None)
    utilisation: float | None = at("speed.utilisation", None)
    memory_utilisation: float | None
    """Bytes moved in a step over what the memory could have moved."""
    network_utilisation: float | None = at("busiest_link.utilisation", None)
    """The same of the level of the network that is used most; None: there is no network."""
    resource_use: list[ResourceUse]
    """Of the memory, then of every level of the network, innermost first."""
    memory_bytes: float = at("estimate.memory_bytes")
    memory_capacity: float = at("estimate.capacity")
    memory_margin: float = at("estimate.margin")
    """Share of the capacity that is left free before it is said to fit."""
    fits_probability: float | None = at("estimate.fits")
    """That the fullest rank fits the chip, nothing left free."""
    host_memory_bytes: float | None = at("host_memory_bytes")
    """What a chip has in the memory of its host; None: nothing."""
    host_memory_capacity: float | None = at("cluster.host_memory")
    """A chip's share of it; None: not known."""
    worst_rank: str = at("estimate.worst_rank")
    joules: float | None = at("costs.energy")
    usd: float | None = at("costs.dollars")
    run: RunEntry | None
    """Of all tokens, where they were given."""
    difference: DifferenceEntry | None
    """From the machine as it is, where some of its numbers were set."""
    contributions: list[ContributionEntry] = at("speed.contributions", [])
    layer_phases: list[LayerEntry]
    """The same layer by layer and phase by phase; nothing where there is no such layout."""
    memory: list[MemoryPart] = at("estimate.memory")
    violations: list[Violation] = at("estimate.violations")
    inputs: list[InputEntry]
    laws: list[LawEntry]
