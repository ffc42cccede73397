"""The cheapest way to serve a model's load within limits: layout, replicas, formats and settings, ranked."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from volvelle.applications.serving.evidence.basis import basis_words
from volvelle.applications.serving.goodput import AskedLoad
from volvelle.applications.serving.under_load import LoadAnswer
from volvelle.base.option_kinds import items
from volvelle.base.python_function import asks
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError, MissingFigureError
from volvelle.estimators.result import RangedFigure
from volvelle.interchange.engine_launch.deployment import LaunchFile
from volvelle.interchange.limit_words import read_limits
from volvelle.interchange.load_words import read_load
from volvelle.presentable import Presentable
from volvelle.questions.serving import PlanServingQuestion
from volvelle.system.cluster import Cluster
from volvelle.verbs.named import catalogue_of
from volvelle.verbs.plan_serving.candidates import Candidates, Group, candidates, check_axes, is_full
from volvelle.verbs.plan_serving.dead_ends import ServingDeadEnd, possible, serving_dead_end
from volvelle.verbs.plan_serving.drafts import curves_of, drafting_notes
from volvelle.verbs.plan_serving.kept import KeptTrials, question_fingerprint
from volvelle.verbs.plan_serving.options import ServingOption, served_option, unit_of
from volvelle.verbs.plan_serving.plan_question import ServingPlanQuestion
from volvelle.verbs.plan_serving.screening import Search
from volvelle.verbs.plan_serving.search import Found, order_of, run_search
from volvelle.verbs.plan_serving.sensitivities import GoodputChange, sensitivities
from volvelle.verbs.plan_serving.spending import Spending, spending
from volvelle.verbs.plan_serving.split_pools import SplitOption, SplitPools, split_pools
from volvelle.verbs.serving.checkpoint import check_context, checkpoint_notes, checkpoint_warnings, served_shape
from volvelle.verbs.serving.cost import ServingCost
from volvelle.verbs.serving.files import launch_files, write_files
from volvelle.verbs.serving.load_figures import WithLoadFigures
from volvelle.verbs.serving.request_lengths import load_notes, request_lengths
from volvelle.verbs.serving.serve import machine_of, name_of
from volvelle.workload.families.shape import Transformer
from volvelle.workload.serving.limits import LatencyLimit

_MORE = 3
"""Layouts that are kept beside those that are shown, in case a longer run breaks limits."""
Progress = Callable[[int, int, str], None]
"""Receives how many are done, of how many, and of what: candidates, or pairs of pools."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class ServingPlan(WithLoadFigures, Presentable):
    """Ways to serve a load within limits, best first, and what explains them.

    Its figures are those of the first option: `ttft`, `tpot`, `itl` and `e2el` (`LatencyFigure`, in seconds),
    `request_throughput`, `output_throughput` and `total_token_throughput` per second, `goodput` in `load_unit`, and
    `owned_token_cost` and `rented_token_cost` in dollars per million output tokens. If no option keeps the limits, they
    raise `MissingFigureError`.

    Examples
    --------
    >>> from volvelle import LatencyLimit, Poisson, plan_serving
    >>> limit = LatencyLimit("ttft", 1.0, percentile=99)
    >>> few = {"tensor": 1, "pipeline": 1, "max_batched_tokens": 2048, "max_seqs": 64, "requests": 200}
    >>> answer = plan_serving("llama3-8b", on="dgx-h100/8", load=Poisson(4), slo=limit, **few)
    >>> answer.ttft.p99 <= limit.seconds
    True
    """

    question: ServingPlanQuestion
    clusters: tuple[Cluster, ...]
    limits: tuple[LatencyLimit, ...]
    spending: Spending
    load_unit: str
    """What a load and goodput are counted in: requests/s, clients, or times the trace."""
    options: tuple[ServingOption, ...]
    """The best of each layout and format, that which takes least first."""
    full_precision: ServingOption | None
    """The best that keeps 16 bits, where the first does not."""
    changes: tuple[GoodputChange, ...]
    """What would change the goodput of the first."""
    dead_end: ServingDeadEnd | None
    """Where nothing serves the load within limits: why not, and what would."""
    candidates: int
    followed: int
    """Of them, those that a closed form did not rule out and that were simulated."""
    trials: int
    """Runs of the load, or parts of it."""
    resumed: int
    """Trials that an earlier search had kept."""
    left_out: dict[str, int]
    """Why layouts or formats were not considered, and how many."""
    seconds: float
    search: Search = field(repr=False)
    considered: Candidates = field(repr=False)
    files: tuple[LaunchFile, ...] = ()
    """That launch the first, where they were asked for."""
    folder: Path | None = None
    """Where they were written; None: nowhere."""
    split_pools: SplitPools | None = None
    """Pools for prompts and for answers, where they were asked for."""

    @property
    def best(self) -> ServingOption | None:
        """The first; None: none serves the load within limits. What launches it is its `question`."""
        return self.options[0] if self.options else None

    @property
    def split(self) -> SplitOption | None:
        """The two pools that take least within limits; None: there are none, or they were not looked for."""
        return None if self.split_pools is None else self.split_pools.option

    @property
    def goodput(self) -> RangedFigure:
        """The most that the whole machine serves within limits by the first option, in `load_unit`."""
        return RangedFigure(value=self._first.goodput, unit=self.load_unit)

    @property
    def _first(self) -> ServingOption:
        if self.best is None:
            raise MissingFigureError("the plan has no figures: no single pool serves the load within limits")
        return self.best

    def _measured(self) -> LoadAnswer:
        return self._first.load

    def _token_cost(self) -> ServingCost | None:
        return self._first.cost

    @property
    def feasible(self) -> bool:
        """Whether something serves the load within limits."""
        return bool(self.options) or self.split is not None

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what stands in for measurements of the chips that were considered, whether or not something serves."""
        found: dict[tuple[str, str], Group] = {}
        for group in self.considered.groups:
            found.setdefault((group.cluster.name, group.questions[0].engine), group)
        catalogue, shape = self.search.catalogue, self.search.shape
        instances = (group.questions[0].instance(catalogue, shape, group.cluster) for group in found.values())
        return tuple(dict.fromkeys(words for instance in instances for words in instance.warnings))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know."""
        return tuple(_notes(self))


