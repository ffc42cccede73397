"""Longest paths over streams in order."""

import pytest

from volvelle.errors import GraphError
from volvelle.simulation import replay as module
from volvelle.simulation.events import event_queue
from volvelle.simulation.replay import replay
from volvelle.simulation.tasks import TaskGraph


def test_streams_run_beside_each_other_and_wait_where_they_must() -> None:
    graph = TaskGraph.of([1.0, 2.0, 3.0, 1.0], [0, 1, 0, 1], [[], [0], [], [2]])
    assert replay(graph).tolist() == [1.0, 3.0, 4.0, 5.0]


def test_tasks_of_no_length_are_legal() -> None:
    graph = TaskGraph.of([0.0, 0.0, 1.0], [0, 1, 0], [[], [0], [1]])
    assert replay(graph).tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("run", [replay, event_queue])
def test_a_deadlock_names_the_first_stream_that_is_blocked_and_what_it_waits_for(run) -> None:  # type: ignore[no-untyped-def]
    """Two streams that each wait for what the other has queued behind it."""
    graph = TaskGraph.of([1.0] * 4, [0, 0, 1, 1], [[3], [], [1], []], names=["compute", "send"])
    with pytest.raises(GraphError, match=r"stream 'compute' is blocked: its task 0 waits for task 3 of stream 'send'"):
        run(graph)


@pytest.mark.parametrize("run", [replay, event_queue])
def test_a_task_that_waits_for_itself_is_a_deadlock(run) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(GraphError, match="task 0 waits for task 0"):
        run(TaskGraph.of([1.0], [0], [[0]]))


def test_without_a_compiler_plain_python_runs_on_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays are read four times as slowly, one number at a time."""
    monkeypatch.setattr(module, "INSTALLED", False)
    graph = TaskGraph.of([1.0, 2.0], [0, 1], [[], [0]])
    assert not module.pays(module.longest_path, graph)
    assert replay(graph).tolist() == [1.0, 3.0]
    assert event_queue(graph).tolist() == [1.0, 3.0]
