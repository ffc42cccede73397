"""The same question with and without drafts, and with each window: what `serve` adds where speculation is asked about."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from volvelle.applications.serving.instance import Instance
from volvelle.applications.serving.speculation_gain import (
    WINDOWS,
    SpeculationGain,
    WindowGain,
    batch_gains,
    figures,
    tree_times,
)
from volvelle.applications.serving.static_answer import StaticAnswer
from volvelle.catalogue import Catalogue
from volvelle.system.cluster import Cluster
from volvelle.verbs.serving_cures import memory_of
from volvelle.verbs.serving_question import ServingQuestion
from volvelle.workload.families.shape import Transformer

if TYPE_CHECKING:
    from volvelle.applications.serving.under_load import LoadAnswer


def windows_for(
    question: ServingQuestion,
    catalogue: Catalogue,
    shape: Transformer,
    cluster: Cluster,
    answered: "Callable[[Instance], StaticAnswer | LoadAnswer]",
) -> tuple[WindowGain, ...]:
    """What was asked with each window that fits; those past what a load sustains are left out."""
    found = []
    for window in WINDOWS:
        instance = question.instance(catalogue, shape, cluster, window=window)
        speculation = instance.speculation
        if speculation is None or not memory_of(question, instance, cluster).fits:
            continue
        answer = answered(instance)
        known = figures(answer)
        latency = answer.latency if isinstance(answer, StaticAnswer) else _latency(answer)
        if known["tpot"] is not None and latency is not None:
            found.append(WindowGain(window=window, tokens=speculation.tokens, tpot=known["tpot"], latency=latency))
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
    )


def without_drafts(question: ServingQuestion) -> ServingQuestion:
    """The same question of the target alone."""
    return replace(question, speculate=None)


def _latency(answer: "LoadAnswer") -> float | None:
    found = answer.latencies.get("e2el")
    return None if found is None else found.mean
