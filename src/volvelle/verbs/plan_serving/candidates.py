"""What a search for a way to serve looks at: questions of ``volvelle serve`` that differ in layout, formats, settings.

A further axis is a further field of a question: its values stand in `Axes`, and `_settings` or `layouts` changes it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from volvelle.catalogue import Catalogue
from volvelle.catalogue.engines import serving_engine
from volvelle.errors import DescriptionError, MappingError, OutsideDomainError, VolvelleError
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.system.cluster import Cluster
from volvelle.verbs.plan_serving.drafts import drafted_questions
from volvelle.verbs.serving.checkpoint import published_format
from volvelle.verbs.serving.question import ServingQuestion
from volvelle.workload.families.shape import Transformer
from volvelle.workload.served_model import format_named

USUAL_FORMATS = ("bf16", "fp8")
"""Of weights and of caches, where nothing is said."""
_BUDGETS = (2048, 4096, 8192, 16384)
_SEQUENCES = (32, 64, 128, 256, 512)
_MOST_STAGES = 16
FULL = ("bf16", "fp16")
"""Formats that change no answer of a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """Values that are considered; nothing: the usual ones."""

    engines: tuple[str, ...] = ("vllm",)
    weights: tuple[str, ...] = ()
    kv: tuple[str, ...] = ()
    tensor: tuple[int, ...] = ()
    pipeline: tuple[int, ...] = ()
    expert: tuple[int, ...] = ()
    data: tuple[int, ...] = ()
    budgets: tuple[int, ...] = ()
    sequences: tuple[int, ...] = ()
    drafts: tuple[str, ...] = ()
    """Ways to draft, beside not drafting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Candidates that differ only in what the engine is told: one layout, formats, way to draft, and machine."""

    place: int
    """Among all groups, in the order in which ties are broken."""
    cluster: Cluster
    layout: ServingLayout
    questions: tuple[ServingQuestion, ...]
    """One for each setting, the engine's own defaults first."""

    @property
    def replicas(self) -> int:
        """That the machine has room for."""
        return self.cluster.accelerators // self.layout.chips


@dataclass(slots=True, kw_only=True)
class Candidates:
    """All groups, and what was left out, with reasons."""

    groups: list[Group] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    """Reason → groups."""

    @property
    def count(self) -> int:
        """Of candidates."""
        return sum(len(group.questions) for group in self.groups)

    def add(self, cluster: Cluster, layout: ServingLayout, questions: tuple[ServingQuestion, ...]) -> None:
        """One more group."""
        self.groups.append(Group(place=len(self.groups), cluster=cluster, layout=layout, questions=questions))

    def leave_out(self, why: VolvelleError) -> None:
        """One that cannot be considered."""
        self.left_out[str(why)] = self.left_out.get(str(why), 0) + 1


def candidates(
    asked: ServingQuestion, clusters: Sequence[Cluster], shape: Transformer, axes: Axes, catalogue: Catalogue
) -> Candidates:
    """All ways to serve a model on some machines."""
    found = Candidates()
    refused: dict[str, VolvelleError] = {}
    for cluster, engine in product(clusters, axes.engines):
        defaults = serving_engine(engine, cluster.chip.family).defaults
        for layout, question in _questions(asked, engine, cluster, shape, axes, catalogue):
            try:
                question.instance(catalogue, shape, cluster)
            except OutsideDomainError as error:
                found.leave_out(error)
                continue
            questions = tuple(_settings(question, axes, defaults))
            found.add(cluster, layout, questions)
            for words in axes.drafts:
                try:
                    found.add(cluster, layout, drafted_questions(questions, words, shape, cluster, catalogue))
                except (DescriptionError, OutsideDomainError) as error:
                    found.leave_out(error)
                    refused[words] = error
    for words, why in refused.items():
        if not any(group.questions[0].speculate == words for group in found.groups):
            raise why
    if not found.groups:
        raise OutsideDomainError("; ".join(found.left_out) or _no_layout(shape, clusters))
    return found


