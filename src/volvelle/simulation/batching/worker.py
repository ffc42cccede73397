"""One engine as it goes: requests that are given to it as they come, and time until which it is known who comes."""

from collections.abc import Callable, Sequence

import numpy as np

from volvelle.simulation.batching.costs import CostTables, StepCosts
from volvelle.simulation.batching.machine import SPAN_COUNTS, run_in_flight, run_prefill_first
from volvelle.simulation.batching.rules import Engine, Rules
from volvelle.simulation.batching.served import Served, Spans
from volvelle.simulation.batching.state import (
    ADMITTED,
    DONE,
    END,
    ENDED,
    FINISH,
    FIRST,
    FREE,
    HANDED,
    HITS,
    HORIZON,
    INPUT,
    ISSUED,
    LATER,
    LEAST_FREE,
    LIMIT,
    MOST,
    NOW,
    OFFERED,
    OUTPUT,
    PREEMPTED,
    PREFILLED,
    QUEUE,
    QUEUE_START,
    QUEUED,
    SENT,
    SPARE,
    START,
    TARGET,
    TOKEN,
    Real,
    State,
    Whole,
    initial_state,
)
from volvelle.simulation.compiler import plain, ready

_SPANS = 1 << 16
"""Spans of steps that the machine writes at a time."""
_PLAIN = {"spans": 1 << 15}
"""Of them that a process follows before the machine is compiled: some 10 000 requests, in a tenth of its time."""
_PLAIN_PIECE = 1 << 12
_ROOM = 64
"""Requests that an engine has room for at first."""
Run = Callable[[State, CostTables, bool, Real, Whole, Real], tuple[int, int]]


