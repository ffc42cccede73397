"""Spans of a thread within each other: who contains whom, and what every span took without those inside it.

At any moment the span that began last and has not ended has the time. So all self times of a thread add up to the time
in which anything ran on it, also where a child outlives its parent, as happens in real files.
"""

from dataclasses import dataclass

from volvelle.interchange.traces.kineto_events import Span
from volvelle.workload.trace.counting import rank
from volvelle.workload.trace.operation_names import is_bookkeeping


@dataclass(slots=True)
class Node:
    """A span with its place in the tree of its thread."""

    span: Span
    parent: int
    """Number of the node that contains it; -1: none."""
    self_time: float = 0.0
    """Microseconds."""
    below: int = -1
    """Highest rank of the work inside it."""
    gap: float = 0.0
    """Where it is outermost: when the thread had ended what ran before."""

    @property
    def works(self) -> bool:
        """Whether the work is its own, rather than that of operations inside it."""
        return self.span.work is not None and self.span.work.kind != "view" and rank(self.span.work) > self.below

    @property
    def frame(self) -> bool:
        """Whether its own time is that of handing on: a view, a frame around operations that are understood."""
        work = self.span.work
        if work is not None:
            return not self.works
        return self.span.runtime or self.below >= 0 or is_bookkeeping(self.span.name)


def tree(spans: list[Span]) -> list[Node]:
    """Nodes in the order in which they began."""
    order = sorted(range(len(spans)), key=lambda number: (spans[number].start, -spans[number].end, number))
    nodes: list[Node] = []
    stack: list[int] = []
    now = spans[order[0]].start if order else 0.0
    for number in order:
        span = spans[number]
        now = _run(nodes, stack, now, span.start)
        nodes.append(Node(span, stack[-1] if stack else -1, gap=now))
        stack.append(len(nodes) - 1)
        now = max(now, span.start)
    _run(nodes, stack, now, float("inf"))
    for node in reversed(nodes):
        if node.parent >= 0:
            inside = 3 if node.span.communication is not None else rank(node.span.work)
            above = nodes[node.parent]
            above.below = max(above.below, node.below, inside)
    return nodes


def _run(nodes: list[Node], stack: list[int], now: float, until: float) -> float:
    """Give the time up to a moment to spans that run, the latest first; the moment at which nothing ran any more."""
    while stack:
        top = nodes[stack[-1]]
        end = min(top.span.end, until)
        if end > now:
            top.self_time += end - now
            now = end
        if top.span.end > until:
            return until
        stack.pop()
    return now
