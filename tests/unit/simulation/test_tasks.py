"""Graphs of tasks on streams."""

import numpy as np
import pytest

from volvelle.errors import GraphError
from volvelle.simulation.replay import replay
from volvelle.simulation.tasks import TaskGraph


@pytest.mark.parametrize("seconds", [-1.0, float("nan")])
def test_a_task_of_negative_or_unknown_length_is_refused_by_its_number(seconds: float) -> None:
    with pytest.raises(GraphError, match="task 1 takes"):
        TaskGraph.of([1.0, seconds], [0, 0], [[], []])


def test_a_predecessor_that_does_not_exist_is_refused_with_who_waits_for_it() -> None:
    with pytest.raises(GraphError, match="task 2 waits for task 7; there are 3"):
        TaskGraph.of([1.0, 1.0, 1.0], [0, 0, 0], [[], [0], [0, 7]])


def test_a_stream_that_does_not_exist_is_refused() -> None:
    with pytest.raises(GraphError, match="task 1 is on stream 3; there are 1"):
        TaskGraph.of([1.0, 1.0], [0, 3], [[], []], names=["compute"])


def test_lists_of_unequal_length_are_refused() -> None:
    with pytest.raises(GraphError, match="2 durations, 1 streams"):
        TaskGraph.of([1.0, 1.0], [0], [[], []])


def test_tasks_of_a_stream_follow_each_other_by_their_numbers() -> None:
    graph = TaskGraph.of([1.0] * 5, [0, 1, 0, 1, 0], [[]] * 5)
    assert graph.following.tolist() == [2, 3, 4, -1, -1]
    assert graph.first.tolist() == [0, 1]


def test_a_task_begins_when_the_last_it_waits_for_ends() -> None:
    graph = TaskGraph.of([1.0, 5.0, 2.0, 0.5], [0, 1, 0, 0], [[], [], [1], [0, 1]])
    ends = replay(graph)
    assert graph.starts(ends).tolist() == [0.0, 0.0, 5.0, 7.0]
    assert np.array_equal(graph.starts(ends) + graph.durations, ends)


def test_no_tasks_take_no_time() -> None:
    assert replay(TaskGraph.of([], [], [])).size == 0
