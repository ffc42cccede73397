"""One engine of a pool: what is on its way to it, what it has, and what has left it."""

from bisect import bisect_right
from heapq import heappop, heappush

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
        self._ends: list[float] = []
        self._collected = 0

    def expect(self, when: float, request: int, inputs: int, outputs: int, *, handed: bool = False) -> None:
        """A request will come at some moment."""
        heappush(self._coming, (when, request, inputs, outputs, handed))

    def run(self, until: float) -> None:
        """Go on until then; all that comes before is known."""
        came = []
        while self._coming and self._coming[0][0] < until:
            came.append(heappop(self._coming))
        if came:
            when, numbers, inputs, outputs, handed = zip(*came, strict=True)
            self.worker.give(when, inputs, outputs, handed)
            self._numbers += numbers
        if self.worker.now < until:
            self.worker.run(until)
            self._ends += self.worker.ends[self.worker.ended(len(self._ends))].tolist()

    def left(self) -> list[tuple[int, float, float]]:
        """Requests that have left it since the last time, each with when it was admitted and when it ended."""
        rows = self.worker.ended(self._collected)
        self._collected += len(rows)
        numbers, admissions = (self._numbers[row] for row in rows), self.worker.admissions[rows].tolist()
        return list(zip(numbers, admissions, self.worker.ends[rows].tolist(), strict=True))

    def load(self, now: float) -> int:
        """Requests that are on their way to it or have not left it at some moment."""
        return len(self._coming) + len(self._numbers) - bisect_right(self._ends, now)

    def earliest_end(self, coming: float, steps: int) -> float:
        """When one may leave it at the earliest, of those that it has or that are known to come, or of later ones."""
        now = self.worker.now
        found = max(min(coming, self._coming[0][0]) if self._coming else coming, now) + steps * self.least_step
        return min(found, now + self._steps_left() * self.least_step) if self.worker.busy else found

    def _steps_left(self) -> int:
        """Steps until the first of those that it has may end: all must decode for that to be known."""
        tally = self.worker.state.tally
        decoding = int(tally[DECODING])
        if decoding == 0 or decoding < tally[RUNNING] or tally[QUEUED] or tally[SEEN] < tally[ISSUED]:
            return 1
        requests = self.worker.state.requests
        return int(requests[requests[0, HEAP], FINISH] - tally[STEP])