@asks(PlanServingQuestion)
def plan_serving(question: PlanServingQuestion) -> ServingPlan:
    """Return ways to serve a load within limits, the way with the fewest dollars an hour (or GPUs, or watts) first.

    `slo` are limits like ``"p99 ttft 2 s, p95 tpot 50 ms"``, or `LatencyLimit` values, of all requests of the `load`.
    Every layout on the machines of `on`, every format of `weights` and `kv`, and every token budget and number of
    sequences is a candidate. For each candidate, the largest part of the load that one rank serves within the limits is
    found. As few replicas are used as serve the whole load, and what they cost ranks the candidates; between equals,
    goodput decides. Goodput is the highest rate that the whole machine serves within the limits.

    Every way to draft tokens of `speculate` is considered, and not drafting; for ``"eagle best"``, some windows are
    considered. With `split`, a pool that computes prompts and a pool that decodes are considered as well, in the
    formats of the first. With a folder to `keep` trials in, a search that was interrupted continues there. With `emit`,
    `into` and `checkpoint`, files that launch the first are made, as `serve` makes them.
    """
    begun = time.perf_counter()
    known = catalogue_of(question.catalogue)
    shape = served_shape(question.model, known)
    machines = items(question.on)
    names = [name for one in machines for name in (one.split(",") if isinstance(one, str) else [one])]
    clusters = tuple(machine_of(one.strip() if isinstance(one, str) else one, known) for one in names)
    if not clusters or len({cluster.name for cluster in clusters}) < len(clusters):
        raise DescriptionError("a machine is named twice, or none is; give each once, like --on dgx-h100/8,dgx-b200/8")
    asked = question.as_question(
        ServingPlanQuestion,
        model=name_of(question.model, shape),
        on=tuple(cluster.name for cluster in clusters),
        **dict.fromkeys(("emit", "into", "checkpoint", "keep", "workers", "catalogue", "progress")),
    )
    check_axes(asked.axes)
    request_lengths(read_load(asked.load), asked.served)
    check_context(asked.served, shape)
    planner = _Planner(catalogue=known, shape=shape, begun=begun, workers=question.workers, progress=question.progress)
    keep = None if question.keep is None else Path(question.keep)
    planned = planner.planned(asked, clusters, top=question.top, keep=keep)
    return planned if question.emit is None or planned.best is None else _with_files(planned, question, known)


