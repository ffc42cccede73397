"""Tasks whose speed depends on what runs beside them."""

import numpy as np
import pytest

from volvelle.errors import GraphError
from volvelle.simulation.events import Shared, event_queue
from volvelle.simulation.tasks import TaskGraph


def _shared(resources: list[int], shares: list[float], *changes: tuple[float, int, float]) -> Shared:
    return Shared(resources=np.array(resources, dtype=np.int32), shares=np.array(shares), changes=changes)


def test_two_transfers_share_a_link_until_one_has_ended() -> None:
    """2 s and 1 s of one link: at half speed the short one ends at 2 s, the other then has a second to go."""
    graph = TaskGraph.of([2.0, 1.0], [0, 1], [[], []])
    assert event_queue(graph, _shared([0, 0], [0.0, 0.0])).tolist() == [3.0, 2.0]


def test_a_kernel_loses_the_units_that_communication_takes_while_it_runs() -> None:
    """A kernel of 4 s beside an exchange of 1 s that takes a fifth of the units: it ends 0.2 s later."""
    graph = TaskGraph.of([4.0, 1.0], [0, 1], [[], []])
    assert event_queue(graph, _shared([0, 0], [0.0, 0.2])) == pytest.approx([4.2, 1.0])


def test_a_chip_that_throttles_ends_later() -> None:
    graph = TaskGraph.of([4.0], [0], [[]])
    assert event_queue(graph, _shared([0], [0.0], (1.0, 0, 0.5))).tolist() == [7.0]
    assert event_queue(graph, _shared([0], [0.0], (1.0, 0, 0.5), (3.0, 0, 1.0))).tolist() == [5.0]


def test_tasks_without_a_resource_keep_their_length() -> None:
    graph = TaskGraph.of([4.0, 4.0], [0, 1], [[], []])
    assert event_queue(graph, _shared([-1, 0], [0.0, 0.0], (0.0, 0, 0.5))).tolist() == [4.0, 8.0]


def test_a_resource_that_is_gone_for_good_is_said() -> None:
    graph = TaskGraph.of([4.0], [0], [[]])
    with pytest.raises(GraphError, match="gone for good"):
        event_queue(graph, _shared([0], [0.0], (1.0, 0, 0.0)))


@pytest.mark.parametrize(
    ("shared", "said"),
    [
        (_shared([0], [0.0]), "1 resources and 1 shares for 2 tasks"),
        (_shared([0, 0], [0.0, 1.5]), "task 1 takes 1.5"),
        (_shared([0, 0], [0.0, 0.0], (-1.0, 0, 0.5)), "at -1.0 s resource 0 changes"),
    ],
)
def test_what_does_not_go_with_the_tasks_is_refused(shared: Shared, said: str) -> None:
    with pytest.raises(GraphError, match=said):
        event_queue(TaskGraph.of([1.0, 1.0], [0, 0], [[], []]), shared)
