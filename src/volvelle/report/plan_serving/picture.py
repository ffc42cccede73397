"""Tokens a second of a chip against tokens a second of a user, of every layout under rising load."""

from collections.abc import Sequence

from volvelle.report.figures.axes import Measure
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.front import FrontPoint, front_chart
from volvelle.report.figures.theme import WIDE
from volvelle.report.plan_serving.words import degrees_text, formats_text, title_text
from volvelle.verbs.plan_serving.plan import ServingPlan
from volvelle.verbs.plan_serving.tradeoff import TradeoffPoint

_KEPT, _BROKEN = "within the limits", "beyond the limits"


def tradeoff_picture(plan: ServingPlan, points: Sequence[TradeoffPoint], *, width: float = WIDE) -> Chart:
    """The picture of some points."""
    cloud = [_point(point) for point in points if not point.on_front]
    front = [_point(point) for point in points if point.on_front]
    marks = []
    best = plan.best
    if best is not None:
        marks.append((best.tokens_per_user, best.tokens_per_chip, f"chosen: {degrees_text(best.question)}"))
    users = [point.tokens_per_user for point in points] + [mark[0] for mark in marks]
    chips = [point.tokens_per_chip for point in points] + [mark[1] for mark in marks]
    return front_chart(
        cloud,
        front,
        marks,
        across=Measure.over(users, name="output tokens/s of a user", margin=0.05),
        up=Measure.over(chips, name="output tokens/s of a chip", margin=0.05),
        less=(False, False),
        title=f"{title_text(plan)}: what a user gets, what a chip gives",
        about="Every layout under rising load: output tokens a second of a user against those of a chip.",
        others="other layouts and loads",
        kinds=(_KEPT, _BROKEN),
        kinds_are="whether all limits are kept",
        width=width,
    )


def _point(point: TradeoffPoint) -> FrontPoint:
    question = point.question
    return FrontPoint(
        x=point.tokens_per_user,
        y=point.tokens_per_chip,
        kind=_KEPT if point.kept else _BROKEN,
        tells=f"{question.on}: {degrees_text(question)}, {formats_text(question)}",
    )