def _with_files(planned: ServingPlan, question: PlanServingQuestion, catalogue: Catalogue) -> ServingPlan:
    """Return the answer with files that launch its first option, written where a folder is given."""
    best = planned.best
    assert best is not None, "something is launched"
    assert question.emit is not None, "a target is named"
    cluster = catalogue.cluster(best.question.on)
    files = launch_files(question.emit, best.question, best.instance, cluster, checkpoint=question.checkpoint)
    folder = None if question.into is None else Path(question.into)
    if folder is not None:
        write_files(files, folder)
    return replace(planned, files=files, folder=folder)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Planner:
    """What answers a question, and changed ones after it."""

    catalogue: Catalogue
    shape: Transformer
    begun: float
    workers: int | None
    progress: Progress | None

    def searched(
        self, question: ServingPlanQuestion, clusters: Sequence[Cluster]
    ) -> tuple[Search, Candidates, Spending]:
        """What is to be searched."""
        load, limits = read_load(question.load), read_limits(question.slo)
        asked = AskedLoad(
            load=load, shape=request_lengths(load, question.served), requests=question.requests, seed=question.seed
        )
        spent = spending(question.purpose, clusters)
        considered = candidates(question.served, clusters, self.shape, question.axes, self.catalogue)
        prices = {cluster.name: price for cluster, price in zip(clusters, spent.of_chip, strict=True)}
        search = Search(catalogue=self.catalogue, shape=self.shape, asked=asked, limits=limits, chip_cost=prices)
        return search, considered, spent

    def planned(
        self, question: ServingPlanQuestion, clusters: tuple[Cluster, ...], *, top: int, keep: Path | None
    ) -> ServingPlan:
        """The answer."""
        search, considered, spent = self.searched(question, clusters)
        kept = None
        if keep is not None:
            print_of = question_fingerprint(
                self.shape, clusters, search.asked, search.limits, curves_of(question.drafts)
            )
            kept = KeptTrials(keep, fingerprint=print_of, folders=self.catalogue.own_folders)
        found = self._run(search, considered, top=top + _MORE, kept=kept)
        options = _served(search, found, top)
        best = options[0] if options else None
        full = None if best is None or best.full_precision else self._full(search, considered, options)
        dead = None if best is not None else serving_dead_end(search, found.broken, question, self._serves)
        pools = split_pools(search, question, clusters, options, progress=self.progress) if question.split else None
        return ServingPlan(
            question=question,
            clusters=clusters,
            limits=search.limits,
            spending=spent,
            load_unit=unit_of(search.asked),
            options=options,
            full_precision=full,
            changes=() if best is None else sensitivities(search, best),
            dead_end=dead,
            candidates=found.candidates,
            followed=found.followed,
            trials=found.trials,
            resumed=0 if kept is None else kept.found,
            left_out=considered.left_out,
            seconds=time.perf_counter() - self.begun,
            search=search,
            considered=considered,
            split_pools=pools,
        )

    def _run(self, search: Search, considered: Candidates, *, top: int, kept: KeptTrials | None) -> Found:
        done = 0

        def noted(candidates: int, trials: object) -> None:
            nonlocal done
            done += candidates
            if kept is not None:
                assert isinstance(trials, dict), "trials by what was tried"
                kept.add(trials)
            if self.progress is not None:
                self.progress(done, considered.count, "candidates")

        known = None if kept is None else kept.known
        return run_search(search, considered.groups, top=top, known=known, workers=self.workers, noted=noted)

    def _full(self, search: Search, considered: Candidates, options: Sequence[ServingOption]) -> ServingOption | None:
        """The best that keeps 16 bits: among the options, or looked for by itself."""
        for option in options:
            if option.full_precision:
                return option
        groups = [group for group in considered.groups if is_full(group.questions[0])]
        if not groups:
            return None
        found = run_search(search, groups, top=2, workers=self.workers)
        return next(iter(_served(search, found, 1)), None)

    def _serves(self, question: ServingPlanQuestion) -> bool:
        """Whether something serves a changed question."""

        def served() -> bool:
            clusters = tuple(self.catalogue.cluster(name) for name in question.on)
            search, considered, _ = self.searched(question, clusters)
            found = run_search(search, considered.groups, top=_MORE, enough=_MORE)
            return any(served_option(search, one) is not None for one in found.best)

        return possible(served)


