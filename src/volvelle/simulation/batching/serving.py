"""A load through an engine: requests and rules and times of steps in, the time of every token out."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import DescriptionError, OutsideDomainError
from volvelle.simulation.batching.costs import CostTables, StepCosts
from volvelle.simulation.batching.machine import run_in_flight, run_prefill_first
from volvelle.simulation.batching.rules import Engine, Eviction, Rules
from volvelle.simulation.batching.served import Served, Spans
from volvelle.simulation.batching.state import (
    ADMITTED,
    DONE,
    END,
    FINISH,
    FIRST,
    FREE,
    HITS,
    LEAST_FREE,
    MOST,
    OFFERED,
    PREEMPTED,
    PREFILLED,
    SENT,
    START,
    TOKEN,
    Real,
    State,
    Whole,
    initial_state,
)
from volvelle.simulation.compiler import plain, ready

_SPANS = 1 << 16
"""Spans of steps that the machine writes at a time."""
_PLAIN_SPANS = 1 << 15
"""Of them before the machine is compiled: some 10 000 requests, in a tenth of the time that a compiler takes."""


class OfferedRequests(Protocol):
    """What is asked of an engine: flat arrays, one entry a request, in the order in which they come."""

    @property
    def arrival(self) -> Real:
        """Seconds since the load began."""

    @property
    def input_tokens(self) -> Whole:
        """Of each prompt."""

    @property
    def output_tokens(self) -> Whole:
        """Of each answer."""

    @property
    def clients(self) -> int:
        """That send the requests, each one at a time; 0: as many as it takes."""

    @property
    def stationary(self) -> bool:
        """Whether they come at one rate throughout."""

    @property
    def hash_ids(self) -> Whole:
        """Blocks that prompts begin with, one prompt after the other; equal numbers are equal beginnings."""

    @property
    def hash_starts(self) -> Whole:
        """Where the blocks of each prompt start among them, and where the last end."""

    @property
    def hash_tokens(self) -> int:
        """Of one such block."""


def serve(
    requests: OfferedRequests, costs: StepCosts, rules: Rules, *, jumping: bool = True, patient: bool = False
) -> Served:
    """Serve requests by the rules of an engine whose steps take so long; without jumping, token by token.

    A `patient` caller waits for the compiler, because many runs are to follow; else a short run does not.
    """
    _check_costs(costs, rules)
    _check_requests(requests, rules)
    hash_ids, hash_starts = _whole_hashes(requests, rules)
    state = initial_state(
        rules=rules,
        offered=np.ascontiguousarray(requests.arrival, np.float64),
        inputs=np.ascontiguousarray(requests.input_tokens, np.int64),
        outputs=np.ascontiguousarray(requests.output_tokens, np.int64),
        hash_ids=hash_ids,
        hash_starts=hash_starts,
        hash_tokens=requests.hash_tokens,
        clients=requests.clients,
    )
    run = run_prefill_first if rules.engine is Engine.SGLANG else run_in_flight
    times, counts, log = _whole_run(run, state, costs, jumping=jumping, patient=patient)
    return _served(state, rules, requests, times, counts, log)


def _whole_run(
    run: Callable[[State, CostTables, bool, Real, Whole, Real], tuple[int, int]],
    state: State,
    costs: StepCosts,
    *,
    jumping: bool,
    patient: bool,
) -> tuple[Real, Whole, Real]:
    """The machine to its end; what it wrote, piece by piece."""
    tables = costs.tables
    spans, counts = np.zeros((_SPANS, 3)), np.zeros((_SPANS, 4), np.int64)
    log = np.zeros((8 * int(state.tally[MOST]) + 64, 2))
    pieces: list[tuple[Real, Whole, Real]] = []
    plainly, left = (run, 0) if patient or ready(run) else (plain(run), _PLAIN_SPANS)
    while state.tally[DONE] < len(state.requests):
        go_on, room = (plainly, _PLAIN_SPANS // 8) if left > 0 else (run, _SPANS)
        used, logged = go_on(state, tables, jumping, spans[:room], counts[:room], log)
        assert used, "the scheduler admits nothing and runs nothing"
        pieces.append((spans[:used].copy(), counts[:used].copy(), log[:logged].copy()))
        left -= used
    return (
        np.concatenate([piece[0] for piece in pieces]),
        np.concatenate([piece[1] for piece in pieces]),
        np.concatenate([piece[2] for piece in pieces]),
    )


def _served(state: State, rules: Rules, requests: OfferedRequests, times: Real, counts: Whole, log: Real) -> Served:
    """The answer, from the machine's tables."""
    stopped = log[:, 0] >= 0
    finish = state.requests[:, FINISH]
    return Served(
        offered=state.times[:, OFFERED],
        sent=state.times[:, SENT],
        admitted=state.times[:, ADMITTED],
        first_token=state.times[:, FIRST],
        end=state.times[:, END],
        input_tokens=requests.input_tokens,
        output_tokens=requests.output_tokens,
        preempted=state.requests[:, PREEMPTED],
        spans=Spans.of(times, counts),
        starts=np.where(finish >= 0, state.requests[:, START], -1),
        start_tokens=state.times[:, TOKEN],
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
        clients=requests.clients,
        stationary=requests.stationary,
    )


