"""What would change the answer: the first option again on chips that are better in one way, or in other formats."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from volvelle.applications.serving.goodput import Trial, largest_share, trial
from volvelle.applications.serving.instance import Instance
from volvelle.applications.serving.other_chips import on_other_chips
from volvelle.applications.serving.rate_bounds import StepFloors, bounds_under
from volvelle.errors import VolvelleError
from volvelle.verbs.plan_serving.options import ServingOption
from volvelle.verbs.plan_serving.screening import Search

_CHANGES: Mapping[str, Mapping[str, float]] = {
    "memory bandwidth × 1.25": {"memory_rate": 1.25},
    "memory × 1.25": {"capacity": 1.25},
    "matrix units × 1.25": {"matrix_rate": 1.25},
    "link bandwidth × 2": {"link_rate": 2.0},
    "link latency ÷ 2": {"link_latency": 0.5},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GoodputChange:
    """What one change does to the goodput of the same layout."""

    name: str
    goodput: float
    """Times what it was."""
    replicas: int
    """That the load needs then."""


def sensitivities(search: Search, option: ServingOption) -> tuple[GoodputChange, ...]:
    """All changes, the one that helps most first."""
    found = []
    before = share_of_rank(search, option.instance)
    data = option.instance.layout.data
    for name, instance in _changed(search, option):
        share = share_of_rank(search, instance)
        if share > 0.0 and before > 0.0:
            replicas = max(1, -int(-1.0 / (share * data) // 1))
            found.append(GoodputChange(name=name, goodput=share / before, replicas=replicas))
    return tuple(sorted(found, key=lambda change: -change.goodput))


def share_of_rank(search: Search, instance: Instance) -> float:
    """The largest part of the load that a rank of an instance serves within limits."""
    floors = StepFloors(instance, search.asked.part(1.0), seed=search.asked.seed)
    bounds, bound = bounds_under(search.asked.load, instance.rules(), floors, search.limits)
    if not bounds.possible:
        return 0.0

    @cache
    def tried(share: float) -> Trial:
        return trial(instance, search.asked, search.limits, share)

    return largest_share(tried, bound=bound).share


def _changed(search: Search, option: ServingOption) -> Iterator[tuple[str, Instance]]:
    for name, change in _CHANGES.items():
        if option.instance.layout.chips > 1 or not name.startswith("link"):
            yield name, on_other_chips(option.instance, **change)
    question = option.question.changed(on=option.cluster.name)
    for name, changes in (("KV cache in fp8", {"kv": "fp8"}), ("weights in fp8", {"weights": "fp8"})):
        other = question.changed(**changes)
        if other != question and question.weights in ("bf16", "fp16", "fp8"):
            try:
                yield name, other.instance(search.catalogue, search.shape, option.cluster)
            except VolvelleError:
                continue
