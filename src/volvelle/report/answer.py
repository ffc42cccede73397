"""Everything an answer is shown from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from volvelle.catalogue.schema import Reference
from volvelle.economics.step_cost import Costs
from volvelle.estimators.result import TrainingEstimate
from volvelle.laws.citations import LAWS
from volvelle.quantities import BYTES, BYTES_PER_SECOND, FLOP_PER_SECOND, FRACTION, SECONDS, Quantity
from volvelle.spread import Figure
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep

__all__ = ["Answer", "Input"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """A number the answer rests on."""

    name: str
    figure: Figure
    kind: Quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An estimate with its question and its sources."""

    model: str
    step: TrainingStep
    cluster: Cluster
    estimate: TrainingEstimate
    costs: Costs
    references: Mapping[str, Reference]

    def inputs(self) -> Iterator[Input]:
        """The machine's numbers that the estimate uses, with their provenance."""
        chip = self.cluster.chip
        element = next(
            (name for name in (self.step.element, "bf16", "fp16") if name in chip.matrix_rates),
            self.step.element,
        )
        wanted = [
            (f"chip: dense {element} rate", chip.figures.get(f"matrix_rates.{element}"), FLOP_PER_SECOND),
            ("chip: sustained share of that", chip.figures.get("matrix_efficiency"), FRACTION),
            ("chip: fused attention, of that", chip.figures.get("attention_efficiency"), FRACTION),
            ("chip: SM share taken by communication", chip.figures.get("communication_sm_share"), FRACTION),
            ("chip: kernel launch", chip.figures.get("kernel_launch_time"), SECONDS),
            ("chip: host, a kernel", chip.figures.get("host_dispatch_time"), SECONDS),
            ("chip: memory rate", chip.figures.get("memories.0.rate"), BYTES_PER_SECOND),
            ("chip: sustained share of that", chip.figures.get("memory_efficiency"), FRACTION),
            ("chip: memory", chip.figures.get("memories.0.capacity"), BYTES),
            ("chip: on-chip buffer", chip.figures.get("buffer"), BYTES),
        ]
        for dimension in self.cluster.dimensions:
            if dimension.size > 1:
                figures = dimension.link.figures
                wanted += [
                    (f"{dimension.name}: link rate", figures.get("rate"), BYTES_PER_SECOND),
                    (f"{dimension.name}: sustained share", figures.get("efficiency"), FRACTION),
                    (f"{dimension.name}: one step", figures.get("latency"), SECONDS),
                    (f"{dimension.name}: launch", figures.get("setup"), SECONDS),
                    (f"{dimension.name}: filling", figures.get("fill"), SECONDS),
                    (f"{dimension.name}: contention", figures.get("contention"), FRACTION),
                ]
        for name, figure, kind in wanted:
            if figure is not None:
                yield Input(name=name, figure=figure, kind=kind)

    def laws(self) -> list[str]:
        """Names of the laws used, in order of appearance."""
        names = [line.law for line in self.estimate.contributions] + [part.law for part in self.estimate.memory]
        return list(dict.fromkeys(name for name in names if name in LAWS))

    def cite(self, key: str) -> str:
        """A short citation."""
        reference = self.references.get(key)
        if reference is None:
            return key
        first = reference.authors.split(",")[0].split(" et al")[0].strip()
        return f"{first} {reference.year}"