def _served(search: Search, found: Found, top: int) -> tuple[ServingOption, ...]:
    """The first of those that were found, in full; ranked again, for a settled run may need more replicas."""
    options: list[ServingOption] = []
    for one in sorted(found.best, key=order_of):
        option = served_option(search, one)
        if option is not None:
            options.append(option)
        if len(options) >= top:
            break
    return tuple(sorted(options, key=lambda option: (option.spent, -option.goodput_per_unit)))


def _notes(plan: ServingPlan) -> Sequence[str]:
    notes = [*plan.warnings, *(note for cluster in plan.clusters for note in cluster.notes_on_power)]
    if plan.spending.note:
        notes.append(plan.spending.note)
    notes += [f"left out ({count}): {why}" for why, count in plan.left_out.items()]
    notes += [] if plan.split_pools is None else _split_notes(plan.split_pools)
    wide = [cluster.name for cluster in plan.clusters if cluster.accelerators > cluster.dimensions[0].size]
    if plan.search.shape.experts is not None and wide:
        notes.append(
            f"expert parallelism across nodes of {' and '.join(wide)} is not modelled, so it was not considered"
        )
    best = plan.best
    if best is None:
        return notes
    notes += checkpoint_warnings(best.question, best.instance.served.shape)
    notes += checkpoint_notes(best.question, best.instance.served.shape)
    if not best.full_precision:
        notes.append(
            f"the first has weights in {best.question.weights} and a KV cache in {best.question.kv}, which may change "
            "what the model answers; --weights bf16 --kv bf16 keeps it"
        )
    notes.append(
        "ranges and probabilities: steps are slowed by as much as the model's error of TPOT allows, and served again; "
        "what the error of TTFT has beyond that comes on top. Errors are those of means on measured runs"
    )
    notes += load_notes(plan.question.load, plan.question.lengths, warm_up=best.load.warmed_up)
    notes += [f"the first: {words}" for words in basis_words(best.bases)]
    notes += drafting_notes(plan.question.drafts, [(one.question, one.instance) for one in plan.options])
    if best.replicas * best.instance.layout.data > 1:
        notes.append("replicas and data-parallel ranks get even shares of the load")
    return notes


def _split_notes(found: SplitPools) -> Sequence[str]:
    notes = [
        "split pools: workers are tensor-parallel only, with the engine's own settings where none are given, in "
        "formats of the best option on their machine; TTFT is until decoding begins, with the transfer of the cache, "
        "and how likely limits are kept is not told of them"
    ]
    if found.capped:
        left = "pools that spend less may be left" if found.option is not None else "others may keep the limits"
        notes.append(f"split pools: {found.tried:,} pairs were simulated and no more, so {left}")
    return notes + [f"split pools left out: {why}" for why in found.left_out]
