"""Pairs of pools that a search looks at: workers of prompts beside workers of answers, in the order of what they take.

A worker is tensor-parallel within a node; it has no stages, ranks or groups of experts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import ceil, inf, isinf

from volvelle.applications.serving.split.worker_bounds import WorkerBound, decode_bound, prefill_bound
from volvelle.catalogue import Catalogue
from volvelle.errors import MappingError, OutsideDomainError
from volvelle.interchange.pool_words import PoolWords
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.system.cluster import Cluster
from volvelle.verbs.plan_serving.candidates import USUAL_FORMATS, usual_formats
from volvelle.verbs.plan_serving.options import ServingOption
from volvelle.verbs.plan_serving.plan_question import ServingPlanQuestion
from volvelle.verbs.plan_serving.screening import Search
from volvelle.verbs.serving.checkpoint import published_format
from volvelle.verbs.serving.split import SplitPool, SplitServing, laid_out, pool_of
from volvelle.verbs.serving.split_question import SplitQuestion
from volvelle.workload.families.shape import Transformer


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Worker:
    """Of a pool, with what a closed form says of it."""

    pool: SplitPool
    """Of it alone."""
    bound: WorkerBound

    @property
    def chips(self) -> int:
        """Of one."""
        return self.pool.chips

    @property
    def least(self) -> float:
        """Workers that the load needs at least; infinite: no number of them keeps the limits."""
        share = self.bound.share
        return inf if share <= 0.0 else max(1, ceil(1.0 / share - 1e-9))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pair:
    """Workers that compute prompts, and workers that decode."""

    kind: "SplitKind"
    prefill: Worker
    decode: Worker
    workers: tuple[int, int]

    @property
    def chips(self) -> int:
        """Of both pools."""
        return self.workers[0] * self.prefill.chips + self.workers[1] * self.decode.chips

    @property
    def spent(self) -> float:
        """Dollars an hour, chips or watts."""
        return self.chips * self.kind.chip_cost

    @property
    def prompts(self) -> tuple[int, int]:
        """What tells the pool of prompts from others."""
        return id(self.prefill), self.workers[0]

    def serving(self, shape: Transformer, known: Catalogue) -> SplitServing:
        """The pools, laid out."""
        first, second = (
            replace(worker.pool, workers=count)
            for worker, count in zip((self.prefill, self.decode), self.workers, strict=True)
        )
        words = (PoolWords(workers=pool.workers, tensor=pool.instance.layout.tensor) for pool in (first, second))
        question = self.kind.question.changed(**dict(zip(("prefill", "decode"), words, strict=True)))
        return laid_out(question, first, second, shape, known)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SplitKind:
    """What pairs of pools have in common: a machine, an engine, formats, settings, and workers that hold a request."""

    cluster: Cluster
    chip_cost: float
    question: SplitQuestion
    """Of any two pools."""
    prefill: tuple[Worker, ...]
    decode: tuple[Worker, ...]

    def pairs(self) -> Iterator[Pair]:
        """All that closed forms leave, those with the fewest chips first."""
        sides = [
            (first, second, int(first.least), int(second.least))
            for first, second in product(self.prefill, self.decode)
            if first.least * first.chips + second.least * second.chips <= self.cluster.accelerators
        ]
        fewest = min((first.chips * least + second.chips * most for first, second, least, most in sides), default=0)
        for chips in range(fewest, self.cluster.accelerators + 1) if sides else ():
            for first, second, least, fewest_decode in sides:
                room = chips - fewest_decode * second.chips
                for workers in range(least, room // first.chips + 1):
                    others, rest = divmod(chips - workers * first.chips, second.chips)
                    if not rest:
                        yield Pair(kind=self, prefill=first, decode=second, workers=(workers, others))

    def whole(self) -> Iterator[Pair]:
        """With all chips, of every two workers: as many of each as match by a closed form."""
        for first, second in product(self.prefill, self.decode):
            room = self.cluster.accelerators - second.chips
            if room < first.chips:
                continue
            each = [0.0 if isinf(one.bound.rate) else one.chips / one.bound.rate for one in (first, second)]
            wanted = self.cluster.accelerators * each[0] / (sum(each) or 1.0) / first.chips
            for workers in sorted({int(wanted), ceil(wanted)}):
                taken = min(max(workers, 1), room // first.chips)
                others = (self.cluster.accelerators - taken * first.chips) // second.chips
                yield Pair(kind=self, prefill=first, decode=second, workers=(taken, others))


def split_kinds(
    search: Search, question: ServingPlanQuestion, clusters: Sequence[Cluster], options: Sequence[ServingOption]
) -> list[SplitKind]:
    """On every machine: with the engine and formats of its best option, or with all that are asked for."""
    found = []
    for cluster in clusters:
        published = published_format(
            question.served.changed(on=cluster.name), search.catalogue, search.shape, cluster, required=False
        )
        best = next((option.question for option in options if option.cluster.name == cluster.name), None)
        told: list[tuple[str, str, str]] = (
            [(best.engine, best.weights, best.kv)]
            if best is not None
            else list(
                product(question.engine, question.weights or usual_formats(published), question.kv or USUAL_FORMATS)
            )
        )
        settings = product(question.axes.budgets or (None,), question.axes.sequences or (None,))
        for (engine, weights, kv), (budget, most) in product(told, settings):
            asked = _asked(question, cluster).changed(
                engine=engine, weights=weights, kv=kv, max_batched_tokens=budget, max_seqs=most
            )
            prefill, decode = (
                tuple(_workers(search, asked, name, cluster, question.axes.tensor)) for name in ("prefill", "decode")
            )
            cost = search.chip_cost[cluster.name]
            found.append(SplitKind(cluster=cluster, chip_cost=cost, question=asked, prefill=prefill, decode=decode))
    return found


def _asked(question: ServingPlanQuestion, cluster: Cluster) -> SplitQuestion:
    return question.served.as_question(
        SplitQuestion, on=cluster.name, prefill=PoolWords(tensor=1), decode=PoolWords(tensor=1), load=question.load
    )


def _workers(
    search: Search, asked: SplitQuestion, name: str, cluster: Cluster, tensor: tuple[int, ...]
) -> Iterator[Worker]:
    """Of all degrees that the model allows and whose memory holds a request."""
    widest = min(cluster.dimensions[0].size, cluster.accelerators - 1)
    for degree in tensor or tuple(2**power for power in range(widest.bit_length())):
        if degree > widest:
            continue
        try:
            ServingLayout(tensor=degree, pipeline=1, expert=1, data=1).checked(search.shape)
            words = asked.changed(**{name: PoolWords(tensor=degree)})
            pool = pool_of(words, name, search.shape, cluster, search.catalogue)
        except (MappingError, OutsideDomainError):
            continue  # the model does not divide so, or no such kernel is known
        bound = (prefill_bound if name == "prefill" else decode_bound)(pool.instance, search.asked, search.limits)
        if pool.memory.fits and bound.rate > 0.0:
            yield Worker(pool=pool, bound=bound)
