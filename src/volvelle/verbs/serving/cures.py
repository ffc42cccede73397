"""Where a model cannot be served as asked: why not, and the smallest changes with which it can, each as a command."""

from collections.abc import Callable, Iterator

from volvelle.applications.serving.held_memory import HeldMemory, held_memory
from volvelle.applications.serving.instance import Instance
from volvelle.catalogue import Catalogue
from volvelle.errors import VolvelleError
from volvelle.estimators.result import Violation
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.quantities import BYTES, show
from volvelle.system.cluster import Cluster
from volvelle.verbs.remedies.tried import tried
from volvelle.verbs.serving.question import ServingQuestion
from volvelle.workload.families.shape import Transformer
from volvelle.workload.served_model import FORMATS

_DOUBLINGS = 4
"""How often a machine or a degree is made twice as large."""

_NARROWER = ("fp8", "int8", "nvfp4", "mxfp4", "int4")
"""Formats of weights in the order in which they are tried."""
Fits = Callable[[ServingQuestion, Cluster], bool]


def ranks(layout: ServingLayout, cluster: Cluster) -> int:
    """Data-parallel ranks of all replicas, which share what is asked of them."""
    return cluster.accelerators // layout.chips * layout.data


def memory_of(question: ServingQuestion, instance: Instance, cluster: Cluster) -> HeldMemory:
    """Of the fullest rank: its share of the batch, or one request where a load decides how many there are."""
    batch = 1 if question.batch is None else question.batch
    sequences = -(-batch // ranks(instance.layout, cluster))
    return held_memory(instance, sequences=sequences, context=question.input_tokens + question.output_tokens)


def violations(
    question: ServingQuestion, instance: Instance, cluster: Cluster, *, catalogue: Catalogue, shape: Transformer
) -> tuple[Violation, ...]:
    """Why it cannot be served so, each with changes that were tried: with them it can; nothing: it can."""

    def works(changed: ServingQuestion) -> bool:
        machine = cluster if changed.on == question.on else catalogue.cluster(changed.on)
        return not _problems(changed, changed.instance(catalogue, shape, machine), machine)

    found = []
    for name, problem in _problems(question, instance, cluster).items():
        candidates = _candidates(name, question, instance, cluster, catalogue, shape)
        cures = tuple(dict.fromkeys(changed.command for changed in tried(candidates, works)))
        found.append(Violation(name=name, problem=problem, cures=cures))
    return tuple(found)


def _problems(question: ServingQuestion, instance: Instance, cluster: Cluster) -> dict[str, str]:
    """Return why it cannot be served so, by the name of what forbids it."""
    held, rules, found = memory_of(question, instance, cluster), instance.rules(), {}
    if not held.fits:
        found["memory"] = _problem(question, held, instance)
    if held.sequences > rules.max_sequences:
        found["sequences"] = (
            f"{held.sequences:,} sequences at once are more than the {rules.max_sequences:,} of {_name(instance)}"
        )
    longest = question.longest(question.input_tokens)
    if not rules.chunks and longest > rules.token_budget:
        found["token budget"] = (
            f"a prompt of {longest:,} tokens is more than the {rules.token_budget:,} of a step of "
            f"{_name(instance)}, which does not cut prompts"
        )
    return found


def _candidates(
    name: str,
    question: ServingQuestion,
    instance: Instance,
    cluster: Cluster,
    catalogue: Catalogue,
    shape: Transformer,
) -> Iterator[ServingQuestion]:
    """Yield changed questions that may have no such problem."""
    held, rules = memory_of(question, instance, cluster), instance.rules()
    if name == "memory":
        yield from _cures(question, held, instance, cluster, catalogue, shape)
    elif name == "sequences":
        most = rules.max_sequences * ranks(instance.layout, cluster)
        yield question.changed(max_seqs=held.sequences)
        yield question.changed(batch=max(1, min(most, _most(held, instance, cluster))))
    else:
        yield question.changed(chunked_prefill=True)
        yield question.changed(max_batched_tokens=question.longest(question.input_tokens))
        if question.input_tokens <= rules.token_budget:
            yield question.changed(lengths="fixed")


def _most(held: HeldMemory, instance: Instance, cluster: Cluster) -> int:
    """Such sequences that all ranks hold at once."""
    return ranks(instance.layout, cluster) * held.most_sequences


def _name(instance: Instance) -> str:
    return instance.engine.title


def _problem(question: ServingQuestion, held: HeldMemory, instance: Instance) -> str:
    context = question.input_tokens + question.output_tokens
    if held.request_cache > held.room:
        if held.room > 0:
            return (
                f"one request of {context:,} tokens keeps {show(held.request_cache, BYTES)} on a chip, and weights "
                f"leave {show(held.room, BYTES)} for the cache ({held.cache_tokens:,} tokens)"
            )
        return (
            f"{instance.served.shape.name} in {instance.served.weights} takes {show(held.weights, BYTES)} of "
            f"{show(held.allowed, BYTES)} that {_name(instance)} may use of each {instance.chip.name}, and "
            f"{show(held.working, BYTES)} more to work with: nothing is left for a cache"
        )
    return (
        f"{held.sequences:,} sequences of {context:,} tokens keep {show(held.cache, BYTES)} on a chip, and weights "
        f"leave {show(held.room, BYTES)} for the cache: {held.most_sequences:,} such sequences"
    )


def _cures(
    question: ServingQuestion,
    held: HeldMemory,
    instance: Instance,
    cluster: Cluster,
    catalogue: Catalogue,
    shape: Transformer,
) -> Iterator[ServingQuestion]:
    """Single changes first: a smaller batch, more chips, narrower weights, a narrower cache; then a larger machine."""
    most = min(_most(held, instance, cluster), ranks(instance.layout, cluster) * instance.rules().max_sequences)
    if question.batch is not None and most:
        yield question.changed(batch=most)

    def fits(changed: ServingQuestion, machine: Cluster) -> bool:
        try:
            return memory_of(changed, changed.instance(catalogue, shape, machine), machine).fits
        except VolvelleError:
            return False  # there is no such layout, or no such kernel

    degrees = instance.layout
    for times in (2**power for power in range(1, _DOUBLINGS)):
        wider = question.changed(tensor=degrees.tensor * times)
        if fits(wider, cluster):
            yield wider
            break
    kept = instance.served.expert_format.bytes
    for name in (name for name in _NARROWER if FORMATS[name].bytes < kept):
        if fits(narrower := question.changed(weights=name), cluster):
            yield narrower
            break
    if question.kv != "fp8" and fits(smaller := question.changed(kv="fp8"), cluster):
        yield smaller
    yield from _larger(question, degrees, cluster, catalogue, fits)


def _larger(
    question: ServingQuestion, degrees: ServingLayout, cluster: Cluster, catalogue: Catalogue, fits: Fits
) -> Iterator[ServingQuestion]:
    """The same kind of machine with more chips: a wider instance within a node, then more stages."""
    kind = cluster.name.partition("/")[0]
    for times in (2**power for power in range(1, _DOUBLINGS + 1)):
        chips = degrees.chips * times
        name = f"{kind}/{chips}"
        if chips <= cluster.accelerators:
            name = question.on
        try:
            machine = catalogue.cluster(name)
        except VolvelleError:
            return
        for changes in (
            {"tensor": degrees.tensor * times},
            {"tensor": degrees.tensor, "pipeline": degrees.pipeline * times},
        ):
            larger = question.changed(on=name, **changes)
            if fits(larger, machine):
                yield larger
                return
