"""An order in which nodes of a file can run: each after those it names, by number where they are free to choose."""

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush

from volvelle.errors import GraphError


def running_order(nodes: Sequence[int], after: Mapping[int, Sequence[int]], *, where: str) -> list[int]:
    """Nodes so that each comes behind all it waits for; of those that could run, the one listed first.

    A node listed twice, one that waits for a node nobody lists, and a circle of waiting are refused with the node.
    """
    place: dict[int, int] = {}
    for number, node in enumerate(nodes):
        if place.setdefault(node, number) != number:
            raise GraphError(f"{where}: node {node} is there twice; give every node a number of its own")
    waiting = [0] * len(nodes)
    following: dict[int, list[int]] = {}
    for node, before in after.items():
        for other in before:
            if other not in place:
                raise GraphError(
                    f"{where}: node {node} waits for node {other}, which is not in the file; add it or mend the node"
                )
            waiting[place[node]] += 1
            following.setdefault(other, []).append(place[node])
    ready = [number for number, count in enumerate(waiting) if count == 0]
    heapify(ready)
    found: list[int] = []
    while ready:
        node = nodes[heappop(ready)]
        found.append(node)
        for number in following.get(node, ()):
            waiting[number] -= 1
            if waiting[number] == 0:
                heappush(ready, number)
    if len(found) < len(nodes):
        blocked = _on_a_circle(nodes, after, waiting, place)
        raise GraphError(f"{where}: node {blocked} waits for itself through others; mend its dependencies")
    return found


def _on_a_circle(
    nodes: Sequence[int], after: Mapping[int, Sequence[int]], waiting: Sequence[int], place: Mapping[int, int]
) -> int:
    """A node that is on a circle itself, rather than behind one: found by walking back until one comes again."""
    node = next(node for number, node in enumerate(nodes) if waiting[number])
    seen: set[int] = set()
    while node not in seen:
        seen.add(node)
        node = next(other for other in after[node] if waiting[place[other]])
    return node
