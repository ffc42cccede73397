"""The same instance on chips that are better in one way: what memory, arithmetic and links would change."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from volvelle.applications.serving.instance import Instance
from volvelle.estimators.serving.engine_constants import Constants
from volvelle.estimators.serving.iteration import Iteration

_LATENCIES = ("kernel_launch_time", "chip_time")
"""Constants of collectives that are seconds whatever is sent."""


def on_other_chips(
    instance: Instance,
    *,
    memory_rate: float = 1.0,
    capacity: float = 1.0,
    matrix_rate: float = 1.0,
    link_rate: float = 1.0,
    link_latency: float = 1.0,
) -> Instance:
    """An instance whose chips have so many times as much of each; kernels reach the same shares of it."""
    chip = instance.chip
    memories = tuple(
        replace(memory, rate=memory.rate * memory_rate, capacity=memory.capacity * capacity) for memory in chip.memories
    )
    rates: Mapping[str, float] = {name: float(rate) * matrix_rate for name, rate in chip.matrix_rates.items()}
    other = replace(chip, memories=memories, matrix_rates=rates)

    def changed(iteration: Iteration) -> Iteration:
        kernels = replace(
            iteration.kernels,
            all_reduce=_links(iteration.kernels.all_reduce, link_rate, link_latency),
            all_to_all=_links(iteration.kernels.all_to_all, link_rate, link_latency),
        )
        return replace(iteration, chip=other, kernels=kernels)

    iteration = instance.iteration
    if isinstance(iteration, Iteration):
        return replace(instance, chip=other, iteration=changed(iteration))
    draft = iteration.draft and replace(iteration.draft, iteration=changed(iteration.draft.iteration))
    return replace(instance, chip=other, iteration=replace(iteration, target=changed(iteration.target), draft=draft))


def _links(ways: Sequence[Constants], rate: float, latency: float) -> tuple[Constants, ...]:
    return tuple(
        {
            name: value * (latency if name in _LATENCIES else rate if name == "bus_rate" else 1.0)
            for name, value in way.items()
        }
        for way in ways
    )
