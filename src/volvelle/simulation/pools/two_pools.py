"""Requests through a pool that computes prompts, over links, and through a pool that decodes; exactly, event by event.

Each engine is the one machine of `batching`. An engine is run until the earliest moment at which something could reach
it that is not known yet: no step is shorter than the shortest, no cache arrives before its prompt is computed, and a
client sends its next request when its last has ended. So nothing is guessed and nothing is iterated.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from heapq import heappop, heappush
from typing import Protocol

import numpy as np

from volvelle.errors import DescriptionError
from volvelle.simulation.batching.costs import StepCosts
from volvelle.simulation.batching.rules import Rules
from volvelle.simulation.batching.serving import OfferedRequests, check_costs, check_requests
from volvelle.simulation.batching.state import Real, Whole
from volvelle.simulation.pools.served_split import ServedSplit
from volvelle.simulation.pools.side import Side


class Router(IntEnum):
    """Which engine of a pool gets a request."""

    ROUND_ROBIN = 0
    """One after the other."""
    LEAST_LOADED = 1
    """The one with the fewest requests that have not left it; the first of several."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pool:
    """Engines that are alike."""

    costs: StepCosts
    rules: Rules
    engines: int

    def __post_init__(self) -> None:
        if self.engines < 1:
            raise DescriptionError(f"a pool of {self.engines} engines serves nothing; give it at least one")
        check_costs(self.costs, self.rules)


class Transfer(Protocol):
    """How a cache comes from one engine to another."""

    @property
    def least(self) -> float:
        """Seconds that any cache arrives after its prompt was computed, at least."""

    def arrival(self, request: int, *, started: float, computed: float, free: float) -> float:
        """When the cache of a request has arrived, whose prompt was worked on from `started` to `computed`.

        The link of the engine that computed it has sent all before by `free`, and is free again at the arrival.
        """


def serve_split(
    requests: OfferedRequests,
    prefill: Pool,
    decode: Pool,
    transfer: Transfer,
    *,
    router: Router = Router.ROUND_ROBIN,
) -> ServedSplit:
    """Serve requests by two pools.

    A prompt holds blocks where it is computed until it has its first token, and blocks where it decodes from when it is
    admitted there to its end: a full cache keeps those waiting that come. A request of one token never leaves the first
    pool.
    """
    single = np.asarray(requests.output_tokens) == 1
    check_requests(_First(requests), prefill.rules)
    if not single.all():
        check_requests(_Rest(requests, ~single), decode.rules, np.ones(int((~single).sum()), np.bool_))
    return _Run(requests, prefill, decode, transfer, router).run()