def _no_layout(shape: Transformer, clusters: Sequence[Cluster]) -> str:
    names = ", ".join(cluster.name for cluster in clusters)
    return (
        f"no layout of the degrees that are given serves {shape.name} on {names}; leave --tp, --pp, --ep or --dp away"
    )


def _questions(
    asked: ServingQuestion, engine: str, cluster: Cluster, shape: Transformer, axes: Axes, catalogue: Catalogue
) -> Iterator[tuple[ServingLayout, ServingQuestion]]:
    """Formats and layouts, each with each."""
    asked = asked.changed(on=cluster.name, engine=engine)
    published = published_format(asked, catalogue, shape, cluster, required=not axes.weights)
    formats = axes.weights or usual_formats(published), axes.kv or USUAL_FORMATS
    for weights, kv, layout in product(*formats, layouts(shape, cluster, axes)):
        yield (
            layout,
            asked.changed(
                on=cluster.name,
                engine=engine,
                weights=format_named(weights),
                published=published,
                kv=kv,
                tensor=layout.tensor,
                pipeline=layout.pipeline,
                expert=layout.expert,
                data=layout.data,
            ),
        )


def layouts(shape: Transformer, cluster: Cluster, axes: Axes) -> Iterator[ServingLayout]:
    """Yield all layouts of an instance that the machine and the model allow.

    Data-parallel ranks are considered only for models with experts, for others replicas do the same.
    """
    node, chips = cluster.dimensions[0].size, cluster.accelerators
    wide = _powers(min(node, chips))
    stages = _powers(min(_MOST_STAGES, shape.layers, chips))
    data_ranks = wide if shape.experts is not None else (1,)
    for tensor, data, pipeline in product(axes.tensor or wide, axes.data or data_ranks, axes.pipeline or stages):
        if tensor * data > node or tensor * data * pipeline > chips:
            continue
        for expert in axes.expert or (_powers(tensor * data) if shape.experts is not None else (1,)):
            layout = ServingLayout(tensor=tensor, pipeline=pipeline, expert=expert, data=data)
            try:
                yield layout.checked(shape)
            except MappingError:
                continue


def _powers(most: int) -> tuple[int, ...]:
    """Powers of two up to a number, and the number itself."""
    found = [2**power for power in range(most.bit_length()) if 2**power <= most]
    return tuple(dict.fromkeys([*found, most]))


def _settings(question: ServingQuestion, axes: Axes, defaults: Mapping[str, float]) -> Iterator[ServingQuestion]:
    """Budgets and sequences; what the engine does by itself is left unsaid."""
    usual = int(defaults.get("chunk", defaults["token_budget"])), int(defaults["max_sequences"])
    budgets = _with_usual(axes.budgets, _BUDGETS, usual[0])
    sequences = _with_usual(axes.sequences, _SEQUENCES, usual[1])
    for budget, most in product(budgets, sequences):
        yield question.changed(
            max_batched_tokens=None if budget == usual[0] else budget, max_seqs=None if most == usual[1] else most
        )


def _with_usual(given: Iterable[int], known: tuple[int, ...], usual: int) -> tuple[int, ...]:
    """What is given; else what the engine does by itself, and what else is considered."""
    return tuple(given) or tuple(dict.fromkeys((usual, *known)))


def usual_formats(published: str) -> tuple[str, ...]:
    """Return the formats of weights that are considered where none is given: that of a quantised checkpoint alone."""
    return USUAL_FORMATS if published in FULL else (published,)


def is_full(question: ServingQuestion) -> bool:
    """Whether weights are as they were published, or in 16 bits, and the cache is in 16 bits."""
    return question.weights in (*FULL, question.published) and question.kv in FULL


def check_axes(axes: Axes) -> Axes:
    """The axes, if a search over them makes sense: no value twice."""
    for name in Axes.__dataclass_fields__:
        values = getattr(axes, name)
        if len(set(values)) < len(values):
            raise DescriptionError(f"{name} are {', '.join(map(str, values))}; give each once")
    return axes
