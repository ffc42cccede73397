"""The checkpoint that a serving question is about: its context, and the format of its weights."""

from collections.abc import Iterator

import numpy as np

from volvelle.catalogue import Catalogue
from volvelle.catalogue.checkpoints import as_launched
from volvelle.errors import OutsideDomainError, VolvelleError, plainly
from volvelle.interchange.load_words import read_load
from volvelle.system.cluster import Cluster
from volvelle.verbs.named import Model, model_of
from volvelle.verbs.serving.question import ServingQuestion
from volvelle.workload.families.shape import Transformer
from volvelle.workload.served_model import FORMATS, format_named
from volvelle.workload.serving.loads import Recorded

_USUAL = "bf16"


def served_shape(model: Model, catalogue: Catalogue) -> Transformer:
    """Return the architecture of a model, with the context of the checkpoint that engines launch for its name."""
    shape = model_of(model, catalogue)
    return as_launched(shape, model, catalogue) if isinstance(model, str) else shape


def with_weights(
    question: ServingQuestion, weights: str | None, catalogue: Catalogue, shape: Transformer, cluster: Cluster
) -> ServingQuestion:
    """Return the question with the given format of weights, or with that of the published checkpoint."""
    given = None if weights is None else format_named(weights)
    published = published_format(question, catalogue, shape, cluster, required=given is None)
    return question.changed(published=published, weights=given or published)


def published_format(
    question: ServingQuestion, catalogue: Catalogue, shape: Transformer, cluster: Cluster, *, required: bool = True
) -> str:
    """Return the format of the published weights; bf16 where the chip has no measured kernels for that format.

    A checkpoint in a format that Volvelle does not have is rejected if it is `required`.
    """
    stated = shape.published_weights
    if not stated:
        return _USUAL
    if stated not in FORMATS:
        if not required:
            return _USUAL
        raise OutsideDomainError(
            f"the weights of {shape.name} are in a format that Volvelle does not have: {stated}; give the nearest one "
            f"with --weights: {', '.join(FORMATS)}"
        )
    one_chip = question.changed(tensor=1, pipeline=1, expert=1, data=1, speculate=None)
    for name in (stated, _USUAL):
        try:
            one_chip.changed(weights=name).instance(catalogue, shape, cluster)
        except VolvelleError:
            continue
        return name
    return stated


def check_context(question: ServingQuestion, shape: Transformer) -> None:
    """Reject requests that are longer than the context of the model; the requests of a trace get a note instead."""
    longest = None if question.traced else question.longest_request
    if longest is None or not shape.context or longest <= shape.context:
        return
    stated = question.input_tokens + question.output_tokens
    vary = question.lengths is None and stated <= shape.context
    raise OutsideDomainError(
        f"a request of {longest:,} tokens (input and output) is longer than the context of {_called(question, shape)}, "
        f"{shape.context:,} tokens; "
        + ("lengths vary by a fifth by default, which --lengths fixed prevents; or " if vary else "")
        + "give a smaller --input or --output, or a model with a longer context. For a context extended by RoPE "
        "scaling, give the config.json that has rope_scaling"
    )


def checkpoint_notes(question: ServingQuestion, shape: Transformer) -> Iterator[str]:
    """Yield what the answer assumes of the checkpoint: architecture, format of weights, and context."""
    named = question.model
    if not named.endswith(".json") and plainly(named) != plainly(shape.name):
        context = f", with a context of {shape.context:,} tokens" if shape.context else ""
        yield f"{named} has the architecture of {shape.name}{context}"
    if shape.published_weights == question.weights:
        yield f"weights are in {question.weights}, the format of the published checkpoint; --weights gives another"
    if not shape.context:
        yield f"the context of {shape.name} is unknown, so lengths of requests are not checked against it"


def checkpoint_warnings(question: ServingQuestion, shape: Transformer) -> Iterator[str]:
    """Yield where the answer differs from what an engine does: another format of weights, or requests too long."""
    stated = shape.published_weights
    if stated in FORMATS and stated != question.published == question.weights:
        yield (
            f"the published checkpoint is in {stated}, and no kernels in that format were measured on this chip: "
            f"weights are in {question.weights}"
        )
    if question.traced and question.load is not None and shape.context:
        load = read_load(question.load)
        assert isinstance(load, Recorded), "a traced load is a trace"
        lengths = load.recorded.input_tokens + load.recorded.output_tokens
        longer = int(np.count_nonzero(lengths > shape.context))
        if longer:
            yield (
                f"{longer:,} of {lengths.size:,} requests of the trace are longer than the context of {shape.name}, "
                f"{shape.context:,} tokens: an engine rejects them, and the answer serves them"
            )


def _called(question: ServingQuestion, shape: Transformer) -> str:
    return shape.name if question.model.endswith(".json") else question.model
