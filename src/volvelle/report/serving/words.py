"""Words that answers about one engine and about two pools share."""

from volvelle.estimators.result import Range
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.quantities import DOLLARS, numbered, show, whole_text
from volvelle.verbs.serving.cost import ServingCost
from volvelle.verbs.serving.question import ServingQuestion
from volvelle.verbs.serving.split_question import SplitQuestion


def lengths_text(question: ServingQuestion | SplitQuestion) -> str:
    """How long prompts and answers are."""
    drawn = "" if question.lengths == "fixed" else f" ({question.lengths})"
    return f"{numbered(question.input_tokens, 'token')} in, {question.output_tokens:,} out{drawn}"


def load_text(question: ServingQuestion | SplitQuestion) -> str:
    """The load; with lengths, where it has none of its own."""
    return f"load: {question.load}" + ("" if question.traced else f", {lengths_text(question)}")


def degrees_text(layout: ServingLayout) -> str:
    """Degrees above one, in brackets; nothing of a single chip."""
    degrees = {"tensor": layout.tensor, "data": layout.data, "pipeline": layout.pipeline, "expert": layout.expert}
    words = " × ".join(f"{name} {degree}" for name, degree in degrees.items() if degree > 1)
    return f" ({words})" if words else ""


def throughput_text(throughput: float, found: Range) -> str:
    """Output tokens a second and where they may lie."""
    return f"{whole_text(throughput)} output tokens/s   {whole_text(found.low)} … {whole_text(found.high)}"


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
