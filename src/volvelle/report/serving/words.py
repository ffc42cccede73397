"""Words that answers about one engine and about two pools share."""

from math import isfinite
from typing import TYPE_CHECKING

from volvelle.estimators.result import Range
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.quantities import DOLLARS, numbered, percent, show, whole_text
from volvelle.verbs.serving.cost import ServingCost
from volvelle.verbs.serving.question import ServingQuestion
from volvelle.verbs.serving.split_question import SplitQuestion
from volvelle.workload.serving.lengths import USUAL_LENGTHS, LengthsAround, LengthsUpTo, request_lengths_value

if TYPE_CHECKING:
    from volvelle.applications.serving.load_answer import MachineAnswer


def lengths_text(question: ServingQuestion | SplitQuestion) -> str:
    """Return how long prompts and answers are."""
    return f"{numbered(question.input_tokens, 'token')} in, {question.output_tokens:,} out"


def drawn_text(lengths: str | None) -> str:
    """Return how lengths of requests vary, in brackets."""
    found = request_lengths_value(lengths or USUAL_LENGTHS)
    if isinstance(found, LengthsAround):
        return f" (each ± {percent(found.ratio, 0)})"
    return (
        f" (each from {percent(found.ratio, 0)} up to that)" if isinstance(found, LengthsUpTo) else " (fixed lengths)"
    )


def load_text(question: ServingQuestion | SplitQuestion) -> str:
    """Return the load, with lengths where it has none of its own."""
    lengths = "" if question.traced else f", {lengths_text(question)}{drawn_text(question.lengths)}"
    return f"load: {question.load}{lengths}"


def degrees_text(layout: ServingLayout) -> str:
    """Degrees above one, in brackets; nothing of a single chip."""
    degrees = {"tensor": layout.tensor, "data": layout.data, "pipeline": layout.pipeline, "expert": layout.expert}
    words = " × ".join(f"{name} {degree}" for name, degree in degrees.items() if degree > 1)
    return f" ({words})" if words else ""


def throughput_text(throughput: float, found: Range) -> str:
    """Return output tokens per second and their range."""
    return f"{whole_text(throughput)} output tokens/s   {whole_text(found.low)} … {whole_text(found.high)}"


def load_throughput_text(load: "MachineAnswer") -> str:
    """Return output tokens per second under a load, their range, and whether arrivals bound it."""
    found, throughput = load.ranges["throughput"], load.throughput or 0.0
    bound = "; no more arrive" if isfinite(load.offered) else ""
    return f"{throughput_text(throughput, found)} ({percent(found.level, 0)} interval{bound})"


def price_text(cost: ServingCost) -> str:
    """What a million output tokens cost."""
    prices = {"on owned hardware": cost.owned, "rented": cost.rented}
    if cost.owned is None and cost.rented is None:
        return "a million output tokens: no price known"
    shown = ", ".join(
        f"{how}: no price known" if dollars is None else f"{show(dollars, DOLLARS)} {how}"
        for how, dollars in prices.items()
    )
    offered = f" (at {cost.rent_offered})" if cost.rented is not None and cost.rent_offered else ""
    return f"a million output tokens: {shown}{offered}"
