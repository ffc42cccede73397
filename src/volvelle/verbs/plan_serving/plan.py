"""The cheapest way to serve a model's load within limits: layout, replicas, formats and settings, ranked."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

from volvelle.applications.serving.evidence.basis import basis_words
from volvelle.applications.serving.goodput import AskedLoad
from volvelle.applications.serving.under_load import LoadAnswer
from volvelle.catalogue import Catalogue
from volvelle.domains import (
    DEGREE,
    ENGINE_SEQUENCES,
    PROCESSES,
    REQUEST_LENGTH,
    RESULTS,
    SEED,
    SERVED_REQUESTS,
    SHARE,
    STEP_BUDGET,
    within_domains,
)
from volvelle.errors import DescriptionError, MissingFigureError
from volvelle.estimators.result import RangedFigure
from volvelle.interchange.engine_launch.deployment import LaunchFile
from volvelle.interchange.limit_words import Limits, limits_text, read_limits
from volvelle.interchange.load_words import read_load
from volvelle.interchange.speculation_words import Drafter
from volvelle.presentable import Presentable
from volvelle.system.cluster import Cluster
from volvelle.verbs.command_words import in_command_words
from volvelle.verbs.named import Folder, Machine, Model, catalogue_of
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
from volvelle.verbs.serving.question import in_words
from volvelle.verbs.serving.request_lengths import load_notes, request_lengths
from volvelle.verbs.serving.serve import machine_of
from volvelle.workload.families.shape import Transformer
from volvelle.workload.serving.lengths import RequestLengths
from volvelle.workload.serving.limits import LatencyLimit
from volvelle.workload.serving.loads import Load

_MORE = 3
"""Layouts that are kept beside those that are shown, in case a longer run breaks limits."""
Progress = Callable[[int, int, str], None]
"""Receives how many are done, of how many, and of what: candidates, or pairs of pools."""
Words = str | Sequence[str]
Drafters = str | Drafter | Sequence[str | Drafter]
Numbers = int | Sequence[int]


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


@in_command_words
@within_domains
def plan_serving(
    model: Model,
    *,
    on: Machine | Sequence[Machine],
    load: str | Load,
    slo: Limits,
    input: Annotated[int | None, REQUEST_LENGTH] = None,  # noqa: A002 - the option's name
    output: Annotated[int | None, REQUEST_LENGTH] = None,
    lengths: str | RequestLengths | None = None,
    requests: Annotated[int | None, SERVED_REQUESTS] = None,
    seed: Annotated[int, SEED] = 0,
    purpose: str = "dollars",
    engine: Words = "vllm",
    weights: Words = (),
    kv: Words = (),
    tensor: Annotated[Numbers, DEGREE] = (),
    pipeline: Annotated[Numbers, DEGREE] = (),
    expert: Annotated[Numbers, DEGREE] = (),
    data: Annotated[Numbers, DEGREE] = (),
    max_batched_tokens: Annotated[Numbers, STEP_BUDGET] = (),
    max_seqs: Annotated[Numbers, ENGINE_SEQUENCES] = (),
    memory_share: Annotated[str | float | None, SHARE] = None,
    chunked_prefill: bool | None = None,
    speculate: Drafters = (),
    split: bool = False,
    top: Annotated[int, RESULTS] = 5,
    keep: Path | str | None = None,
    emit: str | None = None,
    into: Path | str | None = None,
    checkpoint: str | None = None,
    workers: Annotated[int | None, PROCESSES] = None,
    catalogue: Folder = None,
    progress: Progress | None = None,
) -> ServingPlan:
    """Ways to serve a load within limits: that which takes the fewest dollars an hour (chips, watts) comes first.

    `slo` are limits like ``"p99 ttft 2 s, p95 tpot 50 ms"``, or `LatencyLimit` values, of all requests of the `load`.
    Every layout on the machines of `on`, every format of `weights` and `kv`, and every token budget and number of
    sequences is a candidate; of each the largest part of the load that one rank serves within limits is found. As few
    replicas are taken as serve all of the load, and what they take ranks the candidates; where they tie, goodput for
    the same does. Goodput is the highest rate that the whole machine serves within limits.

    Without `weights` and `kv`, bf16 and fp8 are considered, and the answer says which. Every way to draft tokens of
    `speculate`, as `serve` has them, is considered beside not drafting; of ``"eagle best"`` some windows are. With
    `split`, a pool that computes prompts beside one that decodes is looked for too, in the formats of the first: what
    takes least of those that keep the limits.

    With a folder to `keep` trials in, a search that was interrupted goes on where it was. With `emit`, `into` and
    `checkpoint`, files that launch the first are made, as `serve` makes them.
    """
    begun = time.perf_counter()
    known = catalogue_of(catalogue)
    shape = served_shape(model, known)
    machines = [on] if isinstance(on, str | Cluster) else list(on)
    names = [name for one in machines for name in (one.split(",") if isinstance(one, str) else [one])]
    clusters = tuple(machine_of(one.strip() if isinstance(one, str) else one, known) for one in names)
    if not clusters or len({cluster.name for cluster in clusters}) < len(clusters):
        raise DescriptionError("a machine is named twice, or none is; give each once, like --on dgx-h100/8,dgx-b200/8")
    question = ServingPlanQuestion(
        model=shape.name if isinstance(model, Transformer) else str(model),
        on=tuple(cluster.name for cluster in clusters),
        load=str(load),
        slo=limits_text(slo),
        input=input,
        output=output,
        lengths=in_words(lengths),
        requests=requests,
        seed=seed,
        purpose=purpose,
        engine=_words(engine),
        weights=_words(weights),
        kv=_words(kv),
        tensor=_numbers(tensor),
        pipeline=_numbers(pipeline),
        expert=_numbers(expert),
        data=_numbers(data),
        max_batched_tokens=_numbers(max_batched_tokens),
        max_seqs=_numbers(max_seqs),
        memory_share=None if memory_share is None else SHARE.read(memory_share, "memory_share"),
        chunked_prefill=chunked_prefill,
        speculate=_drafters(speculate),
        split=split,
    )
    check_axes(question.axes)
    request_lengths(read_load(load), question.served)
    check_context(question.served, shape)
    planner = _Planner(catalogue=known, shape=shape, begun=begun, workers=workers, progress=progress)
    found = planner.planned(question, clusters, top=top, keep=None if keep is None else Path(keep))
    return found if emit is None or found.best is None else _with_files(found, emit, into, checkpoint, known)


def _with_files(
    found: ServingPlan, emit: str, into: Path | str | None, checkpoint: str | None, catalogue: Catalogue
) -> ServingPlan:
    """The answer with files that launch its first option, written where a folder is given."""
    best = found.best
    assert best is not None, "something is launched"
    cluster = catalogue.cluster(best.question.on)
    files = launch_files(emit, best.question, best.instance, cluster, checkpoint=checkpoint)
    folder = None if into is None else Path(into)
    if folder is not None:
        write_files(files, folder)
    return replace(found, files=files, folder=folder)


def _words(given: Words) -> tuple[str, ...]:
    return tuple(given.split(",")) if isinstance(given, str) else tuple(given)


def _drafters(given: Drafters) -> tuple[str, ...]:
    if isinstance(given, Sequence) and not isinstance(given, str):
        return tuple(map(str, given))
    return (str(given),)


def _numbers(given: Numbers) -> tuple[int, ...]:
    return (given,) if isinstance(given, int) else tuple(given)


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
                self.shape, clusters, search.asked, search.limits, curves_of(question.speculate)
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
    notes += drafting_notes(plan.question.speculate, [(one.question, one.instance) for one in plan.options])
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
