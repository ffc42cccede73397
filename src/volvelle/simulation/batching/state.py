"""The state of the machine on flat arrays, and the names of their columns.

Every sequence that decodes yields one token a decoding step. So nobody counts tokens: a sequence remembers the decoding
step at which it started (`START`) and at which it will have its last token (`FINISH`), and the number of that step
(`STEP`) says the rest.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from volvelle.simulation.batching.rules import Engine, Eviction, Rules

Whole = NDArray[np.int64]
Real = NDArray[np.float64]

# Of a request.
INPUT, OUTPUT, LIMIT = range(3)
"""Prompt tokens, output tokens, and output tokens that memory may be kept for."""
TARGET, COMPUTED, MADE = 3, 4, 5
"""Tokens to compute before the next is yielded, those of them computed, and tokens yielded before it was admitted."""
START, FINISH = 6, 7
"""Decoding steps; FINISH is -1 while the prompt is computed."""
HELD, BEFORE, AFTER = 8, 9, 10
"""Blocks held for the prompt, and neighbours in the order of admission."""
KEPT, EXAMINED, PREEMPTED = 11, 12, 13
"""The stretch of free blocks that still has what it computed, hashed blocks of its prompt that are accounted for, and
how often it was preempted."""
FIRST_HASH, HASHES = 14, 15
"""Where the hashed blocks of its prompt start, and how many it has."""
QUEUE, HEAP, PICK, PICK_TOKENS = 16, 17, 18, 19
"""Lists that are never longer than there are requests: those that wait, those that decode with the next to end first,
and the prompts of this step with their tokens."""
HANDED = 20
"""Whether its prompt was computed elsewhere, and its cache and its first token come with it; it is read until it is
preempted."""
ENDED = 21
"""The list of those that have ended, the first to end first."""
REQUEST_COLUMNS = 22

# Times of a request.
OFFERED, SENT, ADMITTED, FIRST, TOKEN, END = range(6)
"""TOKEN is when the token came with which its decoding started, or its last before it was preempted."""
NOTED_START, NOTED_TIME = 6, 7
"""A list of what happened to preempted requests in this step: the decoding step at which one had started and the time
of the token that it started with; -1, and the gap that it left before its next token; or -2, and the time of a token
after which it was preempted at once."""
TIME_COLUMNS = 8

# Counts of the machine.
STEP, DECODING, RUNNING, CONTEXT = range(4)
FIRST_RUNNING, LAST_RUNNING, PARTIAL = 4, 5, 6
"""The order of admission, and the request whose prompt is computed in part; -1: none."""
QUEUE_START, QUEUED, SEEN, ISSUED, DONE = 7, 8, 9, 10, 11
FREE, FREE_FIRST, FREE_LAST, SPARE = 12, 13, 14, 15
"""Blocks that nobody holds, and the stretches that they form."""
FULL, SINCE_RECEIVED, WAITED, COMMITTED, DECAYED = 16, 17, 18, 19, 20
PICKED, STARTED, PAUSE, PATIENCE = 21, 22, 23, 24
"""Prompts and admissions of this step, why no more are admitted, and the decoding steps that this may last."""
PREEMPTIONS, PREFILLED, HITS, LEAST_FREE, LOGGED = 25, 26, 27, 28, 29
COUNTS = 30

# Why no more are admitted (PAUSE).
UNTIL_ARRIVAL, UNTIL_END, UNTIL_NEXT_STEP, UNTIL_FULLER, UNTIL_BALANCED = range(5)

# Rules as numbers, behind the counts.
KIND, BUDGET, MOST, BLOCK, BLOCKS, CHUNKS, CHUNK, MIXES, WHOLE_PROMPT = range(COUNTS, COUNTS + 9)
NO_EVICTION, CACHING, INTERVAL, WAIT_STEPS, WAIT_TOKENS, UNIT = range(COUNTS + 9, COUNTS + 15)
HASH_TOKENS, HASH_BLOCKS, CLIENTS, VERIFIED = range(COUNTS + 15, COUNTS + 19)
BALANCE_STEPS, BALANCE_WAIT, BALANCE_QUEUE, AHEAD = range(COUNTS + 19, COUNTS + 23)
PHASE = COUNTS + 23
"""Behind them: decoding sequences by the step, modulo the block, at which they need a new block."""
VLLM, SGLANG, TENSORRT_LLM = int(Engine.VLLM), int(Engine.SGLANG), int(Engine.TENSORRT_LLM)

# Times of the machine, the delay before it, and SGLang's reserve.
NOW, DECODED_AT, API, RATIO, RATIO_AT_FIRST, RATIO_AT_LEAST, RATIO_DECAY = range(7)
HORIZON, TOKENISING, BEGUN = 7, 8, 9
"""From when on requests may come that are not known yet: nothing starts at or after it. The delay of a prompt token.
When the last step began."""
_FIRST_RATIO, _LEAST_PART, _DECAY_STEPS = 0.7, 0.14, 600.0
CLIPPED_OUTPUT = 4096
"""Output tokens of one request that SGLang keeps memory for at most."""
RETRACTED_AHEAD = 20
"""Steps that SGLang wants room for after it retracted a request."""

# Stretches of free blocks.
EARLIER, LATER, SIZE, OWNER = range(4)
NOBODY = -1
"""Owner of blocks that hold nothing anybody could want; a hashed block owns under its number, and a preempted request i
under -2 - i."""

# Hashed blocks.
USERS, STRETCH, KNOWN = range(3)

# Hashed blocks of prompts: which, and whether the request holds it.
HASH, HOLDS = range(2)


class State(NamedTuple):
    """Everything that changes, and the rules; few tables, because compiled functions hand all of them on."""

    requests: Whole
    times: Real
    tally: Whole
    clock: Real
    stretches: Whole
    hashed: Whole
    prefixes: Whole


def initial_state(
    *,
    rules: Rules,
    offered: Real,
    inputs: Whole,
    outputs: Whole,
    hash_ids: Whole,
    hash_starts: Whole,
    hash_tokens: int,
    clients: int,
    handed: NDArray[np.bool_] | None = None,
) -> State:
    """Nothing has arrived, all blocks are free; `hash_ids` are numbered from 0."""
    count = inputs.size
    requests = np.zeros((count, REQUEST_COLUMNS), np.int64)
    requests[:, INPUT] = requests[:, TARGET] = inputs
    requests[:, OUTPUT] = outputs
    requests[:, LIMIT] = np.maximum(outputs, rules.max_output)
    requests[:, FINISH] = requests[:, BEFORE] = requests[:, AFTER] = requests[:, KEPT] = -1
    requests[:, FIRST_HASH] = hash_starts[:-1]
    requests[:, HASHES] = np.diff(hash_starts)
    if handed is not None:
        requests[:, HANDED] = handed
    times = np.zeros((count, TIME_COLUMNS))
    times[:, OFFERED] = times[:, SENT] = offered
    hashes = int(hash_ids.max()) + 1 if hash_ids.size else 0
    hashed = np.zeros((max(1, hashes), 3), np.int64)
    hashed[:, STRETCH] = -1
    prefixes = np.zeros((max(1, hash_ids.size), 2), np.int64)
    prefixes[: hash_ids.size, HASH] = hash_ids
    kept = hashes + (min(count, rules.kv_blocks) if rules.prefix_caching else 0)
    stretches = np.full((2 * kept + 8, 4), -1, np.int64)
    stretches[:-1, LATER] = np.arange(1, len(stretches))
    stretches[0] = (-1, -1, rules.kv_blocks, NOBODY)
    tally = np.zeros(PHASE + rules.block_tokens, np.int64)
    tally[[FIRST_RUNNING, LAST_RUNNING, PARTIAL]] = -1
    tally[ISSUED] = count if clients == 0 else min(clients, count)
    tally[FREE] = tally[LEAST_FREE] = rules.kv_blocks
    tally[SPARE] = 1
    tally[[HASH_TOKENS, HASH_BLOCKS, CLIENTS]] = hash_tokens, hash_tokens // rules.block_tokens, clients
    _state_rules(tally, rules)
    first_ratio = min(1.0, _FIRST_RATIO * rules.conservativeness)
    least_ratio = min(1.0, first_ratio * _LEAST_PART)
    decay = (first_ratio - least_ratio) / _DECAY_STEPS
    clock = np.array([0.0, 0.0, rules.api_seconds, first_ratio, first_ratio, least_ratio, decay, np.inf, 0.0, 0.0])
    clock[TOKENISING] = rules.tokenising
    return State(requests, times, tally, clock, stretches, hashed, prefixes)


def _state_rules(tally: Whole, rules: Rules) -> None:
    """Write the rules where compiled code reads them."""
    tally[KIND] = rules.engine
    tally[BUDGET] = rules.token_budget
    tally[MOST] = rules.max_sequences
    tally[BLOCK] = rules.block_tokens
    tally[BLOCKS] = rules.kv_blocks
    tally[VERIFIED] = rules.verified
    tally[CHUNKS] = rules.chunks
    tally[CHUNK] = rules.chunk
    tally[MIXES] = rules.mixes
    tally[WHOLE_PROMPT] = rules.reserve_whole_prompt
    tally[NO_EVICTION] = rules.eviction is Eviction.NONE
    tally[CACHING] = rules.prefix_caching
    tally[INTERVAL] = rules.receive_interval
    tally[WAIT_STEPS] = rules.batch_wait_steps
    # The wait ends at this many tokens: the least that is not below the ratio's part of the budget.
    tally[WAIT_TOKENS] = int(np.ceil(rules.batch_wait_ratio * rules.token_budget))
    tally[BALANCE_STEPS] = rules.balance_steps
    tally[BALANCE_WAIT] = rules.balance_wait_steps
    tally[BALANCE_QUEUE] = rules.balance_queue
    tally[AHEAD] = rules.ahead
    tally[UNIT] = rules.block_tokens if rules.engine is Engine.TENSORRT_LLM else 1
