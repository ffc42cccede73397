"""Where nothing serves the load within limits: what comes nearest, why not, and the smallest changes that would."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from volvelle.applications.serving.goodput import largest_share
from volvelle.errors import VolvelleError
from volvelle.quantities import SECONDS, show
from volvelle.verbs.plan_serving.options import offered_of
from volvelle.verbs.plan_serving.plan_question import ServingPlanQuestion
from volvelle.verbs.plan_serving.screening import GroupScreen, Screened, Search
from volvelle.verbs.serving.question import ServingQuestion
from volvelle.workload.serving.limits import LatencyLimit
from volvelle.workload.serving.loads import AbstractSteadyRate, Closed

_NEAR = 6
"""Layouts that are looked at again."""
_LOOSER = (1.05, 1.25)
"""Times what the nearest reaches with all chips that looser limits are tried at."""
_SLACK = 0.95
Serves = Callable[[ServingPlanQuestion], bool]
"""Whether something serves a changed question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """What comes nearest to the limits, with all chips of a machine."""

    question: ServingQuestion
    replicas: int
    figures: tuple[tuple[LatencyLimit, float], ...]
    """What each limit was held against; nothing where requests come faster than they are served."""
    excess: float
    """Times its limit that the worst is, or times what is served that comes."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingDeadEnd:
    """Why nothing serves the load within limits, and what would."""

    nearest: Nearest | None
    """None: nothing fits, so there is no figure to hold against the limits."""
    reasons: tuple[tuple[str, int], ...]
    """Reason → candidates, the commonest first."""
    cures: tuple[tuple[str, str], ...]
    """What to change, and the command; the smallest change of each kind."""


def serving_dead_end(
    search: Search, broken: Sequence[Screened], question: ServingPlanQuestion, serves: Serves
) -> ServingDeadEnd:
    """Of candidates that do not serve the load."""
    near = _nearest_first(search, broken)
    reasons = Counter(_reason(search, one) for one in broken)
    return ServingDeadEnd(
        nearest=_nearest(search, near[0]) if near else None,
        reasons=tuple(reasons.most_common()),
        cures=tuple(_cures(search, near, question, serves)),
    )


def _excess(search: Search, one: Screened) -> float:
    if one.at is not None:
        return one.at.excess
    return max((floor_ / limit.seconds for floor_, limit in zip(one.floors, search.limits, strict=False)), default=0.0)


def _nearest_first(search: Search, broken: Sequence[Screened]) -> list[Screened]:
    """Those with figures, of each group the nearest; what is served at all comes first."""
    best: dict[int, Screened] = {}

    def order(one: Screened) -> tuple[bool, bool, float]:
        return one.at is None, one.at is not None and not one.at.stable, _excess(search, one)

    for one in broken:
        known = best.get(one.group.place)
        if (one.at is not None or any(one.floors)) and (known is None or order(one) < order(known)):
            best[one.group.place] = one
    return sorted(best.values(), key=order)


def _reason(search: Search, one: Screened) -> str:
    if one.reason:
        return one.reason
    assert one.at is not None, "it was tried"
    if not one.at.stable:
        return "requests come faster than all chips serve them"
    ratios = [figure / limit.seconds for figure, limit in zip(one.at.figures, search.limits, strict=True)]
    worst = search.limits[ratios.index(max(ratios))]
    return f"{worst.name} is above {show(worst.seconds, SECONDS)} with all chips"


def _nearest(search: Search, one: Screened) -> Nearest:
    values = one.floors if one.at is None else one.at.figures
    return Nearest(
        question=one.question,
        replicas=one.group.replicas,
        figures=tuple(zip(search.limits, values, strict=False)),
        excess=_excess(search, one),
        reason=_reason(search, one),
    )


def _cures(
    search: Search, near: Sequence[Screened], question: ServingPlanQuestion, serves: Serves
) -> Iterator[tuple[str, str]]:
    for what, changed in (
        *_narrower(question),
        *_more_chips_or_less_load(search, near, question),
        *_looser(search, near, question, serves),
    ):
        if what.startswith("allow") or serves(changed):  # looser limits were tried on the way
            yield what, changed.command


def _narrower(question: ServingPlanQuestion) -> Iterator[tuple[str, ServingPlanQuestion]]:
    """Eight bits, where they were not to be considered."""
    weights = question.weights and "fp8" not in question.weights
    kv = question.kv and "fp8" not in question.kv
    if kv:
        yield "consider a KV cache in fp8", question.changed(kv=(*question.kv, "fp8"))
    if weights:
        yield "consider weights in fp8", question.changed(weights=(*question.weights, "fp8"))
    if weights and kv:
        both = {"weights": (*question.weights, "fp8"), "kv": (*question.kv, "fp8")}
        yield "consider weights and a KV cache in fp8", question.changed(**both)


def _more_chips_or_less_load(
    search: Search, near: Sequence[Screened], question: ServingPlanQuestion
) -> Iterator[tuple[str, ServingPlanQuestion]]:
    """The fewest chips of one kind that would do, and the largest part of the load that these do."""
    fewest: tuple[int, str] | None = None
    most = 0.0
    for one in [one for one in near if one.at is not None][:_NEAR]:
        screen = GroupScreen(search, one.group, {})
        kept = largest_share(screen.tried(one.question), bound=max(one.bound, 1e-9))
        if kept.share == 0.0:
            continue
        layout, kind = one.group.layout, one.group.cluster.name.partition("/")[0]
        chips = ceil(1.0 / (kept.share * layout.data) - 1e-9) * layout.chips
        node = one.group.cluster.dimensions[0].size
        chips = chips if chips <= node else -(-chips // node) * node
        if fewest is None or chips < fewest[0]:
            fewest = (chips, f"{kind}/{chips}")
        most = max(most, kept.share * layout.data * one.group.replicas)
    if fewest is not None:
        yield f"take {fewest[0]} chips", question.changed(on=(fewest[1],))
    less = _less_load(search, most * _SLACK) if 0.0 < most < 1.0 / _SLACK else None
    if less is not None:
        yield f"offer {less[0]}", question.changed(load=less[1])


def _less_load(search: Search, part: float) -> tuple[str, str] | None:
    """A part of the load in words, rounded down."""
    load, offered = search.asked.load, offered_of(search.asked) * part
    if isinstance(load, Closed):
        return (f"{int(offered)} clients", f"closed {int(offered)}") if offered >= 1 else None
    if not isinstance(load, AbstractSteadyRate):
        return None
    rate = _rounded(offered, up=False)
    words = f"poisson {rate:g}/s" if load.burstiness == 1.0 else f"gamma {rate:g}/s {load.burstiness:g}"
    return f"{rate:g} requests/s", words


def _looser(
    search: Search, near: Sequence[Screened], question: ServingPlanQuestion, serves: Serves
) -> Iterator[tuple[str, ServingPlanQuestion]]:
    """Limits that the nearest keeps with all chips; only those that it breaks are changed."""
    reached = []
    for one in near[:_NEAR]:
        screen = GroupScreen(search, one.group, {})
        at = screen.trial(one.question, 1.0 / (one.group.replicas * one.group.layout.data), whole=True)
        if at.stable:
            reached.append(at)
    if not reached:
        return
    best = min(reached, key=lambda at: at.excess)
    for times in _LOOSER:
        wanted = [
            _loosened(limit, value * times) if value * times > limit.seconds else limit
            for limit, value in zip(search.limits, best.figures, strict=True)
        ]
        changed = question.changed(slo=", ".join(map(str, wanted)))
        if serves(changed):
            yield f"allow {', '.join(str(new) for new in wanted if new not in search.limits)}", changed
            return


def _loosened(limit: LatencyLimit, seconds: float) -> LatencyLimit:
    return LatencyLimit(latency=limit.latency, percentile=limit.percentile, seconds=_rounded(seconds, up=True))


def _rounded(value: float, *, up: bool) -> float:
    """To two digits."""
    step = 10.0 ** (floor(log10(value)) - 1)
    return float(f"{(ceil(value / step - 1e-9) if up else floor(value / step + 1e-9)) * step:.12g}")


def possible(serves: Callable[[], bool]) -> bool:
    """Whether a changed question has an answer; one that makes no sense has none."""
    try:
        return serves()
    except VolvelleError:
        return False
