"""How fast a model is served by two pools: one computes prompts, the other decodes, caches go over links between."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from volvelle.applications.serving.evidence.basis import ServingBasis, bases_of_pools, basis_words, load_kind
from volvelle.applications.serving.held_memory import HeldMemory, held_memory
from volvelle.applications.serving.instance import Instance
from volvelle.applications.serving.split.cache_transfer import TransferLink, link_between
from volvelle.base.python_function import asks
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError, MappingError, OutsideDomainError
from volvelle.estimators.result import Range, Violation
from volvelle.interchange.load_words import read_load
from volvelle.interchange.pool_words import read_pool
from volvelle.presentable import Presentable
from volvelle.questions.serving import ROUTERS, ServeQuestion, SplitServeQuestion
from volvelle.system.cluster import Cluster
from volvelle.verbs.named import catalogue_of
from volvelle.verbs.remedies.tried import tried
from volvelle.verbs.serving.checkpoint import (
    check_context,
    checkpoint_notes,
    checkpoint_warnings,
    served_shape,
    with_weights,
)
from volvelle.verbs.serving.cost import ServingCost, token_cost
from volvelle.verbs.serving.load_figures import WithLoadFigures, nothing_served
from volvelle.verbs.serving.question import INPUT, OUTPUT
from volvelle.verbs.serving.request_lengths import load_notes, request_lengths
from volvelle.verbs.serving.serve import machine_of, name_of
from volvelle.verbs.serving.split_question import SplitQuestion
from volvelle.workload.families.shape import Transformer
from volvelle.workload.served_model import format_named
from volvelle.workload.serving.loads import AbstractLoad

if TYPE_CHECKING:
    from volvelle.applications.serving.split.split_answer import SplitAnswer

OF_ONE_ENGINE = {
    "speculate": "leave it out, or ask without --prefill and --decode",
    "timeline": "leave it out, or follow one engine, without --prefill and --decode",
    "emit": "ask for the files of each pool by itself, without --prefill and --decode",
    "into": "it goes with --emit",
    "checkpoint": "it goes with --emit",
    **dict.fromkeys(
        ("receive_interval", "batch_wait", "batch_wait_ratio", "stream_interval", "prefix_caching"),
        "leave it out: engines of pools do what they do by default",
    ),
}
"""Options of serve that two pools do not have, and what to do instead."""
_TIMES = (2, 4, 8)
"""How much wider a worker is made that does not fit."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class SplitPool:
    """One pool: an instance, how many workers there are of it, and where they stand."""

    name: str
    """``prefill`` or ``decode``."""
    workers: int
    cluster: Cluster
    instance: Instance
    memory: HeldMemory
    """Of one rank, with one request."""

    @property
    def chips(self) -> int:
        """Of all workers."""
        return self.workers * self.instance.layout.chips


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class SplitServing(WithLoadFigures, Presentable):
    """How a model is served by two pools, with its question.

    Its figures are `ttft`, `tpot`, `itl` and `e2el` (`LatencyFigure`, in seconds), `request_throughput`,
    `output_throughput` and `total_token_throughput` per second, `memory` of `prefill` and of `decode` in bytes per GPU,
    and `owned_token_cost` and `rented_token_cost` in dollars per million output tokens. Without a load that is served
    (`feasible`), they raise `MissingFigureError`.

    Examples
    --------
    >>> from volvelle import Poisson, serve_split
    >>> answer = serve_split(
    ...     "llama3-8b", on="dgx-h100/8", prefill="1x tp1", decode="1x tp1", load=Poisson(2), requests=60
    ... )
    >>> answer.ttft.median <= answer.ttft.p99
    True
    """

    question: SplitQuestion
    prefill: SplitPool
    decode: SplitPool
    link: TransferLink
    violations: tuple[Violation, ...] = ()
    load: "SplitAnswer | None" = None
    """None: it cannot be served."""
    load_kind: str = ""
    """Of that load, as measured runs are told apart by it."""
    cost: ServingCost | None = None

    @property
    def model(self) -> str:
        """Its name."""
        return self.decode.instance.served.shape.name

    @property
    def feasible(self) -> bool:
        """Whether it can be served as asked."""
        return not self.violations

    @property
    def chips(self) -> int:
        """Of both pools."""
        return self.prefill.chips + self.decode.chips

    @property
    def ranges(self) -> Mapping[str, Range]:
        """Where four of five measurements are to be expected."""
        return {} if self.load is None else self.load.ranges

    @property
    def bases(self) -> tuple[ServingBasis, ...]:
        """What each of these ranges rests on."""
        found = bases_of_pools(self.prefill.instance, self.decode.instance, self.load_kind)
        return tuple(found[name] for name in self.ranges)

    @property
    def advice(self) -> str:
        """How many workers of each pool would match, in words; nothing where it cannot be told."""
        load = self.load
        if load is None or load.matched is None:
            return ""
        wanted = load.matched * self.decode.workers
        return (
            f"{load.matched:.2g} prefill workers for each decode worker would match: {wanted:.2g} for the "
            f"{self.decode.workers} that decode, and there are {self.prefill.workers}"
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before the figures."""
        told = checkpoint_warnings(self.question.of("decode"), self.decode.instance.served.shape)
        return tuple(dict.fromkeys((*self.prefill.cluster.notes_on_power, *self.decode.cluster.notes_on_power, *told)))

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed."""
        return tuple(_notes(self))

    def _measured(self) -> "SplitAnswer":
        if self.load is None:
            raise nothing_served(self.violations)
        return self.load

    def _token_cost(self) -> ServingCost | None:
        return self.cost


@asks(SplitServeQuestion)
def serve_split(question: SplitServeQuestion) -> SplitServing:
    """Return how fast a model is served under a load by a pool that computes prompts and a pool that decodes.

    A pool is written like ``"2x tp4"``: two workers of four GPUs each. A degree that the words do not name is 1, so
    ``"1x dp8 ep8"`` is one worker of eight data-parallel ranks. ``on SYSTEM`` puts the pool on another machine, and
    ``weights fp8`` gives it weights of its own.

    TTFT lasts until the answer begins to be decoded, when routers hand out the first token. The answer also contains
    the TTFT at the end of the prompt, before the transfer.
    """
    known = catalogue_of(question.catalogue)
    shape = served_shape(question.model, known)
    machine = machine_of(question.on, known)
    asked = question.as_question(
        SplitQuestion,
        model=name_of(question.model, shape),
        on=machine.name,
        prefill=read_pool(question.prefill, "--prefill"),
        decode=read_pool(question.decode, "--decode"),
        weights="bf16",
    )
    requested = read_load(asked.load)
    request_lengths(requested, asked.of("decode"))
    check_context(asked.of("decode"), shape)
    told = with_weights(asked.of("decode"), question.weights, known, shape, machine)
    weights = told.published if question.weights is None else format_named(question.weights)
    asked = asked.changed(weights=weights, published=told.published)
    first, second = (pool_of(asked, name, shape, machine, known) for name in ("prefill", "decode"))
    return answered(laid_out(asked, first, second, shape, known), requested)


def laid_out(
    question: SplitQuestion, first: SplitPool, second: SplitPool, shape: Transformer, known: Catalogue
) -> SplitServing:
    """Two pools on their machines, and why they cannot serve, before any load."""
    _check_room(first, second)
    return SplitServing(
        question=question,
        prefill=first,
        decode=second,
        link=link_between(first.cluster, second.cluster, chips=first.chips + second.chips),
        violations=tuple(_violations(question, (first, second), shape, known)),
    )


def answered(
    found: SplitServing, requested: AbstractLoad, *, percentiles: tuple[float, ...] = (), rates: bool = True
) -> SplitServing:
    """Pools with what came of a load, where they can serve; `percentiles` are kept beside the usual ones.

    Without `rates`, what pools sustain is not looked for.
    """
    if not found.feasible:
        return found
    load = _answer(found, requested, percentiles, rates=rates)
    used = ((pool.cluster, pool.chips) for pool in (found.prefill, found.decode))
    return replace(found, load=load, load_kind=load_kind(requested), cost=token_cost(load.throughput, used))


def pool_of(question: SplitQuestion, name: str, shape: Transformer, machine: Cluster, known: Catalogue) -> SplitPool:
    """A pool of a question, laid out on its machine."""
    asked = question.of(name)
    other = question.words(name).on
    cluster = machine if other is None else machine_of(other, known)
    try:
        instance = asked.instance(known, shape, cluster, dashes="")
    except (MappingError, OutsideDomainError) as error:
        raise type(error)(f"--{name} '{question.words(name)}': {error}") from None
    context = asked.input_tokens + asked.output_tokens
    return SplitPool(
        name=name,
        workers=question.words(name).workers,
        cluster=cluster,
        instance=instance,
        memory=held_memory(instance, sequences=1, context=context),
    )


def _check_room(first: SplitPool, second: SplitPool) -> None:
    """Refuse pools that their machines have no room for."""
    if first.cluster.name == second.cluster.name:
        places = [(first.cluster, "both pools take", first.chips + second.chips)]
    else:
        places = [(pool.cluster, f"--{pool.name} takes", pool.chips) for pool in (first, second)]
    for cluster, who, chips in places:
        if chips > cluster.accelerators:
            raise MappingError(
                f"{who} {chips} chips, and {cluster.name} has {cluster.accelerators}; take fewer or smaller workers, "
                f"or ask for a larger machine, like {cluster.name.partition('/')[0]}/{chips}"
            )


def _violations(
    question: SplitQuestion, pools: tuple[SplitPool, ...], shape: Transformer, known: Catalogue
) -> Iterator[Violation]:
    """Why it cannot be served so, and how it could: wider workers, or narrower weights."""
    for pool in pools:
        rules = pool.instance.rules()
        if not pool.memory.fits:
            asked = question.of(pool.name)
            problem = pool.instance.why_not(asked.input_tokens + asked.output_tokens)
            cures = tuple(_cures(question, pool, shape, known))
            yield Violation(name="memory", problem=f"{pool.name}: {problem}", cures=cures)
        one = question.of(pool.name)
        tokens = one.longest(one.input_tokens)
        if pool.name == "prefill" and not rules.chunks and tokens > rules.token_budget and not question.traced:
            problem = (
                f"prefill: a prompt of {tokens:,} tokens is more than the {rules.token_budget:,} of a step of "
                f"{pool.instance.engine.title}, which does not cut prompts"
            )

            def works(changed: SplitQuestion, name: str = pool.name, cluster: Cluster = pool.cluster) -> bool:
                other = pool_of(changed, name, shape, cluster, known)
                allowed = other.instance.rules()
                return other.memory.fits and (allowed.chunks or allowed.token_budget >= changed.of(name).input_tokens)

            candidates = (question.changed(chunked_prefill=True), question.changed(max_batched_tokens=tokens))
            cures = tuple(changed.command for changed in tried(candidates, works))
            yield Violation(name="token budget", problem=problem, cures=cures)


def _cures(question: SplitQuestion, pool: SplitPool, shape: Transformer, known: Catalogue) -> Iterator[str]:
    words = question.words(pool.name)
    tensor = pool.instance.layout.tensor
    wider = (replace(words, tensor=tensor * times) for times in _TIMES)
    narrower = (replace(words, weights=name) for name in ("fp8", "nvfp4"))
    for several in (wider, narrower):
        candidates = (question.changed(**{pool.name: other}) for other in several)
        works = tried(candidates, lambda changed: pool_of(changed, pool.name, shape, pool.cluster, known).memory.fits)
        yield from (changed.command for changed in islice(works, 1))


def _answer(
    found: SplitServing, requested: AbstractLoad, percentiles: tuple[float, ...], *, rates: bool
) -> "SplitAnswer":
    from volvelle.applications.serving.split.split_answer import WorkerPool, split_answer  # noqa: PLC0415 - slow
    from volvelle.simulation.pools.two_pools import Router  # noqa: PLC0415 - its compiler is slow

    question = found.question
    first, second = (WorkerPool(instance=pool.instance, workers=pool.workers) for pool in (found.prefill, found.decode))
    return split_answer(
        first,
        second,
        requested,
        request_lengths(requested, question.of("decode")),
        link=found.link,
        by_layer=question.transfer == "by-layer",
        router=Router(ROUTERS.index(question.router)),
        requests=question.requests,
        seed=question.seed,
        rates=rates,
        percentiles=percentiles,
    )


def _notes(found: SplitServing) -> Iterator[str]:
    question = found.question
    yield from found.warnings
    yield from checkpoint_notes(question.of("decode"), found.decode.instance.served.shape)
    for name, given, usual in (("input", question.input, INPUT), ("output", question.output, OUTPUT)):
        if given is None and not question.traced:
            yield f"{usual:,} {name} tokens a request are taken, as vllm bench serve does; --{name} says others"
    yield "TTFT is until decoding begins, when routers hand the first token out: with transfer and wait for room"
    yield "prompts are not looked up in a prefix cache, and blocks of a computed prompt are free when it is computed"
    load = found.load
    if load is None:
        return
    yield from load_notes(question.load, question.lengths, warm_up=load.warmed_up)
    if load.parts > 1:
        yield f"one of {load.parts} equal parts of the ranks of each worker is followed, with an even share of the load"
    if found.prefill.instance.layout.data > 1 or found.decode.instance.layout.data > 1:
        yield "data-parallel ranks are timed as if their neighbours had as much to do"
    yield from basis_words(found.bases)


def split_of(question: ServeQuestion) -> SplitServeQuestion:
    """Return the question about two pools; reject options that do not go together, or with two pools."""
    if question.prefill is None and question.decode is None:
        stated = next(name for name in ("transfer", "router") if getattr(question, name) is not None)
        raise DescriptionError(f"--{stated} is said of two pools; give them with --prefill and --decode, like '1x tp8'")
    if question.prefill is None or question.decode is None:
        stated, other = ("prefill", "decode") if question.decode is None else ("decode", "prefill")
        raise DescriptionError(f"--{stated} is given without --{other}; two pools need both, like --{other} '1x tp8'")
    if question.load is None:
        raise DescriptionError("two pools serve requests that come one by one; give --load, like 'closed 64'")
    if question.batch is not None:
        raise DescriptionError("two pools serve requests, not one batch; give --load, like 'closed 64', and no --batch")
    for part, _ in question.given():
        if part.name in OF_ONE_ENGINE:
            raise DescriptionError(f"{part.flag} is not there for two pools: {OF_ONE_ENGINE[part.name]}")
        if part.name in ("tensor", "pipeline", "expert", "data"):
            raise DescriptionError(
                f"{part.flag} is said of each pool: write it in --prefill and --decode, like '2x tp4'"
            )
    pools = {"transfer": question.transfer or "after", "router": question.router or "round-robin"}
    return question.as_question(SplitServeQuestion, **pools)
