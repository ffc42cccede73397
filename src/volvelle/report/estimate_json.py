"""An estimate as JSON, with its schema."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from volvelle.estimators.result import Range
from volvelle.laws.citations import LAWS
from volvelle.quantities import Quantity
from volvelle.quantities import format as written
from volvelle.report.answer import Answer

__all__ = ["EstimateDocument", "estimate_json"]


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ContributionEntry(_Closed):
    """Where a part of the time goes."""

    name: str
    part: str
    seconds: float = Field(ge=0)
    exposed: bool
    resource: str
    law: str


class MemoryEntry(_Closed):
    """What a part of the memory is for."""

    name: str
    bytes: float = Field(ge=0)
    law: str


class ViolationEntry(_Closed):
    """Why the mapping cannot run."""

    name: str
    problem: str
    cures: list[str]


class RangeEntry(_Closed):
    """Where a figure lies when inputs vary."""

    low: float
    high: float
    level: float
    varied: list[str]


class MappingEntry(_Closed):
    """The layout."""

    tensor: int
    pipeline: int
    data: int
    context: int
    expert: int
    expert_tensor_parallel: bool
    hierarchical_dispatch: bool
    ulysses: bool
    micro_batch: int
    interleave: int
    schedule: Literal["1f1b", "gpipe", "zero-bubble", "dualpipe"]
    zero: int
    zero_group: int
    overlap: bool
    sequence_parallel: bool
    recompute: Literal["none", "selective", "full"]
    recompute_every: int
    fused_attention: bool
    offload: list[Literal["weights", "optimiser", "activations"]]


class InputEntry(_Closed):
    """A number the answer rests on."""

    name: str
    value: str
    low: str | None
    high: str | None
    evidence: Literal["measured", "vendor", "derived", "assumed"]
    source: str
    note: str


class LawEntry(_Closed):
    """A formula that was used."""

    name: str
    function: str
    paper: str
    place: str


class EstimateDocument(_Closed):
    """What ``volvelle estimate --json`` prints. Times in seconds, memory in bytes, energy in joules, money in USD."""

    version: Literal[1] = 1
    model: str
    parameters: int
    batch: int
    sequence: int
    system: str
    accelerators: int
    mapping: MappingEntry
    feasible: bool
    seconds: float = Field(gt=0)
    range: RangeEntry | None
    ranges: dict[str, RangeEntry]
    """Of time, memory, headroom, power, energy and dollars, as far as they are known."""
    tokens_per_second: float
    utilisation: float
    memory_bytes: float
    memory_capacity: float
    worst_rank: str
    joules: float | None
    dollars: float | None
    contributions: list[ContributionEntry]
    memory: list[MemoryEntry]
    violations: list[ViolationEntry]
    inputs: list[InputEntry]
    laws: list[LawEntry]


def _neat(value: float, kind: Quantity | None) -> str:
    """A quantity without the last digits that arithmetic left."""
    return f"{value:.10g}" if kind is None else written(float(f"{value:.10g}"), kind)


def _range(found: Range) -> RangeEntry:
    return RangeEntry(low=found.low, high=found.high, level=found.level, varied=list(found.varied))


def document(answer: Answer) -> EstimateDocument:
    """The answer as a document."""
    found = answer.estimate
    spread = found.time_range
    return EstimateDocument(
        model=answer.model,
        parameters=answer.step.model.parameters(),
        batch=answer.step.batch,
        sequence=int(answer.step.model.sizes.get("position", 1)),
        system=answer.cluster.name,
        accelerators=answer.cluster.accelerators,
        mapping=MappingEntry.model_validate(found.mapping.described()),
        feasible=found.feasible,
        seconds=found.time,
        range=None if spread is None else _range(spread),
        ranges={name: _range(one) for name, one in {**found.ranges, **answer.costs.ranges}.items()},
        tokens_per_second=found.tokens_per_second,
        utilisation=found.utilisation,
        memory_bytes=found.memory_bytes,
        memory_capacity=found.capacity,
        worst_rank=found.worst_rank,
        joules=None if answer.costs.energy is None else float(answer.costs.energy),
        dollars=None if answer.costs.dollars is None else float(answer.costs.dollars),
        contributions=[
            ContributionEntry(
                name=line.name,
                part=line.part,
                seconds=line.time,
                exposed=line.exposed,
                resource=line.resource,
                law=line.law,
            )
            for line in found.contributions
        ],
        memory=[MemoryEntry(name=part.name, bytes=part.bytes, law=part.law) for part in found.memory],
        violations=[
            ViolationEntry(name=one.name, problem=one.problem, cures=list(one.cures)) for one in found.violations
        ],
        inputs=[
            InputEntry(
                name=one.name,
                value=_neat(one.figure.value, one.kind),
                low=None if one.figure.spread is None else _neat(one.figure.bounds(0.8)[0], one.kind),
                high=None if one.figure.spread is None else _neat(one.figure.bounds(0.8)[1], one.kind),
                evidence=one.figure.evidence.word,  # type: ignore[arg-type]
                source=one.figure.source,
                note=one.figure.note,
            )
            for one in answer.inputs()
        ],
        laws=[
            LawEntry(name=name, function=LAWS[name].path, paper=LAWS[name].paper, place=LAWS[name].place)
            for name in answer.laws()
        ],
    )


def estimate_json(answer: Answer) -> str:
    """The answer as JSON text."""
    return document(answer).model_dump_json(indent=2)
