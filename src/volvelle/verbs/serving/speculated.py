"""The same question with and without drafts, and with each window: what `serve` adds where it is asked to draft."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from volvelle.applications.serving.instance import Instance
from volvelle.applications.serving.speculation.gain import (
    WINDOWS,
    SpeculationGain,
    WindowGain,
    batch_gains,
    figures,
    tree_times,
)
from volvelle.applications.serving.static_answer import StaticAnswer, decode_tpot
from volvelle.catalogue import Catalogue
from volvelle.system.cluster import Cluster
from volvelle.verbs.serving.cures import memory_of, ranks
from volvelle.verbs.serving.question import ServingQuestion
from volvelle.workload.families.shape import Transformer

if TYPE_CHECKING:
    from volvelle.applications.serving.under_load import LoadAnswer

TimedRequest = tuple[float, float]
"""TPOT and latency of a request, in the mean."""


def windows_for(
    question: ServingQuestion,
    catalogue: Catalogue,
    shape: Transformer,
    cluster: Cluster,
    timed: Callable[[Instance], TimedRequest | None],
) -> tuple[WindowGain, ...]:
    """What was asked with each window that fits; those past what a load sustains are left out."""
    found = []
    for window in WINDOWS:
        instance = question.instance(catalogue, shape, cluster, window=window)
        speculation = instance.speculation
        if speculation is None or not memory_of(question, instance, cluster).fits:
            continue
        known = timed(instance)
        if known is not None:
            tpot, latency = known
            found.append(WindowGain(window=window, tokens=speculation.tokens, tpot=tpot, latency=latency))
    return tuple(found)


def best_window(windows: tuple[WindowGain, ...]) -> int:
    """The window of the lowest mean latency of a request; 1 where none is known."""
    return min(windows, key=lambda window: window.latency).window if windows else 1


def speculation_gain(
    question: ServingQuestion,
    instance: Instance,
    *,
    plain: Instance,
    replicas: int,
    answers: "tuple[StaticAnswer | LoadAnswer | None, StaticAnswer | LoadAnswer | None]",
    windows: tuple[WindowGain, ...],
) -> SpeculationGain | None:
    """With drafts against without; None: nothing is drafted. `answers` are those with and without."""
    if instance.speculation is None:
        return None
    drafted, without = (figures(answer) for answer in answers)
    lengths = {"input_tokens": question.input_tokens, "output_tokens": question.output_tokens}
    batches, loss_from = batch_gains(plain, instance, **lengths, replicas=replicas)
    static = answers[0] if isinstance(answers[0], StaticAnswer) else None
    return SpeculationGain(
        speculation=instance.speculation,
        ttft=drafted["ttft"],
        tpot=drafted["tpot"],
        throughput=drafted["throughput"],
        ttft_without=without["ttft"],
        tpot_without=without["tpot"],
        throughput_without=without["throughput"],
        batches=batches,
        windows=windows,
        tree=None if static is None else tree_times(instance, static),
        loss_from=loss_from,
        under_load=static is None,
    )


def without_drafts(question: ServingQuestion) -> ServingQuestion:
    """The same question of the target alone."""
    return replace(question, speculate=None)


def static_request(question: ServingQuestion, instance: Instance, cluster: Cluster, *, reading: float) -> TimedRequest:
    """TPOT and latency of a batch whose prompts take `reading` seconds."""
    sequences = np.array([-(-(question.batch or 1) // ranks(instance.layout, cluster))], dtype=float)
    made = question.output_tokens
    tpot = float(decode_tpot(instance, sequences, input_tokens=question.input_tokens, output_tokens=made)[0])
    return tpot, reading + (made - 1) * tpot


def loaded_request(answer: "LoadAnswer") -> TimedRequest | None:
    """TPOT and latency under load; None: it is more than is sustained, or answers are of one token."""
    known = answer.latencies
    return (known["tpot"].mean, known["e2el"].mean) if {"tpot", "e2el"} <= set(known) else None


def draft_notes(instance: Instance) -> Iterator[str]:
    """Whose acceptance was taken."""
    drafts = instance.speculation
    if drafts is None:
        return
    found = drafts.acceptance
    yield (
        f"acceptance {found.found.first:g} at the first position, {found.found.decay:g} of it left at each further one "
        f"({found.source}); intervals are wider by a factor of {found.error:.2f} a standard deviation for it"
    )
    if drafts.drafting.branching:
        yield "candidates for the same position are taken to be accepted independently, each like the first"
    if found.stands_in:
        yield "say the acceptance of your drafter: acceptance 0.7 decay 0.95, or curve FILE, behind --speculate"
