"""How fast a model is served: alone as a batch, or under load; what fits, where the time goes, and what it costs."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, final

from volvelle.applications.serving.evidence.basis import ServingBasis, basis_words, load_kind, serving_bases
from volvelle.applications.serving.held_memory import HeldMemory
from volvelle.applications.serving.instance import Instance
from volvelle.applications.serving.speculation.gain import SpeculationGain, WindowGain
from volvelle.applications.serving.static_answer import StaticAnswer, static_answer
from volvelle.base.python_function import asks_either
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError
from volvelle.estimators.result import AbstractFigure, Range, RangedFigure, Violation
from volvelle.interchange.engine_launch.deployment import LaunchFile
from volvelle.interchange.load_words import read_load
from volvelle.presentable import Presentable
from volvelle.questions.serving import BatchServeQuestion, LoadServeQuestion, ServeQuestion
from volvelle.system.cluster import Cluster
from volvelle.verbs.named import Machine, catalogue_of
from volvelle.verbs.serving.checkpoint import (
    check_context,
    checkpoint_notes,
    checkpoint_warnings,
    served_shape,
    with_weights,
)
from volvelle.verbs.serving.cost import ServingCost, token_cost
from volvelle.verbs.serving.cures import memory_of, ranks, violations
from volvelle.verbs.serving.files import launch_files, write_files
from volvelle.verbs.serving.load_figures import WithLoadFigures, nothing_served, token_cost_figure
from volvelle.verbs.serving.question import INPUT, OUTPUT, ServingQuestion
from volvelle.verbs.serving.request_lengths import load_notes, request_lengths
from volvelle.verbs.serving.speculated import (
    TimedRequest,
    best_window,
    draft_notes,
    loaded_request,
    speculation_gain,
    static_request,
    windows_for,
    without_drafts,
)
from volvelle.workload.families.shape import Transformer
from volvelle.workload.serving.loads import AbstractLoad

if TYPE_CHECKING:
    from volvelle.applications.serving.under_load import LoadAnswer
    from volvelle.interchange.timeline import WrittenTimeline


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Serving(Presentable, ABC):
    """How a model is served, with its question: `StaticServing` for a batch, `LoadedServing` for a load."""

    question: ServingQuestion
    cluster: Cluster
    instance: Instance
    memory: HeldMemory
    load_kind: str
    """What is put on the engine, as measured runs are told apart by it."""
    violations: tuple[Violation, ...] = ()
    cost: ServingCost | None = None
    speculation: SpeculationGain | None = None
    """What drafts change; None: nothing is drafted, or it cannot be served."""
    files: tuple[LaunchFile, ...] = ()
    """That launch it, where they were asked for."""
    folder: Path | None = None
    """Where they were written; None: nowhere."""

    @property
    @abstractmethod
    def static(self) -> StaticAnswer | None:
        """Of a batch; None: a load was asked about, or it cannot be served."""

    @property
    @abstractmethod
    def load(self) -> "LoadAnswer | None":
        """Under load; None: that was not asked, or it cannot be served."""

    @property
    @abstractmethod
    def timeline(self) -> "WrittenTimeline | None":
        """What was written of a load, where that was asked for."""

    @property
    @abstractmethod
    def ttft(self) -> AbstractFigure:
        """Time to the first token."""

    @property
    @abstractmethod
    def tpot(self) -> AbstractFigure:
        """Time per output token after the first."""

    @property
    @abstractmethod
    def output_throughput(self) -> RangedFigure:
        """Output tokens per second of all chips that are used."""

    @property
    @abstractmethod
    def total_token_throughput(self) -> RangedFigure:
        """Input and output tokens per second of all chips that are used."""

    @property
    @abstractmethod
    def owned_token_cost(self) -> RangedFigure:
        """Dollars per million output tokens on owned hardware, energy included."""

    @property
    @abstractmethod
    def rented_token_cost(self) -> RangedFigure:
        """Dollars per million output tokens on rented hardware."""

    @property
    def model(self) -> str:
        """Its name."""
        return self.instance.served.shape.name

    @property
    def feasible(self) -> bool:
        """Whether it can be served as asked."""
        return not self.violations

    @property
    def replicas(self) -> int:
        """Instances that share what is asked."""
        return self.cluster.accelerators // self.instance.layout.chips

    @property
    def chips(self) -> int:
        """Chips that are used."""
        return self.replicas * self.instance.layout.chips

    @property
    def timed(self) -> "StaticAnswer | LoadAnswer | None":
        """Whichever was asked for; None: it cannot be served."""
        return self.static or self.load

    @property
    def throughput(self) -> float | None:
        """Output tokens a second of all chips that are used."""
        return None if self.timed is None else self.timed.throughput

    @property
    def ranges(self) -> Mapping[str, Range]:
        """Where four of five measurements are to be expected."""
        return {} if self.timed is None else self.timed.ranges

    @property
    def bases(self) -> tuple[ServingBasis, ...]:
        """What each of these ranges rests on; throughput of a batch is tokens over its latency."""
        found = dict(serving_bases(self.instance, self.load_kind))
        if self.static is not None:
            found["throughput"] = replace(found["latency"], figure="throughput")
        return tuple(found[name] for name in self.ranges)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before the figures."""
        told = checkpoint_warnings(self.question, self.instance.served.shape)
        return (*self.cluster.notes_on_power, *self.instance.warnings, *told)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed, and whose constants were taken."""
        return tuple(_notes(self))


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class StaticServing(Serving):
    """How fast one batch is served: all prompts are there at once.

    Its figures are `ttft`, `tpot` and `latency` in seconds, `output_throughput` and `total_token_throughput` in tokens
    per second, `memory` in bytes per GPU, and `owned_token_cost` and `rented_token_cost` in dollars per million output
    tokens. If the batch cannot be served (`feasible`), only `memory` is there and the others raise
    `MissingFigureError`.

    Examples
    --------
    >>> from volvelle import StaticServing, serve
    >>> answer = serve("llama3-8b", on="dgx-h100/8", batch=8)
    >>> isinstance(answer, StaticServing)
    True
    >>> answer.ttft.value < answer.latency.value
    True
    """

    static: StaticAnswer | None = None
    """None: it cannot be served."""

    @property
    def load(self) -> None:
        """None: a batch was asked about."""

    @property
    def timeline(self) -> None:
        """None: a batch has no timeline."""

    @property
    def ttft(self) -> RangedFigure:
        """Seconds until every sequence has its first token."""
        found = self._timed()
        return RangedFigure(value=found.ttft, range=found.ranges["ttft"], unit="s")

    @property
    def tpot(self) -> RangedFigure:
        """Seconds per output token after the first."""
        found = self._timed()
        return RangedFigure(value=found.tpot, range=found.ranges["tpot"], unit="s")

    @property
    def latency(self) -> RangedFigure:
        """Seconds until the last token."""
        found = self._timed()
        return RangedFigure(value=found.latency, range=found.ranges["latency"], unit="s")

    @property
    def output_throughput(self) -> RangedFigure:
        """Output tokens per second of all chips that are used."""
        found = self._timed()
        return RangedFigure(value=found.throughput, range=found.ranges["throughput"], unit="tokens/s")

    @property
    def total_token_throughput(self) -> RangedFigure:
        """Input and output tokens per second of all chips that are used."""
        found = self._timed()
        around, times = found.ranges["throughput"], found.total_throughput / found.throughput
        around = replace(around, low=times * around.low, high=times * around.high)
        return RangedFigure(value=found.total_throughput, range=around, unit="tokens/s")

    @property
    def owned_token_cost(self) -> RangedFigure:
        """Dollars per million output tokens on owned hardware, energy included."""
        return token_cost_figure(None if self.cost is None else self.cost.owned, self.output_throughput)

    @property
    def rented_token_cost(self) -> RangedFigure:
        """Dollars per million output tokens on rented hardware."""
        return token_cost_figure(None if self.cost is None else self.cost.rented, self.output_throughput)

    def _timed(self) -> StaticAnswer:
        if self.static is None:
            raise nothing_served(self.violations)
        return self.static


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class LoadedServing(WithLoadFigures, Serving):
    """How fast requests of a load are served, as ``vllm bench serve`` measures it.

    Its figures are `ttft`, `tpot`, `itl` and `e2el` (`LatencyFigure`, in seconds), `request_throughput`,
    `output_throughput` and `total_token_throughput` per second, `memory` in bytes per GPU, and `owned_token_cost` and
    `rented_token_cost` in dollars per million output tokens. If the load cannot be served (`feasible`), or comes faster
    than it is served, only `memory` is there and the others raise `MissingFigureError`.

    Examples
    --------
    >>> from volvelle import LoadedServing, Poisson, serve
    >>> answer = serve("llama3-8b", on="dgx-h100/8", load=Poisson(4), input=512, output=64)
    >>> assert isinstance(answer, LoadedServing)
    >>> answer.ttft.median <= answer.ttft.p99
    True
    """

    load: "LoadAnswer | None" = None
    """None: it cannot be served."""
    timeline: "WrittenTimeline | None" = None
    """What was written of the load, where that was asked for."""

    @property
    def static(self) -> None:
        """None: a load was asked about."""

    def _measured(self) -> "LoadAnswer":
        if self.load is None:
            raise nothing_served(self.violations)
        return self.load

    def _token_cost(self) -> ServingCost | None:
        return self.cost


@asks_either(LoadServeQuestion, LoadedServing, BatchServeQuestion, StaticServing)
def serve(question: ServeQuestion) -> LoadedServing | StaticServing:
    """Return how fast a model is served: a batch alone, or under load, with memory, cost and what limits it.

    With `batch`, that many sequences of `input` tokens start at once, and each produces `output` tokens. With `load`,
    requests arrive over time: ``Closed(64)`` (clients that each send the next request when the last has ended),
    ``Poisson(12)``, ``Trace("FILE", scale=1.5)``, or the same in words, like ``"closed 64"``. The answer has what
    ``vllm bench serve`` measures, without the first request of each client.

    One instance uses ``tensor × data × pipeline`` GPUs. The machine holds as many replicas as fit, and they share the
    batch or the load evenly. With `speculate`, tokens are drafted and verified, and the answer contains the result
    without drafts. With `emit`, the answer contains the files that launch the engine and the benchmark that measures
    it; they are written to the folder `into` if one is given.
    """
    if question.splits:
        raise DescriptionError("two pools are served by serve_split in Python; leave prefill and decode out")
    answer = _serving(question)
    assert isinstance(answer, LoadedServing | StaticServing), "a batch or a load is asked about"
    return answer


def _serving(question: ServeQuestion) -> Serving:
    known = catalogue_of(question.catalogue)
    cluster = machine_of(question.on, known)
    shape = served_shape(question.model, known)
    load, emit, checkpoint = question.load, question.emit, question.checkpoint
    if load is not None and question.batch is not None:
        raise DescriptionError("both a batch and a load are given; give --batch for one batch, or --load for requests")
    if load is None and question.timeline is not None:
        raise DescriptionError("a timeline is that of a load; give --load, like 'closed 64', too")
    if emit is None and (question.into is not None or checkpoint is not None):
        raise DescriptionError("a folder and a checkpoint are for files to launch with; give --emit, like vllm, too")
    if load is None and (question.requests is not None or question.lengths is not None):
        raise DescriptionError("requests and lengths are those of a load; give --load, like 'closed 64', too")
    asked = question.as_question(
        ServingQuestion,
        model=name_of(question.model, shape),
        on=cluster.name,
        batch=1 if load is None and question.batch is None else question.batch,
        weights="bf16",
    )
    requested = None if asked.load is None else read_load(asked.load)
    if requested is not None:
        request_lengths(requested, asked)
    check_context(asked, shape)
    asked = with_weights(asked, question.weights, known, shape, cluster)
    instance = asked.instance(known, shape, cluster)
    kind = StaticServing if requested is None else LoadedServing
    found = kind(
        question=asked,
        cluster=cluster,
        instance=instance,
        memory=memory_of(asked, instance, cluster),
        load_kind=load_kind(requested),
        violations=violations(asked, instance, cluster, catalogue=known, shape=shape),
    )
    if not found.feasible:
        return found
    files = () if emit is None else launch_files(emit, asked, instance, cluster, checkpoint=checkpoint)
    if asked.drafting is None:
        answered = _answered(found, requested)
    else:
        answered = _with_drafts(found, requested, known, shape)
        if emit is not None:  # what was refused above was refused early; now the window is decided
            files = launch_files(emit, asked, answered.instance, cluster, checkpoint=checkpoint)
    folder = None if question.into is None else Path(question.into)
    if folder is not None:
        write_files(files, folder)
    if isinstance(answered, LoadedServing) and answered.load is not None and question.timeline is not None:
        answered = replace(answered, timeline=_timeline(answered.load, Path(question.timeline)))
    return replace(
        answered,
        cost=token_cost(answered.throughput, ((answered.cluster, answered.chips),)),
        files=files,
        folder=folder,
    )


def _timeline(load: "LoadAnswer", file: Path) -> "WrittenTimeline":
    from volvelle.interchange.timeline import write_timeline  # noqa: PLC0415 - needed where it is asked for

    return write_timeline(load.served, file)


def _answered(found: Serving, requested: AbstractLoad | None) -> Serving:
    """What was asked, of a batch or under load."""
    if isinstance(found, StaticServing):
        return replace(found, static=_static(found))
    assert isinstance(found, LoadedServing), "a batch or a load was asked about"
    assert requested is not None, "a load was asked about"
    return _with_load(found, requested)


def _with_drafts(found: Serving, requested: AbstractLoad | None, catalogue: Catalogue, shape: Transformer) -> Serving:
    """The answer with drafts, of the best window where that is asked for, and what drafts change."""
    question, cluster, drafting = found.question, found.cluster, found.question.drafting

    def timed(instance: Instance) -> TimedRequest | None:
        if requested is not None:
            return loaded_request(_under_load(replace(found, instance=instance), requested))
        return static_request(question, instance, cluster, reading=reading)

    reading = _static(found).ttft if requested is None else 0.0  # a first token needs no draft
    windows: tuple[WindowGain, ...] = ()
    if drafting is not None and not drafting.branching and (drafting.window is None or requested is None):
        windows = windows_for(question, catalogue, shape, cluster, timed)
    if drafting is not None and drafting.window is None:
        instance = question.instance(catalogue, shape, cluster, window=best_window(windows))
        found = replace(found, instance=instance, memory=memory_of(question, instance, cluster))
    plain = without_drafts(question).instance(catalogue, shape, cluster)
    answered = _answered(found, requested)
    gain = speculation_gain(
        question,
        found.instance,
        plain=plain,
        replicas=found.replicas,
        answers=(answered.timed, _answered(replace(found, instance=plain), requested).timed),
        windows=windows,
    )
    return replace(answered, speculation=gain)


def name_of(model: object, shape: Transformer) -> str:
    """Return the name of a model as the user wrote it, or the name of a model that is given as a value."""
    return shape.name if isinstance(model, Transformer) else str(model)


def machine_of(on: Machine, catalogue: Catalogue) -> Cluster:
    """Return the machine; one node of a machine whose size is a fact, where no number of accelerators is given."""
    if isinstance(on, Cluster):
        return on
    cluster = catalogue.cluster(on)
    if "/" in on:
        return cluster
    node = catalogue.node(on)
    told = f"no number of accelerators is given: one node of {node.accelerators} is used"
    return replace(node, notes=(told,))


def _static(found: Serving) -> StaticAnswer:
    question = found.question
    assert question.batch is not None, "a batch was given or is 1"
    return static_answer(
        found.instance,
        batch=question.batch,
        input_tokens=question.input_tokens,
        output_tokens=question.output_tokens,
        replicas=found.replicas,
    )


def _with_load(found: LoadedServing, requested: AbstractLoad) -> LoadedServing:
    """The answer under load, its memory as full as the load made it."""
    load = _under_load(found, requested)
    peak = load.occupancy.kv_peak * max(found.memory.room, 0.0)
    return replace(found, load=load, memory=replace(found.memory, cache_peak=peak))


def _under_load(found: Serving, load: AbstractLoad) -> "LoadAnswer":
    from volvelle.applications.serving.under_load import answer_under_load  # noqa: PLC0415 - its compiler is slow

    question = found.question
    return answer_under_load(
        found.instance,
        load,
        request_lengths(load, question),
        replicas=found.replicas,
        requests=question.requests,
        seed=question.seed,
    )


def _notes(found: Serving) -> Iterator[str]:
    instance, question = found.instance, found.question
    yield from found.warnings
    yield from checkpoint_notes(question, instance.served.shape)
    for name, given, usual in (("input", question.input, INPUT), ("output", question.output, OUTPUT)):
        if given is None and not question.traced:
            yield f"{usual:,} {name} tokens a request are taken, as vllm bench serve does; --{name} says others"
    layout = instance.layout
    idle = found.cluster.accelerators - found.chips
    if idle:
        yield f"{idle} of {found.cluster.accelerators} chips are in no instance"
    if found.timed is None:
        return
    if question.load is not None:
        yield from load_notes(question.load, question.lengths, warm_up=found.load is not None and found.load.warmed_up)
    yield from basis_words(found.bases)
    if layout.pipeline > 1:
        yield "stages of the pipeline take turns: one batch is in flight"
    if layout.chips > found.cluster.dimensions[0].size:
        yield "activations handed from node to node are timed as within one"
    if ranks(layout, found.cluster) > 1:
        yield "replicas and data-parallel ranks get even shares; the fullest is timed"
    yield from draft_notes(instance)
    elsewhere = _taken_from(instance)
    if elsewhere:
        yield f"constants of kernels taken from elsewhere: {'; '.join(elsewhere)}"


def _taken_from(instance: Instance) -> list[str]:
    """Kinds of kernels that the model needs and that were measured under other software, or on another chip."""
    served, own = instance.served, instance.engine.kernels
    needed = {"products in bfloat16", f"products in {served.dense_format.kernels}"}
    latent = "latent " if served.shape.latent is not None else ""
    needed |= {f"{latent}attention over a prompt in bfloat16", f"{latent}attention of one token in bfloat16"}
    told = (taken.partition(": ") for taken in instance.iteration.kernels.taken_from)
    return [f"{kind} from {whose}" for kind, _, whose in told if kind in needed and whose.split()[0] != own]
