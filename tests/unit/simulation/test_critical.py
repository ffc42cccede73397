"""The chain of tasks that decides when a graph ends."""

import numpy as np
import pytest

from volvelle.simulation.critical import critical_chain
from volvelle.simulation.replay import replay
from volvelle.simulation.tasks import TaskGraph


def test_tasks_of_the_chain_add_up_to_the_end_of_any_graph() -> None:
    draw = np.random.default_rng(7)
    for _ in range(20):
        count = int(draw.integers(2, 40))
        after = [
            sorted({int(task) for task in draw.integers(0, number, 2)}) if number else [] for number in range(count)
        ]
        graph = TaskGraph.of(draw.random(count).tolist(), draw.integers(0, 3, count).tolist(), after)
        ends = replay(graph)
        chain = critical_chain(graph, ends)
        assert float(graph.durations[chain].sum()) == pytest.approx(float(ends.max()), rel=1e-12)


def test_nothing_has_no_chain() -> None:
    assert len(critical_chain(TaskGraph.of([], [], []), np.zeros(0))) == 0
