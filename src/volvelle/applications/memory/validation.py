"""An estimator's memory held against measured amounts of it.

Korthikanti et al. (2022) give, for four models of Megatron-LM, what weights and optimiser take and what activations
take, with and without selective recomputation and sequence parallelism. Shares are of the same layout without either.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from volvelle.applications.training.measurements import MemoryMeasurement, memory_measurements
from volvelle.catalogue import Catalogue
from volvelle.errors import VolvelleError
from volvelle.estimators.contract import AbstractEstimator
from volvelle.estimators.result import Estimate
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.mapping.parallelism import ParallelMapping, Recompute
from volvelle.workload.families.transformer import transformer
from volvelle.workload.training import TrainingStep

__all__ = [
    "MemoryScore",
    "MemoryValidation",
    "ScoredMemory",
    "SkippedMemory",
    "memory_document",
    "memory_score",
    "validate_memory",
]

_GIB = 2.0**30
_STATES = ("weights", "gradients", "optimiser state")
_ACTIVATIONS = ("activations",)

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
class ScoredMemory:
    """One measured amount and what the estimator says, in the unit of the quantity."""

    row: MemoryMeasurement
    predicted: float

    @property
    def error(self) -> float:
        """Relative to what was measured; above zero where the estimator takes more."""
        return self.predicted / self.row.value - 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedMemory:
    """A row that could not be predicted, and why."""

    row: MemoryMeasurement
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryScore:
    """How far off the estimator is on some rows; NaN where there are none."""

    quantity: str
    rows: int
    skipped: int
    median_abs_error: float
    mean_abs_error: float
    bias: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryValidation:
    """All rows, scored or skipped."""

    rows: tuple[ScoredMemory, ...]
    skipped: tuple[SkippedMemory, ...]

    def overall(self) -> MemoryScore:
        """Over all quantities."""
        return memory_score(self.rows, skipped=len(self.skipped))

    def quantities(self) -> tuple[MemoryScore, ...]:
        """One score a quantity, worst first."""
        measured = [*(each.row for each in self.rows), *(each.row for each in self.skipped)]
        names = dict.fromkeys(row.quantity for row in measured)
        found = [
            memory_score(
                [each for each in self.rows if each.row.quantity == name],
                skipped=sum(each.row.quantity == name for each in self.skipped),
                quantity=name,
            )
            for name in names
        ]
        return tuple(sorted(found, key=lambda score: -np.nan_to_num(score.mean_abs_error, nan=-1.0)))


def memory_score(rows: Sequence[ScoredMemory], *, skipped: int = 0, quantity: str = "") -> MemoryScore:
    """Median, mean and signed mean of the relative errors."""
    errors = np.array([each.error for each in rows] or [np.nan])
    return MemoryScore(
        quantity=quantity,
        rows=len(rows),
        skipped=skipped,
        median_abs_error=float(np.median(np.abs(errors))),
        mean_abs_error=float(np.mean(np.abs(errors))),
        bias=float(np.mean(errors)),
    )


def validate_memory(
    rows: Iterable[MemoryMeasurement] | None = None,
    *,
    estimator: AbstractEstimator | None = None,
    catalogue: Catalogue | None = None,
) -> MemoryValidation:
    """Predict every measured amount, and say of every other why not."""
    measured = tuple(memory_measurements() if rows is None else rows)
    judge = _Judge(estimator or ClosedForm(), catalogue or Catalogue(), measured)
    scored: list[ScoredMemory] = []
    skipped: list[SkippedMemory] = []
    for row in measured:
        try:
            found = judge.predicted(row)
        except VolvelleError as error:
            found = str(error)
        if isinstance(found, str):
            skipped.append(SkippedMemory(row=row, reason=found))
        else:
            scored.append(ScoredMemory(row=row, predicted=found))
    return MemoryValidation(rows=tuple(scored), skipped=tuple(skipped))


def memory_document(found: MemoryValidation) -> dict[str, object]:
    """A validation as plain values, for JSON."""
    return {
        "overall": _numbers(found.overall()),
        "groups": [{"group": each.quantity, **_numbers(each)} for each in found.quantities()],
        "rows": [
            {
                "row_id": each.row.row_id,
                "group": each.row.quantity,
                "split": each.row.split,
                "model": each.row.model,
                "recompute": each.row.recompute,
                "measured": each.row.value,
                "predicted": each.predicted,
                "error": each.error,
            }
            for each in found.rows
        ],
        "skipped": [{"row_id": each.row.row_id, "reason": each.reason} for each in found.skipped],
    }


def _numbers(score: MemoryScore) -> dict[str, object]:
    values = {name: float(getattr(score, name)) for name in ("median_abs_error", "mean_abs_error", "bias")}
    return {
        "rows": score.rows,
        "skipped": score.skipped,
        **{name: None if np.isnan(value) else value for name, value in values.items()},
    }


class _Judge:
    """Asks the estimator for the layouts behind the rows."""

    def __init__(self, estimator: AbstractEstimator, catalogue: Catalogue, rows: Iterable[MemoryMeasurement]) -> None:
        self._estimator = estimator
        self._catalogue = catalogue
        # Rows of shares state no layout; it is that of the same model's other rows.
        self._layouts = {row.model: row for row in rows if row.tensor is not None}

    def predicted(self, row: MemoryMeasurement) -> float | str:
        """In the row's own unit, or why not."""
        if row.model not in _MODELS or row.recompute not in _VARIANTS:
            return f"no layout is known for {row.model!r} with recomputation {row.recompute!r}"
        layout = row if row.tensor is not None else self._layouts.get(row.model)
        if layout is None:
            return "no row states the layout of this model"
        if row.quantity == "params+optimizer GiB":
            return _bytes(self._asked(layout, row.recompute), _STATES) / _GIB
        activations = _bytes(self._asked(layout, row.recompute), _ACTIVATIONS)
        if row.quantity == "activations GiB":
            return activations / _GIB
        if row.quantity == "activation memory % of no-recompute":
            if row.recompute == "none":
                return "100 % by definition"
            return 100.0 * activations / _bytes(self._asked(layout, "none"), _ACTIVATIONS)
        return f"the quantity {row.quantity!r} is not known"

    def _asked(self, row: MemoryMeasurement, variant: str) -> Estimate:
        name, interleave = _MODELS[row.model]
        shape = replace(self._catalogue.model(name), dropout=True)
        shape = replace(
            shape,
            layers=row.layers or shape.layers,
            hidden=row.hidden or shape.hidden,
            sequence=row.sequence or shape.sequence,
        )
        recompute, sequence_parallel = _VARIANTS[variant]
        pipeline = row.pipeline or 1
        mapping = ParallelMapping(
            tensor=row.tensor or 1,
            pipeline=pipeline,
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
            batch=mapping.micro_batch * mapping.data * pipeline * 8,
            element="fp16",
            weight_element="fp16",
        )
        return self._estimator.estimate(step, self._catalogue.cluster(f"dgx-a100/{mapping.chips}"), mapping)


def _bytes(answer: Estimate, parts: Sequence[str]) -> float:
    return sum(part.bytes for part in answer.memory if part.name in parts)
