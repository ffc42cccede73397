"""A load through an engine: requests and rules and times of steps in, the time of every token out."""

from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import DescriptionError, OutsideDomainError
from volvelle.simulation.batching.costs import StepCosts
from volvelle.simulation.batching.rules import Engine, Eviction, Rules
from volvelle.simulation.batching.served import Served
from volvelle.simulation.batching.state import Real, Whole, initial_state
from volvelle.simulation.batching.worker import Worker

MOST_STEPS = 5_000_000
"""With prompts, that are followed of one load."""


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
    def decode_steps(self) -> Whole:
        """Steps that each answer takes after its first token, where those are not one a token; else empty."""

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
    requests: OfferedRequests,
    costs: StepCosts,
    rules: Rules,
    *,
    handed: NDArray[np.bool_] | None = None,
    jumping: bool = True,
    patient: bool = False,
) -> Served:
    """Serve requests by the rules of an engine whose steps take so long; without jumping, token by token.

    Where `handed` says so, the prompt of a request was computed elsewhere: it comes with its cache and its first token,
    holds blocks like any other, and decodes from when it is admitted. A `patient` caller, who has many runs
    to do, waits for the compiler; else short runs do not.
    """
    check_costs(costs, rules)
    check_requests(requests, rules, handed)
    hash_ids, hash_starts = _whole_hashes(requests, rules)
    state = initial_state(
        rules=rules,
        offered=np.ascontiguousarray(requests.arrival, np.float64),
        inputs=np.ascontiguousarray(requests.input_tokens, np.int64),
        outputs=np.ascontiguousarray(_yields(requests), np.int64),
        hash_ids=hash_ids,
        hash_starts=hash_starts,
        hash_tokens=requests.hash_tokens,
        clients=requests.clients,
        handed=handed,
    )
    worker = Worker(state, costs, rules, jumping=jumping, patient=patient)
    worker.run()
    found = worker.served(clients=requests.clients, stationary=requests.stationary)
    return replace(found, output_tokens=requests.output_tokens, step_tokens=_step_tokens(requests))


def _yields(requests: OfferedRequests) -> Whole:
    """How often each request yields: once with its prompt, and once a decoding step."""
    steps = requests.decode_steps
    yields: Whole = steps + 1 if steps.size else requests.output_tokens
    return yields


def _step_tokens(requests: OfferedRequests) -> float:
    """Tokens that a decoding step yields of a sequence, in the mean."""
    steps = int(requests.decode_steps.sum())
    return float((requests.output_tokens - 1).sum()) / steps if steps else 1.0


def check_costs(costs: StepCosts, rules: Rules) -> None:
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
    if costs.most_rows < rules.max_sequences * rules.verified:
        raise DescriptionError(
            f"the rules allow {rules.max_sequences:,} sequences that verify {rules.verified:,} tokens each, and the "
            f"head of a step ends at {costs.most_rows:,}; make it as long"
        )


def check_requests(requests: OfferedRequests, rules: Rules, handed: NDArray[np.bool_] | None = None) -> None:
    """Refuse what could never be served, and say why."""
    prompts, answers = requests.input_tokens, _yields(requests)
    whole = np.zeros(prompts.size, np.bool_) if handed is None else handed
    if not prompts.size:
        raise DescriptionError("there are no requests to serve; give at least one")
    if not prompts.size == answers.size == requests.arrival.size:
        raise DescriptionError(
            f"there are {requests.arrival.size:,} arrivals, {prompts.size:,} prompts and {answers.size:,} answers; "
            f"there must be as many of each"
        )
    if prompts.min() < 1 or answers.min() < 1:
        raise DescriptionError("a request has no prompt or no answer; each has at least one token")
    if np.any(answers[whole] < 2):
        raise DescriptionError("a request whose prompt was computed elsewhere has its only token; give it two or more")
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
            (prompts > rules.token_budget) & ~whole,
            requests,
            f"a step has {rules.token_budget:,} and prompts are not cut; let a step have more tokens, or cut prompts",
        )
    tokens = int(prompts[~whole].sum())
    if not requests.hash_ids.size and tokens > MOST_STEPS * rules.most_tokens:
        raise OutsideDomainError(
            f"prompts of {tokens:,} tokens in all take {tokens // rules.most_tokens:,} steps or more of "
            f"{rules.most_tokens:,} each, and {MOST_STEPS:,} are followed at most; ask for fewer (--requests), "
            f"shorter prompts, or more tokens a step (--max-batched-tokens)"
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
