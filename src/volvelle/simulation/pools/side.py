"""One engine of a pool: what is on its way to it, what it has, and what has left it."""

from bisect import bisect_right, insort
from heapq import heappop, heappush

import numpy as np

from volvelle.simulation.batching.costs import StepCosts
from volvelle.simulation.batching.rules import Rules
from volvelle.simulation.batching.state import DECODING, FINISH, HEAP, ISSUED, QUEUED, RUNNING, SEEN, STEP
from volvelle.simulation.batching.worker import Worker

_MOST_ROOM = 1 << 14
"""Requests that an engine has room for at first, at most."""


class Side:
    """An engine with a queue before it, in which requests stand that have a moment at which they come."""

    def __init__(self, costs: StepCosts, rules: Rules, *, room: int) -> None:
        self.worker = Worker.idle(costs, rules, room=min(room, _MOST_ROOM))
        self.least_step = costs.least_step
        self._coming: list[tuple[float, int, int, int, bool]] = []
        self._numbers: list[int] = []
        self._open: list[int] = []
        self._ends: list[float] = []

    def expect(self, when: float, request: int, inputs: int, outputs: int, *, handed: bool = False) -> None:
        """A request will come at some moment."""
        heappush(self._coming, (when, request, inputs, outputs, handed))

    def run(self, until: float) -> None:
        """Go on until then; all that comes before is known."""
        while self._coming and self._coming[0][0] < until:
            when, request, inputs, outputs, handed = heappop(self._coming)
            self._open.append(self.worker.give(when, inputs, outputs, handed=handed))
            self._numbers.append(request)
        self.worker.run(until)

    def left(self) -> list[tuple[int, int]]:
        """Requests that have left it since the last time: their numbers here, and their own."""
        if not self._open:
            return []
        rows = np.array(self._open)
        done = self.worker.ends[rows] > 0.0
        self._open = rows[~done].tolist()
        for end in self.worker.ends[rows[done]].tolist():
            insort(self._ends, end)
        return [(int(row), self._numbers[row]) for row in rows[done]]

    def load(self, now: float) -> int:
        """Requests that are on their way to it or have not left it at some moment."""
        ends = self.worker.ends[np.array(self._open, np.int64)]
        ended = bisect_right(self._ends, now) + int(np.count_nonzero((ends > 0.0) & (ends <= now)))
        return len(self._coming) + len(self._numbers) - ended

    def earliest_end(self, steps: int) -> float:
        """When one that it has or that is known to come may leave it, at the earliest."""
        found = self._coming[0][0] + steps * self.least_step if self._coming else np.inf
        if self.worker.busy:
            found = min(found, self.worker.now + self._steps_left() * self.least_step)
        return float(found)

    def _steps_left(self) -> int:
        """Steps until the first of those that it has may end: all must decode for that to be known."""
        tally = self.worker.state.tally
        decoding = int(tally[DECODING])
        if decoding == 0 or decoding < tally[RUNNING] or tally[QUEUED] or tally[SEEN] < tally[ISSUED]:
            return 1
        requests = self.worker.state.requests
        return int(requests[requests[0, HEAP], FINISH] - tally[STEP])
