"""Lengths of requests in words: ``around:0.2`` (the default), ``uniform:0.8``, ``fixed``."""

from collections.abc import Iterator

from volvelle.errors import DescriptionError
from volvelle.verbs.serving.question import ServingQuestion
from volvelle.workload.serving.lengths import (
    LEAST_VARIED,
    USUAL_LENGTHS,
    AbstractLengths,
    AbstractShape,
    FixedLength,
    Independent,
    request_lengths_value,
)
from volvelle.workload.serving.loads import AbstractLoad, Recorded


def request_lengths(load: AbstractLoad, question: ServingQuestion) -> AbstractShape | None:
    """Return the lengths of the requests of a load, or None for a trace, which has its own."""
    said = question.input is not None or question.output is not None
    if isinstance(load, Recorded):
        if said or question.lengths is not None:
            raise DescriptionError("a trace has lengths of its own; leave --input, --output and --lengths away")
        return None
    prompts, answers = (_drawn(question, tokens) for tokens in (question.input_tokens, question.output_tokens))
    return Independent(input=prompts, output=answers)


def _drawn(question: ServingQuestion, tokens: int) -> AbstractLengths:
    """Return how lengths are drawn; the usual ones vary only where a fifth is a token or more, to keep their mean."""
    if question.lengths is None and tokens < LEAST_VARIED:
        return FixedLength(tokens=tokens)
    return request_lengths_value(question.lengths or USUAL_LENGTHS).of(tokens)


def load_notes(load: str, lengths: str | None, *, warm_up: bool) -> Iterator[str]:
    """Yield notes about the figures of a load in words: its lengths, its warm-up, and clients in step.

    `warm_up` is whether the first request of each client was left out.
    """
    kind = load.split(maxsplit=1)[0].lower()
    if lengths is None and kind != "trace":
        yield (
            f"lengths of requests are drawn uniformly from a fifth below to a fifth above the stated ones "
            f"({USUAL_LENGTHS}); --lengths takes others"
        )
    if kind != "closed":
        return
    if warm_up:
        yield (
            "the first request of each client is warm-up: latencies leave it out, and rates begin when every client "
            "has finished it"
        )
    if lengths is not None and lengths.strip().lower() == "fixed":
        yield (
            "with --lengths fixed all clients finish together and send together, so TTFT is that of waves of prompts; "
            "lengths that vary spread them"
        )