def _check_costs(costs: StepCosts, rules: Rules) -> None:
    """Refuse tables that are too short for what the rules allow."""
    if costs.most_tokens < rules.most_tokens:
        raise DescriptionError(
            f"the rules allow steps of {rules.most_tokens:,} tokens, and the costs of a step end at "
            f"{costs.most_tokens:,}; make them as long"
        )
    if costs.most_sequences < rules.max_sequences:
        raise DescriptionError(
            f"the rules allow {rules.max_sequences:,} sequences, and the costs of a step end at "
            f"{costs.most_sequences:,}; make them as long"
        )


def _check_requests(requests: OfferedRequests, rules: Rules) -> None:
    """Refuse what could never be served, and say why."""
    prompts, answers = requests.input_tokens, requests.output_tokens
    if not prompts.size:
        raise DescriptionError("there are no requests to serve; give at least one")
    if not prompts.size == answers.size == requests.arrival.size:
        raise DescriptionError(
            f"there are {requests.arrival.size:,} arrivals, {prompts.size:,} prompts and {answers.size:,} answers; "
            f"there must be as many of each"
        )
    if prompts.min() < 1 or answers.min() < 1:
        raise DescriptionError("a request has no prompt or no answer; each has at least one token")
    if not np.all(np.diff(requests.arrival) >= 0) or not requests.arrival[0] >= 0 or np.isinf(requests.arrival[-1]):
        raise DescriptionError("arrivals must be numbers of seconds from 0 on, in the order of time; sort the requests")
    limit = np.maximum(answers, rules.max_output)
    kept, room = prompts + answers - 1, rules.kv_blocks * rules.block_tokens
    if rules.eviction is Eviction.NONE:
        kept = prompts + limit
    elif rules.engine is Engine.SGLANG:
        kept = np.maximum(kept, prompts + limit + 1)
    _refuse(kept, -(-kept // rules.block_tokens) > rules.kv_blocks, requests, f"all KV blocks hold {room:,}")
    if not rules.chunks:
        _refuse(
            prompts,
            prompts > rules.token_budget,
            requests,
            f"a step has {rules.token_budget:,} and prompts are not cut; raise token_budget or let prompts be cut",
        )


def _refuse(needed: Whole, bad: NDArray[np.bool_], requests: OfferedRequests, why: str) -> None:
    """Refuse the first request that asks for too much."""
    if bad.any():
        place = int(np.argmax(bad))
        raise OutsideDomainError(
            f"request {place + 1:,} of {requests.input_tokens[place]:,} prompt and {requests.output_tokens[place]:,} "
            f"output tokens needs room for {needed[place]:,} tokens, and {why} ({int(bad.sum()):,} such requests)"
        )


def _whole_hashes(requests: OfferedRequests, rules: Rules) -> tuple[Whole, Whole]:
    """Hashed blocks that prompts fill to the end, numbered from 0."""
    count = requests.input_tokens.size
    if not requests.hash_ids.size or not rules.prefix_caching:
        return np.zeros(0, np.int64), np.zeros(count + 1, np.int64)
    if requests.hash_tokens % rules.block_tokens:
        raise DescriptionError(
            f"hashed blocks of {requests.hash_tokens} tokens are no whole number of KV blocks of {rules.block_tokens}; "
            f"choose block_tokens that divide them"
        )
    given = np.diff(requests.hash_starts)
    whole = np.minimum(given, requests.input_tokens // requests.hash_tokens)
    place = np.arange(requests.hash_ids.size) - np.repeat(requests.hash_starts[:-1], given)
    ids = requests.hash_ids[place < np.repeat(whole, given)]
    numbered = np.unique(ids, return_inverse=True)[1].astype(np.int64)
    return numbered.reshape(-1), np.concatenate(([0], np.cumsum(whole))).astype(np.int64)
