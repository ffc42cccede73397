"""Two pools of a plan of how to serve, in words that text, pages and notebooks share."""

from collections.abc import Iterator

from volvelle.quantities import SECONDS, numbered, show
from volvelle.report.plan_serving.words import spent_text
from volvelle.report.serving.words import price_text
from volvelle.verbs.plan_serving.plan import ServingPlan
from volvelle.verbs.plan_serving.split_pools import SplitOption

_EQUAL = 1e-9
"""Part of what is spent that is no difference."""


def split_lines(plan: ServingPlan) -> Iterator[str]:
    """The pools that were found, or the nearest, and how they stand beside instances that do both."""
    found = plan.split_pools
    if found is None:
        return
    if found.shown is not None:
        yield from _option_lines(plan, found.shown)
    yield verdict_text(plan)
    yield f"{numbered(found.tried, 'pair')} of pools simulated"


def _option_lines(plan: ServingPlan, option: SplitOption) -> Iterator[str]:
    serving, question = option.serving, option.question
    nearest = "" if option.kept else "nearest: "
    yield (
        f"{nearest}{_pools_text(option)} on {serving.decode.cluster.chip.name}; weights {question.weights}, "
        f"KV cache {question.kv}; {serving.decode.instance.engine.title}"
    )
    yield _taken_text(plan, option, of=serving.decode.cluster.accelerators)
    told = [
        f"{limit.name} {show(value, SECONDS)} (limit {show(limit.seconds, SECONDS)})" for limit, value in option.figures
    ]
    yield ", ".join(told) or "requests come faster than they are served"
    if option.cost is not None:
        yield price_text(option.cost)


def _pools_text(option: SplitOption) -> str:
    pools = (option.serving.prefill, option.serving.decode)
    return ", ".join(f"{pool.name} {pool.workers} × TP{pool.instance.layout.tensor}" for pool in pools)


def _taken_text(plan: ServingPlan, option: SplitOption, *, of: int) -> str:
    spent = "" if plan.spending.purpose == "chips" else f", {spent_text(plan, option.spent)}"
    return f"{numbered(option.chips, 'chip')} of {of}{spent}"


def split_command(plan: ServingPlan) -> str:
    """That looks at the pools; empty: there are none."""
    found = plan.split_pools
    return "" if found is None or found.shown is None else found.shown.question.command


def verdict_text(plan: ServingPlan) -> str:
    """Which of both spends less."""
    found, best = plan.split_pools, plan.best
    assert found is not None, "pools were looked for"
    option = found.option
    if option is None:
        return _none_text(found.nearest, capped=found.capped)
    split = spent_text(plan, option.spent)
    if best is None:
        return f"split pools keep the limits for {split}; no instance that does both keeps them"
    whole = spent_text(plan, best.spent)
    if abs(option.spent - best.spent) <= _EQUAL * best.spent:
        return f"split pools and instances that do both spend the same: {split}"
    if option.spent < best.spent:
        return f"split pools spend less: {split}, and instances that do both {whole}"
    return f"instances that do both spend less: {whole}, and split pools {split}"


def _none_text(nearest: SplitOption | None, *, capped: bool) -> str:
    who = "none of the split pools that were simulated keeps" if capped else "no split pools keep"
    if nearest is None:
        return "no two pools fit on the machine, so none keeps the limits"
    if not nearest.stable:
        missed = f"requests come {nearest.excess:.2f} times as fast as the nearest serve them"
    else:
        missed = "the nearest miss " + ", ".join(
            f"{limit.name} by {show(value - limit.seconds, SECONDS)}" for limit, value in nearest.misses
        )
    return f"{who} the limits: {missed}"


def brief_split_text(plan: ServingPlan) -> str:
    """All of it on one line."""
    option = plan.split
    told = "" if option is None else f"{_pools_text(option)}, {numbered(option.chips, 'chip')}; "
    return f"split pools: {told}{verdict_text(plan)}"
