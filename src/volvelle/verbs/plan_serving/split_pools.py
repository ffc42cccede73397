"""The cheapest pair of pools, one for prompts and one for answers, that serves a load within limits."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import merge

from volvelle.applications.serving.goodput import HeldToLimits
from volvelle.errors import VolvelleError
from volvelle.system.cluster import Cluster
from volvelle.verbs.plan_serving.options import ServingOption
from volvelle.verbs.plan_serving.plan_question import ServingPlanQuestion
from volvelle.verbs.plan_serving.screening import Search
from volvelle.verbs.plan_serving.split_candidates import Pair, SplitKind, split_kinds
from volvelle.verbs.serving.cost import ServingCost
from volvelle.verbs.serving.split import SplitServing, answered
from volvelle.verbs.serving.split_question import SplitQuestion
from volvelle.workload.serving.limits import LatencyLimit
from volvelle.workload.serving.loads import Closed

MOST = 40
"""Pairs of pools that are simulated, and beyond them only some that take a whole machine."""
_FOR_EACH = 100
"""Pairs that are looked at for each that may be simulated: others were refused, or have a pool that is known."""
_EQUAL = 1.0 + 1e-9
"""Times as much that is no more."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SplitOption(HeldToLimits):
    """Two pools under the load."""

    serving: SplitServing
    """What ``volvelle serve`` answers of them."""
    spent: float
    """Dollars an hour, chips or watts of all chips that are used."""
    figures: tuple[tuple[LatencyLimit, float], ...]
    """What each limit was held against, TTFT with the transfer; nothing where requests come faster than served."""
    excess: float
    """The largest figure over its limit, or what comes over what is served."""

    @property
    def question(self) -> SplitQuestion:
        """Of ``volvelle serve``: its `command` looks at them."""
        return self.serving.question

    @property
    def chips(self) -> int:
        """Of both pools."""
        return self.serving.chips

    @property
    def misses(self) -> tuple[tuple[LatencyLimit, float], ...]:
        """Limits that are broken, and by which figures."""
        return tuple((limit, figure) for limit, figure in self.figures if figure > limit.seconds)

    @property
    def cost(self) -> ServingCost | None:
        """Dollars a million output tokens under the load."""
        return self.serving.cost


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SplitPools:
    """What came of looking for two pools."""

    option: SplitOption | None
    """That takes least within limits; of several, the one that stays furthest below them. None: none was found."""
    nearest: SplitOption | None
    """Where none was found, the one that comes nearest; None: no two workers fit."""
    tried: int
    """Pairs of pools that were simulated."""
    capped: bool
    """Whether pairs were left that might spend less: as many were simulated as may be."""
    left_out: tuple[str, ...] = ()
    """Why pairs could not be followed."""

    @property
    def shown(self) -> SplitOption | None:
        """What was found, or comes nearest."""
        return self.option or self.nearest


def split_pools(
    search: Search,
    question: ServingPlanQuestion,
    clusters: Sequence[Cluster],
    options: Sequence[ServingOption] = (),
    *,
    most: int = MOST,
    progress: Callable[[int, int, str], None] | None = None,
) -> SplitPools:
    """Pools in the order of what they take, until what is left takes more than what was found.

    `progress` receives how many pairs were simulated, of how many at most.
    """
    kinds = split_kinds(search, question, clusters, options)
    looked = _Looked(search)
    ordered = merge(*(kind.pairs() for kind in kinds), key=lambda pair: pair.spent)
    for place, pair in enumerate(ordered):
        if looked.best is not None and pair.spent > looked.best.spent * _EQUAL:
            break
        if looked.tried >= most or place >= _FOR_EACH * most:
            looked.capped = looked.best is None
            break
        if pair.prompts in looked.too_slow:
            continue
        if progress is not None:
            progress(looked.tried, most, "pairs of pools")
        looked.take(pair)
    if looked.best is None and (looked.capped or looked.nearest is None):
        whole = list(_whole(kinds))
        for place, pair in enumerate(whole):
            if progress is not None:
                progress(place, len(whole), "pairs of pools on the whole machine")
            looked.take(pair)
    best = None if looked.best is None else _in_full(search, looked.best)
    return SplitPools(
        option=best,
        nearest=looked.nearest if best is None else None,
        tried=looked.tried,
        capped=looked.capped,
        left_out=tuple(looked.left_out),
    )


def _whole(kinds: Sequence[SplitKind]) -> Iterator[Pair]:
    for kind in kinds:
        yield from kind.whole()


class _Looked:
    """Pools that were simulated, and what is known from them."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.best: SplitOption | None = None
        self.nearest: SplitOption | None = None
        self.tried, self.capped = 0, False
        self.left_out: dict[str, None] = {}
        self.too_slow: set[tuple[int, int]] = set()
        """Pools of prompts that break the limits by themselves, whoever decodes."""

    def take(self, pair: Pair) -> None:
        """Simulate a pair."""
        try:
            found = split_option(self.search, pair)
        except VolvelleError as error:
            self.left_out[str(error)] = None
            return
        self.tried += 1
        if found is None:
            return
        if self.nearest is None or _distance(found) < _distance(self.nearest):
            self.nearest = found
        if found.kept and (self.best is None or (found.spent, found.excess) < (self.best.spent, self.best.excess)):
            self.best = found
        # Prompts of a load that does not wait for answers are computed the same, whoever decodes.
        if not found.kept and not isinstance(self.search.asked.load, Closed) and _prompts_break(self.search, found):
            self.too_slow.add(pair.prompts)


def _distance(option: SplitOption) -> tuple[bool, float]:
    return not option.stable, option.excess


def _prompts_break(search: Search, option: SplitOption) -> bool:
    """Whether prompts alone are too slow: they pile up, or TTFT breaks a limit before any transfer."""
    load = option.serving.load
    assert load is not None, "it was followed"
    if load.unstable_pool is not None:
        return load.unstable_pool == "prefill"
    first = load.first_at_prefill
    limits = [limit for limit in search.limits if limit.latency == "ttft"]
    known = [limit for limit in limits if limit.percentile is None or limit.percentile in first.percentiles]
    return any(not limit.kept_by({"ttft": first}) for limit in known)


def split_option(search: Search, pair: Pair) -> SplitOption | None:
    """Two pools under the whole load; None: they cannot serve it."""
    laid = pair.serving(search.shape, search.catalogue)
    serving = answered(laid, search.asked.load, percentiles=_percentiles(search), rates=False)
    load = serving.load
    if load is None:
        return None
    if load.unstable is not None:
        excess = load.unstable.offered / load.unstable.sustained
        return SplitOption(serving=serving, spent=pair.spent, figures=(), excess=excess)
    figures = tuple((limit, limit.found_in(load.latencies) or 0.0) for limit in search.limits)
    excess = max(figure / limit.seconds for limit, figure in figures)
    return SplitOption(serving=serving, spent=pair.spent, figures=figures, excess=excess)


def _percentiles(search: Search) -> tuple[float, ...]:
    return tuple(limit.percentile for limit in search.limits if limit.percentile is not None)


def _in_full(search: Search, option: SplitOption) -> SplitOption:
    """The same, with what each pool sustains."""
    return replace(option, serving=answered(option.serving, search.asked.load, percentiles=_percentiles(search)))