class _Run:
    """One run: both pools, what is under way between them, and what came of each request."""

    def __init__(
        self, requests: OfferedRequests, prefill: Pool, decode: Pool, transfer: Transfer, router: Router
    ) -> None:
        self._asked = requests
        self._inputs = [int(tokens) for tokens in requests.input_tokens]
        self._outputs = [int(tokens) for tokens in requests.output_tokens]
        self._transfer, self._router = transfer, router
        count = len(self._inputs)
        room = -(-count // prefill.engines), -(-count // decode.engines)
        self._prefill = [Side(prefill.costs, prefill.rules, room=room[0]) for _ in range(prefill.engines)]
        self._decode = [Side(decode.costs, decode.rules, room=room[1]) for _ in range(decode.engines)]
        self._single = 1 in self._outputs
        later = [tokens for tokens in self._outputs if tokens > 1]
        self._fewest_steps = min(later, default=2) - 1
        self._api = prefill.rules.api_seconds
        self._offered = np.ascontiguousarray(requests.arrival, np.float64)
        self._sent = np.zeros(count)
        self._computed, self._arrived, self._taken, self._end = (np.zeros(count) for _ in range(4))
        self._started = np.zeros(count)
        self._sends: list[tuple[float, int]] = []
        self._issued = 0
        self._turns = [0, 0]
        self._left = count
        self._free = [0.0] * prefill.engines
        self._ready: list[tuple[float, int, int]] = []
        self._ended: list[tuple[float, int]] = []

    def run(self) -> ServedSplit:
        """All requests to their end."""
        clients = self._asked.clients
        for _ in range(clients or len(self._inputs)):
            self._issue(0.0)
        # Of prompts that are computed, and of caches that arrive, and are not known yet, at the earliest.
        computed = self._api + min(side.least_step for side in self._prefill)
        arrivals = computed + self._transfer.least
        while self._left:
            sends = self._earliest_send(arrivals, computed)
            self._compute(sends)
            computed = self._earliest(self._prefill, sends + self._api, 1)
            arrivals = computed + self._transfer.least
            self._hand_over(computed)
            self._go_on(self._decode, arrivals)
            self._collect_ends()
            self._send_next(self._earliest_send(arrivals, computed))
        return self._found()

    # -- what may yet come -------------------------------------------------------------------------------------------

    def _earliest(self, sides: Sequence[Side], coming: float, steps: int) -> float:
        """When something may leave a pool at the earliest, of what is known or comes no earlier than `coming`."""
        return min(side.earliest_end(coming, steps) for side in sides)

    def _earliest_send(self, arrivals: float, computed: float) -> float:
        """When a client may send a request that is not known yet, at the earliest."""
        if self._issued >= len(self._inputs):
            return np.inf
        found = self._earliest(self._decode, arrivals, self._fewest_steps)
        return min(found, computed) if self._single else found

    # -- the way of a request ----------------------------------------------------------------------------------------

    def _issue(self, now: float) -> None:
        """The next request is sent, where there is one."""
        if self._issued < len(self._inputs):
            heappush(self._sends, (max(now, float(self._offered[self._issued])), self._issued))
            self._issued += 1

    def _send_next(self, until: float) -> None:
        """Clients whose requests have ended send their next."""
        while self._ended and self._ended[0][0] < until:
            now, _ = heappop(self._ended)
            self._left -= 1
            if self._asked.clients:
                self._issue(now)

    def _compute(self, until: float) -> None:
        """Give what is sent before then to the first pool, and run it."""
        while self._sends and self._sends[0][0] < until:
            sent, request = heappop(self._sends)
            self._sent[request] = sent
            place = self._choose(0, self._prefill, sent)
            self._prefill[place].expect(sent, request, self._inputs[request], 1)
        self._go_on(self._prefill, until + self._api)
        for place, side in enumerate(self._prefill):
            for request, started, computed in side.left():
                self._started[request], self._computed[request] = started, computed
                heappush(self._ready, (computed, request, place))

    def _hand_over(self, until: float) -> None:
        """Send the caches of prompts that were computed before then, each over the link of its engine, in order."""
        while self._ready and self._ready[0][0] < until:
            computed, request, place = heappop(self._ready)
            if self._outputs[request] == 1:
                self._arrived[request] = self._taken[request] = self._end[request] = computed
                heappush(self._ended, (computed, request))
                continue
            arrival = self._transfer.arrival(
                request, started=float(self._started[request]), computed=computed, free=self._free[place]
            )
            self._free[place] = self._arrived[request] = arrival
            target = self._choose(1, self._decode, computed)
            self._decode[target].expect(arrival, request, self._inputs[request], self._outputs[request], handed=True)

    def _collect_ends(self) -> None:
        for side in self._decode:
            for request, taken, end in side.left():
                self._taken[request], self._end[request] = taken, end
                heappush(self._ended, (end, request))

    def _go_on(self, sides: Sequence[Side], until: float) -> None:
        for side in sides:
            side.run(until)

    def _choose(self, pool: int, sides: Sequence[Side], now: float) -> int:
        """The engine that gets the next request of a pool."""
        if len(sides) == 1:
            return 0
        if self._router is Router.ROUND_ROBIN:
            self._turns[pool] += 1
            return (self._turns[pool] - 1) % len(sides)
        self._go_on(sides, now)
        loads = [side.load(now) for side in sides]
        return loads.index(min(loads))

    # -- what came of it ---------------------------------------------------------------------------------------------

    def _found(self) -> ServedSplit:
        asked = self._asked
        return ServedSplit(
            offered=self._offered,
            sent=self._sent,
            admitted=self._started,
            computed=self._computed,
            arrived=self._arrived,
            delivered=self._taken,
            end=self._end,
            input_tokens=np.asarray(asked.input_tokens, np.int64),
            output_tokens=np.asarray(asked.output_tokens, np.int64),
            prefill=tuple(side.worker.served(clients=asked.clients, stationary=False) for side in self._prefill),
            decode=tuple(side.worker.served(clients=asked.clients, stationary=False) for side in self._decode),
            clients=asked.clients,
            stationary=asked.stationary,
        )


class _First:
    """Requests as the first pool sees them: each ends with its first token."""

    def __init__(self, requests: OfferedRequests) -> None:
        self.arrival: Real = requests.arrival
        self.input_tokens: Whole = requests.input_tokens
        self.output_tokens: Whole = np.ones(requests.input_tokens.size, np.int64)
        self.decode_steps: Whole = np.zeros(0, np.int64)
        self.clients = requests.clients
        self.stationary = requests.stationary
        self.hash_ids: Whole = np.zeros(0, np.int64)
        self.hash_starts: Whole = np.zeros(requests.input_tokens.size + 1, np.int64)
        self.hash_tokens = requests.hash_tokens


class _Rest(_First):
    """Requests that the second pool sees."""

    def __init__(self, requests: OfferedRequests, kept: np.typing.NDArray[np.bool_]) -> None:
        super().__init__(requests)
        self.arrival = requests.arrival[kept]
        self.input_tokens = requests.input_tokens[kept]
        self.output_tokens = requests.output_tokens[kept]
