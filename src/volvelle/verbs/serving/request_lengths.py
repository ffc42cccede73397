"""Lengths of requests in words: ``fixed``, ``uniform:0.8``, ``around:0.2``."""

from volvelle.errors import DescriptionError, brief
from volvelle.verbs.serving.question import ServingQuestion
from volvelle.workload.serving.lengths import (
    RANGE_RATIO,
    AbstractLengths,
    AbstractShape,
    FixedLength,
    Independent,
    UniformAround,
    UniformBelow,
)
from volvelle.workload.serving.loads import AbstractLoad, Trace

_FORMS = "'fixed', 'uniform:0.8' (from 0.8 of the length up to it) or 'around:0.2' (a fifth to either side)"


def request_lengths(load: AbstractLoad, question: ServingQuestion) -> AbstractShape | None:
    """Of the requests of a load; None: a trace has its own."""
    said = question.input is not None or question.output is not None
    if isinstance(load, Trace):
        if said or question.lengths != "fixed":
            raise DescriptionError("a trace has lengths of its own; leave --input, --output and --lengths away")
        return None
    prompts, answers = (
        _lengths(question.lengths, tokens) for tokens in (question.input_tokens, question.output_tokens)
    )
    return Independent(input=prompts, output=answers)


def _lengths(text: str, tokens: int) -> AbstractLengths:
    kind, _, ratio = text.strip().lower().partition(":")
    if kind == "fixed" and not ratio:
        return FixedLength(tokens=tokens)
    if kind in ("uniform", "around"):
        try:
            number = float(ratio)
        except ValueError:
            number = -1.0
        RANGE_RATIO.check(number, f"lengths {brief(text)}: the ratio")
        drawn = UniformBelow if kind == "uniform" else UniformAround
        return drawn(tokens=tokens, range_ratio=number)
    raise DescriptionError(f"the lengths {brief(text)} cannot be read; write {_FORMS}")
