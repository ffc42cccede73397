"""An order in which nodes can run."""

import random

import pytest

from volvelle.errors import GraphError
from volvelle.workload.trace.order import running_order


def test_every_node_comes_behind_what_it_waits_for_whatever_the_order_of_the_file() -> None:
    chance = random.Random(7)
    for _ in range(200):
        count = chance.randrange(1, 30)
        numbers = chance.sample(range(1000), count)
        rest = {node: chance.sample(numbers[:at], chance.randrange(at + 1)) for at, node in enumerate(numbers)}
        listed = chance.sample(numbers, count)
        found = running_order(listed, rest, where="a file")
        place = {node: at for at, node in enumerate(found)}
        assert sorted(found) == sorted(numbers)
        assert all(place[other] < place[node] for node, before in rest.items() for other in before)


def test_nodes_that_wait_for_nothing_keep_their_order() -> None:
    assert running_order([5, 3, 9], {}, where="a file") == [5, 3, 9]


def test_a_circle_is_named_by_a_node_on_it() -> None:
    with pytest.raises(GraphError, match=r"a file: node [12] waits for itself"):
        running_order([0, 1, 2, 3], {1: [2], 2: [1], 3: [2]}, where="a file")
