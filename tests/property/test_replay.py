"""Random graphs of tasks: two engines, compiled and plain, and laws that every replay obeys."""

import random

import numpy as np

from volvelle.simulation.compiler import INSTALLED
from volvelle.simulation.events import Shared, event_queue
from volvelle.simulation.replay import replay
from volvelle.simulation.tasks import Real, TaskGraph

_CASES = 10_000


def _drawn(draw: random.Random) -> TaskGraph:
    """Tasks in an order in which they can run, then numbered anew so that only the order on each stream is kept."""
    count, streams = draw.randint(1, 30), draw.randint(1, 6)
    on = [draw.randrange(streams) for _ in range(count)]
    lengths = [draw.choice((0.0, 1.0, draw.random(), draw.expovariate(1.0))) for _ in range(count)]
    before = [[draw.randrange(task) for _ in range(draw.randint(0, 3))] if task else [] for task in range(count)]
    queues = [[task for task in range(count) if on[task] == stream] for stream in range(streams)]
    order: list[int] = []
    while len(order) < count:
        order.append(draw.choice([queue for queue in queues if queue]).pop(0))
    number = {task: place for place, task in enumerate(order)}
    return TaskGraph.of(
        [lengths[task] for task in order],
        [on[task] for task in order],
        [[number[other] for other in before[task]] for task in order],
        names=[str(stream) for stream in range(streams)],
    )


def _agree(graph: TaskGraph, other: Real | None = None, *, compiled: bool = INSTALLED) -> Real:
    ends = replay(graph, compiled=compiled)
    assert np.array_equal(ends, event_queue(graph, compiled=compiled))
    if other is not None:
        assert np.array_equal(ends, other)
    return ends


def test_the_event_queue_and_the_longest_path_end_every_task_at_the_same_time() -> None:
    """To the last bit, in ten thousand graphs."""
    draw = random.Random(20261117)
    for _ in range(_CASES):
        _agree(_drawn(draw))


def test_plain_python_gives_the_same_ends_as_machine_code() -> None:
    graphs = [_drawn(random.Random(seed)) for seed in range(300)]
    compiled = [_agree(graph) for graph in graphs]
    for graph, ends in zip(graphs, compiled, strict=True):
        _agree(graph, ends, compiled=False)


def test_tasks_that_share_nothing_end_as_if_alone() -> None:
    """Each stream has a resource of its own, or all take a stated share of one."""
    for seed in range(300):
        graph = _drawn(random.Random(seed))
        zero, tenth = np.zeros(len(graph)), np.full(len(graph), 0.1)
        ends = replay(graph)
        assert np.array_equal(event_queue(graph, Shared(resources=graph.streams, shares=zero)), ends)
        assert np.array_equal(event_queue(graph, Shared(resources=graph.streams * 0, shares=tenth)), ends)


def test_a_shorter_task_never_makes_another_end_later() -> None:
    for seed in range(300):
        draw = random.Random(seed)
        graph = _drawn(draw)
        shorter = graph.durations.copy()
        shorter[draw.randrange(len(graph))] *= draw.random()
        faster = TaskGraph(
            durations=shorter,
            streams=graph.streams,
            pointers=graph.pointers,
            predecessors=graph.predecessors,
            names=graph.names,
        )
        assert np.all(replay(faster) <= replay(graph))


def test_other_numbers_of_streams_change_no_end() -> None:
    for seed in range(300):
        graph = _drawn(random.Random(seed))
        turned = TaskGraph(
            durations=graph.durations,
            streams=(len(graph.names) - 1 - graph.streams).astype(np.int32),
            pointers=graph.pointers,
            predecessors=graph.predecessors,
            names=graph.names[::-1],
        )
        assert np.array_equal(replay(turned), replay(graph))


def test_what_is_shared_is_never_faster_and_does_all_the_work() -> None:
    """One resource: no task ends before it would alone, and all of them not before the sum of their work."""
    for seed in range(300):
        graph = _drawn(random.Random(seed))
        ends = event_queue(graph, Shared(resources=graph.streams * 0, shares=np.zeros(len(graph))))
        assert np.all(ends >= replay(graph) * (1.0 - 1e-12))
        assert ends.max() >= graph.durations.sum() * (1.0 - 1e-9)
