"""Where the time of designs goes, part by part and resource by resource."""

from collections.abc import Mapping
from dataclasses import dataclass

from volvelle.mapping.parallelism import ParallelMapping as Layout
from volvelle.studies.answers.designs import Design
from volvelle.studies.design_space.evaluate import Evaluator


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """One design: seconds a step, or a round of the mix."""

    label: str
    design: Design
    parts: Mapping[str, float]
    """Exposed seconds by part, largest first."""
    resources: Mapping[str, float]
    """The same by what bounds them."""
    hidden: float
    """Seconds of work behind other work."""
    layouts: Mapping[str, Layout]
    """By workload."""
    memory: float
    """Bytes on the fullest chip of the workload that holds most."""
    capacity: float

    @property
    def time(self) -> float:
        """Seconds in all."""
        return sum(self.parts.values())


def breakdown(evaluator: Evaluator, design: Design, *, label: str) -> Breakdown | None:
    """A design in parts; None: it does something that is not taken apart."""
    found = evaluator.explain(design.number)
    known = [estimate for estimate in found.estimates if estimate is not None]
    if len(known) < len(found.estimates):
        return None
    parts: dict[str, float] = {}
    resources: dict[str, float] = {}
    hidden = 0.0
    for worked, estimate in zip(found.outcome.worked, known, strict=True):
        hidden += worked.weight * estimate.hidden
        for line in estimate.contributions:
            if line.exposed and line.time > 0:
                parts[line.part] = parts.get(line.part, 0.0) + worked.weight * line.time
                resources[line.resource] = resources.get(line.resource, 0.0) + worked.weight * line.time
    fullest = max(known, key=lambda estimate: estimate.memory_bytes)
    return Breakdown(
        label=label,
        design=design,
        parts=dict(sorted(parts.items(), key=lambda item: -item[1])),
        resources=dict(sorted(resources.items(), key=lambda item: -item[1])),
        hidden=hidden,
        layouts={
            worked.name: layout
            for worked, layout in zip(found.outcome.worked, found.layouts, strict=True)
            if layout is not None
        },
        memory=fullest.memory_bytes,
        capacity=fullest.capacity,
    )