class Worker:
    """The machine with its state, and what it wrote so far."""

    def __init__(
        self, state: State, costs: StepCosts, rules: Rules, *, jumping: bool = True, patient: bool = False
    ) -> None:
        """An engine in some state, whose steps take so long; who is patient waits for the compiler."""
        self.state = state
        self.rules = rules
        self.costs = costs
        self._jumping = jumping
        self._tables = costs.tables
        self._run: Run = run_prefill_first if rules.engine is Engine.SGLANG else run_in_flight
        self._plainly = None if patient or ready(self._run) else plain(self._run)
        self._spans, self._counts = np.zeros((_SPANS, 3)), np.zeros((_SPANS, SPAN_COUNTS), np.int64)
        self._log = np.zeros((8 * int(state.tally[MOST]) + 64, 2))
        self._pieces: list[tuple[Real, Whole, Real]] = []

    @classmethod
    def idle(cls, costs: StepCosts, rules: Rules, *, room: int = _ROOM) -> "Worker":
        """With nothing to do yet."""
        none = np.zeros(max(room, 1), np.int64)
        state = initial_state(
            rules=rules,
            offered=none.astype(np.float64),
            inputs=none,
            outputs=none,
            hash_ids=np.zeros(0, np.int64),
            hash_starts=np.zeros(none.size + 1, np.int64),
            hash_tokens=rules.block_tokens,
            clients=0,
        )
        state.tally[ISSUED] = 0
        return cls(state, costs, rules)

    # -- what comes --------------------------------------------------------------------------------------------------

    def give(
        self, sent: Sequence[float], inputs: Sequence[int], outputs: Sequence[int], handed: Sequence[bool]
    ) -> None:
        """More requests, in the order of time and none sent earlier than those before."""
        count = self.given + len(sent)
        while count > len(self.state.requests):
            self._grow()
        requests, times = self.state.requests[self.given : count], self.state.times[self.given : count]
        requests[:, INPUT] = requests[:, TARGET] = inputs
        requests[:, OUTPUT], requests[:, HANDED] = outputs, handed
        requests[:, LIMIT] = np.maximum(outputs, self.rules.max_output)
        times[:, OFFERED] = times[:, SENT] = sent
        self.state.tally[ISSUED] = count

    def _grow(self) -> None:
        """Room for twice as many requests: who waits stands in a ring, which is laid out anew."""
        old, tally = self.state, self.state.tally
        count, waiting = len(old.requests), int(tally[QUEUED])
        ring = old.requests[(tally[QUEUE_START] + np.arange(waiting)) % count, QUEUE]
        fresh = initial_state(
            rules=self.rules,
            offered=np.zeros(2 * count),
            inputs=np.zeros(2 * count, np.int64),
            outputs=np.zeros(2 * count, np.int64),
            hash_ids=np.zeros(0, np.int64),
            hash_starts=np.zeros(2 * count + 1, np.int64),
            hash_tokens=self.rules.block_tokens,
            clients=0,
        )
        fresh.requests[:count], fresh.times[:count] = old.requests, old.times
        fresh.requests[:waiting, QUEUE] = ring
        tally[QUEUE_START] = 0
        more, had = len(fresh.stretches), len(old.stretches)
        fresh.stretches[:had] = old.stretches
        if more > had:  # new places for stretches come before those that are spare
            fresh.stretches[had:, LATER] = np.arange(had + 1, more + 1)
            fresh.stretches[-1, LATER] = tally[SPARE]
            tally[SPARE] = had
        self.state = fresh._replace(tally=tally, clock=old.clock)

    # -- going on ----------------------------------------------------------------------------------------------------

    def run(self, until: float = np.inf) -> None:
        """Go on until all that came are done, or a step starts no earlier than `until`: who comes before is known."""
        tally, clock = self.state.tally, self.state.clock
        clock[HORIZON] = until
        while tally[DONE] < tally[ISSUED] and clock[NOW] < until:
            plainly = self._plainly is not None and _PLAIN["spans"] > 0
            go_on, room = (self._plainly or self._run, _PLAIN_PIECE) if plainly else (self._run, _SPANS)
            used, logged = go_on(
                self.state, self._tables, self._jumping, self._spans[:room], self._counts[:room], self._log
            )
            assert used or clock[NOW] >= until, "the scheduler admits nothing and runs nothing"
            if used:
                self._pieces.append((self._spans[:used].copy(), self._counts[:used].copy(), self._log[:logged].copy()))
            _PLAIN["spans"] -= used if plainly else 0

    @property
    def now(self) -> float:
        """When its last step ended, or until when it waited."""
        return float(self.state.clock[NOW])

    @property
    def given(self) -> int:
        """Requests that came so far."""
        return int(self.state.tally[ISSUED])

    @property
    def busy(self) -> bool:
        """Whether some that came are not done."""
        return bool(self.state.tally[DONE] < self.state.tally[ISSUED])

    def ended(self, since: int) -> list[int]:
        """Numbers of those that have ended, in the order of time, but for so many that did first."""
        rows: list[int] = self.state.requests[since : self.state.tally[DONE], ENDED].tolist()
        return rows

    @property
    def ends(self) -> Real:
        """When each request ended; 0: it has not."""
        found: Real = self.state.times[: self.given, END]
        return found

    @property
    def admissions(self) -> Real:
        """When each request was admitted first."""
        found: Real = self.state.times[: self.given, ADMITTED]
        return found

    # -- what came of it ---------------------------------------------------------------------------------------------

    def served(self, *, clients: int, stationary: bool) -> Served:
        """All that was done, of requests that have ended."""
        state, rules, count = self.state, self.rules, self.given
        pieces = self._pieces or [(np.zeros((0, 3)), np.zeros((0, SPAN_COUNTS), np.int64), np.zeros((0, 2)))]
        times, counts, log = (np.concatenate([piece[place] for piece in pieces]) for place in range(3))
        requests, moments = state.requests[:count], state.times[:count]
        stopped = log[:, 0] >= 0
        return Served(
            offered=moments[:, OFFERED],
            sent=moments[:, SENT],
            admitted=moments[:, ADMITTED],
            first_token=moments[:, FIRST],
            end=moments[:, END],
            input_tokens=requests[:, INPUT],
            output_tokens=requests[:, OUTPUT],
            preempted=requests[:, PREEMPTED],
            spans=Spans.of(times, counts.astype(np.int64)),
            starts=np.where(requests[:, FINISH] >= 0, requests[:, START], -1),
            start_tokens=moments[:, TOKEN],
            interrupted_starts=log[stopped, 0].astype(np.int64),
            interrupted_start_tokens=log[stopped, 1],
            resumption_gaps=log[log[:, 0] == -1, 1],
            lone_tokens=log[log[:, 0] == -2, 1],
            prefilled_tokens=int(state.tally[PREFILLED]),
            found_tokens=int(state.tally[HITS]),
            kv_blocks=rules.kv_blocks,
            free_blocks=int(state.tally[FREE]),
            least_free_blocks=int(state.tally[LEAST_FREE]),
            block_tokens=rules.block_tokens,
            stream_interval=rules.stream_interval,
            clients=clients,
            stationary=stationary,
        )
