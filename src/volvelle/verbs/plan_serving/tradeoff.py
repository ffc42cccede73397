"""Speed of a user against output of a chip: every layout under rising parts of the load."""

from dataclasses import dataclass

from volvelle.applications.serving.goodput import Trial
from volvelle.verbs.plan_serving.plan import ServingPlan
from volvelle.verbs.plan_serving.screening import GroupScreen
from volvelle.verbs.serving.question import ServingQuestion

_PARTS = (0.03, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95)
"""Of what a closed form allows a rank within the limits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TradeoffPoint:
    """A layout under a part of the load."""

    question: ServingQuestion
    tokens_per_user: float
    """Output tokens a second that a user gets after the first, in the mean."""
    tokens_per_chip: float
    """Output tokens a second."""
    kept: bool
    """Whether the limits are."""
    on_front: bool = False


def tradeoff(plan: ServingPlan) -> tuple[TradeoffPoint, ...]:
    """Points of all layouts that a request alone is served by within limits; those on the front are marked."""
    points: list[TradeoffPoint] = []
    chosen = {option.question.changed(on=option.cluster.name) for option in plan.options}
    for group in plan.considered.groups:
        screen = GroupScreen(plan.search, group, {})
        question = next((one for one in group.questions if one in chosen), group.questions[0])
        bounds, bound = screen.bounds(question)
        if not bounds.possible:
            continue
        chips = group.layout.chips / group.layout.data
        for part in _PARTS:
            one: Trial = screen.trial(question, part * bound, whole=True)
            if one.stable and one.tpot > 0.0:
                points.append(
                    TradeoffPoint(
                        question=question,
                        tokens_per_user=1.0 / one.tpot,
                        tokens_per_chip=one.throughput / chips,
                        kept=one.kept,
                    )
                )
    return _with_front(points)


def _with_front(points: list[TradeoffPoint]) -> tuple[TradeoffPoint, ...]:
    """Marked where no other point is better for the user and for the chip."""
    best = 0.0
    front: set[int] = set()
    for place in sorted(range(len(points)), key=lambda place: (-points[place].tokens_per_user, place)):
        if points[place].tokens_per_chip > best:
            best = points[place].tokens_per_chip
            front.add(place)
    return tuple(
        TradeoffPoint(
            question=point.question,
            tokens_per_user=point.tokens_per_user,
            tokens_per_chip=point.tokens_per_chip,
            kept=point.kept,
            on_front=place in front,
        )
        for place, point in enumerate(points)
    )
