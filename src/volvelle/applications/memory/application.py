"""Memory of training runs as an application.

Korthikanti et al. (2022) give, for four models of Megatron-LM, what weights and optimiser take and what activations
take, with and without selective recomputation and sequence parallelism. Shares are of the same layout without either.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, final

from volvelle.applications.contract import Application, Question
from volvelle.applications.measured_table import MeasuredTable, RowHead, by_columns, read_table
from volvelle.applications.table_cells import column
from volvelle.catalogue import Catalogue
from volvelle.estimators.calibration import with_constants
from volvelle.estimators.contract import Estimator, TrainingEstimator
from volvelle.estimators.result import Estimate
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.mapping.parallelism import ParallelMapping, Recompute
from volvelle.quantities import Quantity
from volvelle.system.cluster import Cluster
from volvelle.workload.families.transformer import transformer
from volvelle.workload.training import TrainingStep

_GIB = 2.0**30
_STATES = ("weights", "gradients", "optimiser state")
_ACTIVATIONS = ("activations",)
_SHARE = "activation memory % of no-recompute"
_QUANTITIES = ("params+optimizer GiB", "activations GiB", _SHARE)

# The paper's models as the catalogue names them, and its virtual stages (table 3).
_MODELS = {
    "megatron-22B": ("megatron-22b", 1),
    "gpt3-175B": ("gpt3-175b", 3),
    "turing-530B": ("megatron-530b", 3),
    "megatron-1T": ("megatron-1t", 1),
}
# What is recomputed, and whether positions are split over the tensor-parallel chips.
_VARIANTS = {
    "none": (Recompute.NONE, False),
    "seq": (Recompute.NONE, True),
    "sel": (Recompute.SELECTIVE, False),
    "seqsel": (Recompute.SELECTIVE, True),
    "full": (Recompute.FULL, False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryMeasurement:
    """One measured amount of memory."""

    head: RowHead
    model: str
    layers: int | None = column("n_layers")
    hidden: int | None
    sequence: int | None = column("seq")
    tensor: int | None = column("TP")
    pipeline: int | None = column("PP")
    data: int | None = column("DP")
    micro_batch: int | None
    recompute: str
    value: float
    """In the unit that the quantity names."""

    @property
    def quantity(self) -> str:
        """What was measured; amounts of one quantity are scored together."""
        return self.head.group


def memory_measurements(file: Path | None = None) -> MeasuredTable[MemoryMeasurement]:
    """All rows. Those of shares state no layout; it is that of the same model's other rows."""
    table = read_table(
        "llm_memory", _measurement, needed=("row_id", "model", "recompute", "quantity"), measured=("value",), file=file
    )
    stating = {row.model: row for row in table.rows if row.tensor is not None}
    names = ("layers", "hidden", "sequence", "tensor", "pipeline", "data", "micro_batch")
    rows = (
        row
        if row.tensor is not None or row.model not in stating
        else replace(row, **{name: getattr(stating[row.model], name) for name in names})
        for row in table.rows
    )
    return MeasuredTable(rows=tuple(rows), unread=table.unread)


def _measurement(head: RowHead, row: Mapping[str, str]) -> MemoryMeasurement:
    return by_columns(MemoryMeasurement)(replace(head, group=row["quantity"]), row)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A step, and which amount of its memory is asked for."""

    step: TrainingStep
    quantity: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOf(Estimator[Remembered, ParallelMapping]):
    """An amount of memory by any estimator of training steps, in the unit that the quantity names."""

    estimator: TrainingEstimator = field(default_factory=ClosedForm)

    def estimate(
        self, asked: Remembered, system: Cluster, mapping: ParallelMapping
    ) -> Estimate[Remembered, ParallelMapping]:
        """The estimate of the step, with the amount as a figure."""
        whole = self.estimator.estimate(asked.step, system, mapping)
        if asked.quantity == _SHARE:
            plain = replace(mapping, recompute=Recompute.NONE, sequence_parallel=False)
            kept = self.estimator.estimate(asked.step, system, plain)
            amount = 100.0 * _bytes(whole, _ACTIVATIONS) / _bytes(kept, _ACTIVATIONS)
        else:
            amount = _bytes(whole, _STATES if asked.quantity.startswith("params") else _ACTIVATIONS) / _GIB
        return Estimate(
            workload=asked,
            decision=mapping,
            contributions=whole.contributions,
            memory=whole.memory,
            capacity=whole.capacity,
            facts={"amount": amount},
        )


class Memory(Application[MemoryMeasurement, Remembered, ParallelMapping, None]):
    """What weights, optimiser and activations take, against published amounts."""

    word: ClassVar[str] = "memory"
    about: ClassVar[str] = "Memory against published amounts."
    unit: ClassVar[str] = "as the quantity says"
    quantity: ClassVar[Quantity | None] = None
    figure: ClassVar[str] = "amount"

    rows = staticmethod(memory_measurements)

    def question(
        self, row: MemoryMeasurement, catalogue: Catalogue
    ) -> Question[Remembered, ParallelMapping, None] | str:
        """The layout behind an amount."""
        if row.model not in _MODELS or row.recompute not in _VARIANTS:
            return f"no layout is known for {row.model!r} with recomputation {row.recompute!r}"
        if row.tensor is None:
            return "no row states the layout of this model"
        if row.quantity not in _QUANTITIES:
            return f"the quantity {row.quantity!r} is not known"
        if row.quantity == _SHARE and row.recompute == "none":
            return "100 % by definition"
        name, interleave = _MODELS[row.model]
        shape = replace(catalogue.model(name), dropout=True)
        shape = replace(
            shape,
            layers=row.layers or shape.layers,
            hidden=row.hidden or shape.hidden,
            sequence=row.sequence or shape.sequence,
        )
        recompute, sequence_parallel = _VARIANTS[row.recompute]
        mapping = ParallelMapping(
            tensor=row.tensor or 1,
            pipeline=row.pipeline or 1,
            data=row.data or 1,
            micro_batch=row.micro_batch or 1,
            interleave=interleave,
            zero=0,
            sequence_parallel=sequence_parallel,
            recompute=recompute,
            fused_attention=False,
        )
        # Many more micro-batches than stages, as in the paper's runs: they do not limit what is in flight.
        step = TrainingStep(
            model=transformer(shape),
            batch=mapping.micro_batch * mapping.data * mapping.pipeline * 8,
            element="fp16",
            weight_element="fp16",
        )
        # What a loss takes beside the logits is small by the paper's section 4.3, and left out of its amounts.
        system = with_constants(catalogue.cluster(f"dgx-a100/{mapping.chips}"), {"loss_bytes": 0.0})
        return Question(
            candidates=((Remembered(step=step, quantity=row.quantity), mapping),),
            system=system,
            calibration=None,
        )

    def estimator(self, calibration: None = None) -> Estimator[Remembered, ParallelMapping]:
        """The closed form's memory."""
        return MemoryOf()

    def measured(self, row: MemoryMeasurement) -> float | None:
        """In the unit that the quantity names."""
        return row.value

    def label(self, row: MemoryMeasurement, question: Question[Remembered, ParallelMapping, None]) -> str:
        """The model and what was recomputed."""
        return f"{row.model}, recomputation {row.recompute}"

    def details(self, row: MemoryMeasurement) -> Mapping[str, object]:
        """The same for JSON."""
        return {"model": row.model, "recompute": row.recompute}


def _bytes(answer: Estimate[TrainingStep, ParallelMapping], parts: Sequence[str]) -> float:
    return sum(part.bytes for part in answer.memory if part.name in parts)


MEMORY = Memory()
