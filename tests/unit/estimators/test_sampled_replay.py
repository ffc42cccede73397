"""Ends of graphs on sampled machines: a few replays and the longest chain tell what replays of all would."""

import numpy as np
import pytest

from volvelle.estimators.sampled_replay import (
    FEWEST_REPLAYS,
    MOST_REPLAYS,
    VaryingPart,
    by_some,
    sampled_times,
    worthwhile_replays,
)
from volvelle.simulation.critical import critical_chain
from volvelle.simulation.replay import replay
from volvelle.simulation.tasks import TaskGraph


def _two_streams(count: int = 12) -> tuple[TaskGraph, VaryingPart]:
    """Kernels and exchanges that take as long: which of the two decides differs from machine to machine."""
    after = [[] if number < 2 else [number - 2 + number % 2] for number in range(2 * count)]
    graph = TaskGraph.of([1.0] * (2 * count), [number % 2 for number in range(2 * count)], after)
    return graph, VaryingPart(seconds=graph.durations, row=np.arange(2 * count) % 2)


def _factors(samples: int = 256) -> np.ndarray:
    return np.exp(0.2 * np.random.default_rng(1).standard_normal((2, samples)))


def test_replays_on_some_machines_tell_of_all_to_a_few_percent() -> None:
    graph, part = _two_streams()
    factors = _factors()
    whole = sampled_times(graph, critical_chain(graph, replay(graph)), [part], factors, replays=factors.shape[1]).time
    few = sampled_times(graph, critical_chain(graph, replay(graph)), [part], factors)
    assert few.replays == MOST_REPLAYS
    assert np.quantile(few.time, [0.1, 0.9]) == pytest.approx(np.quantile(whole, [0.1, 0.9]), rel=0.03)


def test_no_replay_ends_before_the_chain_of_the_machine_that_was_asked_about() -> None:
    graph, part = _two_streams()
    factors = _factors()
    chain = sampled_times(graph, critical_chain(graph, replay(graph)), [part], factors, replays=0)
    whole = sampled_times(graph, critical_chain(graph, replay(graph)), [part], factors, replays=factors.shape[1])
    assert chain.replays == 0
    assert np.all(whole.time >= chain.time * (1 - 1e-12))


def test_parts_of_a_task_that_go_by_different_numbers_add_up() -> None:
    graph = TaskGraph.of([3.0], [0], [[]])
    parts = [VaryingPart(seconds=np.array([seconds]), row=np.array([row])) for row, seconds in enumerate((1.0, 2.0))]
    factors = np.array([[1.0, 2.0, 3.0], [1.0, 1.0, 0.5]])
    assert sampled_times(graph, critical_chain(graph, replay(graph)), parts, factors).time == pytest.approx(
        [3.0, 4.0, 4.0]
    )


def test_what_does_not_vary_is_not_replayed() -> None:
    graph, part = _two_streams()
    found = sampled_times(graph, critical_chain(graph, replay(graph)), [part], np.ones((2, 64)))
    assert found.replays == 0
    assert np.ptp(found.time) == 0.0


def test_a_large_graph_is_replayed_less_often_or_not_at_all() -> None:
    assert worthwhile_replays(100) == MOST_REPLAYS
    assert FEWEST_REPLAYS < worthwhile_replays(10_000) < MOST_REPLAYS
    assert worthwhile_replays(100_000) == FEWEST_REPLAYS
    assert worthwhile_replays(1_000_000) == 0


def test_a_dear_answer_is_asked_for_only_as_often_as_was_said() -> None:
    control = np.exp(np.random.default_rng(2).standard_normal(200))
    asked: list[int] = []

    def dear(sample: int) -> float:
        asked.append(sample)
        return float(2.0 * control[sample])

    found = by_some(dear, control, 8)
    assert len(asked) == len(set(asked)) == found.replays == 8
    assert found.time == pytest.approx(2.0 * control, rel=1e-9)
    assert found.correlation == pytest.approx(1.0)
