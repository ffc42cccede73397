"""What ``volvelle scale --json`` prints."""

from typing import Literal

from pydantic import create_model

from volvelle.estimators.result import Range
from volvelle.report.documents.document import Document, at
from volvelle.report.documents.layout import layout_fields
from volvelle.report.documents.range_of_step import RangeOfStep


class _ScaledStep(RangeOfStep):
    seconds: float = at("time")
    range: Range | None
    utilisation: float
    tokens_per_second: float
    parts: dict[str, float]


ScaledStepEntry = create_model(
    "ScaledStepEntry",
    __base__=_ScaledStep,
    __doc__="The fastest layout on so many accelerators.",
    **layout_fields("mapping."),
)


class ScalePointEntry(Document):
    """A count of accelerators."""

    accelerators: int
    batch: int
    scaling_efficiency: float | None = at("efficiency")
    problem: str
    step: ScaledStepEntry | None  # type: ignore[valid-type]


class MeasuredRunEntry(Document):
    """A published run of the same model on chips of the same family."""

    accelerators: int = at("chips")
    accelerator: str
    utilisation: float
    left_out_error: float
    source: str


class ScaleDocument(Document):
    """How the training of a model scales. Times in seconds."""

    model: str
    system: str
    growth: Literal["strong", "weak"]
    sequence: int
    points: list[ScalePointEntry]
    breaks_at: int | None = at("breaks.accelerators", None)
    breaks_on: str = at("culprit")
    baseline_seconds: list[float | None] | None
    measured: list[MeasuredRunEntry]
    notes: list[str]
