"""Sequences that run: who came when, who ends next, and what becomes of one that starts, pauses or ends."""

from volvelle.simulation.batching.free_blocks import take
from volvelle.simulation.batching.prefix_cache import publish, release, share
from volvelle.simulation.batching.state import (
    ADMITTED,
    AFTER,
    BEFORE,
    BLOCK,
    CLIENTS,
    COMMITTED,
    COMPUTED,
    CONTEXT,
    DECODED_AT,
    DECODING,
    DONE,
    END,
    ENDED,
    FINISH,
    FIRST,
    FIRST_RUNNING,
    FULL,
    HANDED,
    HEAP,
    HELD,
    HITS,
    INPUT,
    ISSUED,
    KIND,
    LAST_RUNNING,
    LIMIT,
    LOGGED,
    MADE,
    NO_EVICTION,
    NOTED_START,
    NOTED_TIME,
    NOW,
    OFFERED,
    OUTPUT,
    PARTIAL,
    PHASE,
    PREEMPTED,
    PREEMPTIONS,
    QUEUE,
    QUEUE_START,
    QUEUED,
    RUNNING,
    SENT,
    SGLANG,
    START,
    STEP,
    TARGET,
    TOKEN,
    VLLM,
    State,
)
from volvelle.simulation.compiler import compiled

# -- who waits -------------------------------------------------------------------------------------------------------


@compiled
def queue_last(state: State, request: int) -> None:
    """Put a request behind all that wait."""
    count = state.tally
    state.requests[(count[QUEUE_START] + count[QUEUED]) % state.requests.shape[0], QUEUE] = request
    count[QUEUED] += 1


@compiled
def queue_first(state: State, request: int) -> None:
    """Put a request before all that wait."""
    count = state.tally
    count[QUEUE_START] = (count[QUEUE_START] - 1) % state.requests.shape[0]
    state.requests[count[QUEUE_START], QUEUE] = request
    count[QUEUED] += 1


# -- who ends next: a heap by the step of the last token ---------------------------------------------------------------


@compiled
def _earlier(state: State, one: int, other: int) -> bool:
    """Whether one request ends before another; those that end together go by their numbers."""
    finish, others = state.requests[one, FINISH], state.requests[other, FINISH]
    return bool(finish < others or (finish == others and one < other))


@compiled
def _sift_up(state: State, place: int) -> None:
    """Move an entry to where it belongs, towards the root."""
    requests = state.requests
    moved = requests[place, HEAP]
    while place > 0:
        above = (place - 1) // 2
        if not _earlier(state, moved, requests[above, HEAP]):
            break
        requests[place, HEAP] = requests[above, HEAP]
        place = above
    requests[place, HEAP] = moved


@compiled
def _remove(state: State, place: int, size: int) -> None:
    """Take an entry out of a heap of so many."""
    requests = state.requests
    moved = requests[size - 1, HEAP]
    size -= 1
    if place == size:
        return
    while True:
        below = 2 * place + 1
        if below >= size:
            break
        if below + 1 < size and _earlier(state, requests[below + 1, HEAP], requests[below, HEAP]):
            below += 1
        if not _earlier(state, requests[below, HEAP], moved):
            break
        requests[place, HEAP] = requests[below, HEAP]
        place = below
    requests[place, HEAP] = moved
    _sift_up(state, place)


# -- starting, pausing, ending -----------------------------------------------------------------------------------------


@compiled
def blocks_of(tokens: int, block: int) -> int:
    """Blocks for so many tokens."""
    return -(-tokens // block)


@compiled
def whole_length(state: State, request: int) -> int:
    """Blocks of a request at its maximum length."""
    return blocks_of(state.requests[request, INPUT] + state.requests[request, LIMIT], state.tally[BLOCK])


@compiled
def admit(state: State, request: int) -> None:
    """Let the first that waits run, with what the cache has of it."""
    row, count = state.requests[request], state.tally
    count[QUEUE_START] = (count[QUEUE_START] + 1) % state.requests.shape[0]
    count[QUEUED] -= 1
    if row[PREEMPTED] == 0:
        state.times[request, ADMITTED] = state.clock[NOW]
    row[HELD] = share(state, request)
    row[COMPUTED] = min(row[HELD] * state.tally[BLOCK], row[TARGET] - 1)
    count[HITS] += row[COMPUTED]
    row[BEFORE], row[AFTER] = count[LAST_RUNNING], -1
    if count[LAST_RUNNING] >= 0:
        state.requests[count[LAST_RUNNING], AFTER] = request
    else:
        count[FIRST_RUNNING] = request
    count[LAST_RUNNING] = request
    count[RUNNING] += 1
    if state.tally[NO_EVICTION]:
        count[COMMITTED] += whole_length(state, request)


@compiled
def _leave(state: State, request: int) -> None:
    """Take a request out of those that run."""
    row, count = state.requests[request], state.tally
    if row[BEFORE] >= 0:
        state.requests[row[BEFORE], AFTER] = row[AFTER]
    else:
        count[FIRST_RUNNING] = row[AFTER]
    if row[AFTER] >= 0:
        state.requests[row[AFTER], BEFORE] = row[BEFORE]
    else:
        count[LAST_RUNNING] = row[BEFORE]
    count[RUNNING] -= 1
    count[FULL] = 0
    if state.tally[NO_EVICTION]:
        count[COMMITTED] -= whole_length(state, request)


@compiled
def context_of(state: State, request: int) -> int:
    """Tokens that the cache holds of a sequence that decodes."""
    row = state.requests[request]
    tokens: int = row[TARGET] + state.tally[STEP] - row[START]
    return tokens


@compiled
def _stop_decoding(state: State, request: int, place: int) -> int:
    """Take a sequence, which stands at some place of the heap, out of those that decode; tokens of its context."""
    row, count = state.requests[request], state.tally
    tokens = context_of(state, request)
    _remove(state, place, count[DECODING])
    count[DECODING] -= 1
    count[CONTEXT] -= tokens
    state.tally[PHASE + (row[TARGET] - row[START]) % state.tally[BLOCK]] -= 1
    return tokens


@compiled
def _end(state: State, request: int, blocks: int) -> None:
    """A request has all of its tokens: its client may send the next."""
    count, now = state.tally, state.clock[NOW]
    _leave(state, request)
    release(state, request, blocks, 0)
    state.times[request, END] = now
    state.requests[count[DONE], ENDED] = request
    count[DONE] += 1
    if state.tally[CLIENTS] > 0 and count[ISSUED] < state.requests.shape[0]:
        state.times[count[ISSUED], SENT] = max(state.times[count[ISSUED], OFFERED], now)
        count[ISSUED] += 1


@compiled
def end_decoded(state: State) -> None:
    """End all whose last token came with this step."""
    while state.tally[DECODING] > 0 and state.requests[state.requests[0, HEAP], FINISH] == state.tally[STEP]:
        request = state.requests[0, HEAP]
        tokens = _stop_decoding(state, request, 0)
        _end(state, request, blocks_of(tokens, state.tally[BLOCK]))


@compiled
def _log(state: State, start: int, time: float) -> None:
    """Note what gaps between tokens need of a preempted request."""
    state.times[state.tally[LOGGED], NOTED_START] = start
    state.times[state.tally[LOGGED], NOTED_TIME] = time
    state.tally[LOGGED] += 1


@compiled
def start_decoding(state: State, request: int) -> None:
    """A prompt is computed: its sequence yields a token now, and one a decoding step from here on."""
    row, count, now = state.requests[request], state.tally, state.clock[NOW]
    if row[MADE] == 0:
        state.times[request, FIRST] = now
    else:
        _log(state, -1, now - state.times[request, TOKEN])
    state.times[request, TOKEN] = now
    if state.tally[KIND] != VLLM:
        publish(state, request, row[COMPUTED])
    if count[PARTIAL] == request:
        count[PARTIAL] = -1
    left = row[OUTPUT] - row[MADE] - 1
    row[START] = count[STEP]
    if left == 0:
        _end(state, request, row[HELD])
        return
    row[FINISH] = count[STEP] + left
    state.requests[count[DECODING], HEAP] = request
    _sift_up(state, count[DECODING])
    count[DECODING] += 1
    count[CONTEXT] += row[TARGET]
    state.tally[PHASE + (row[TARGET] - row[START]) % state.tally[BLOCK]] += 1


@compiled
def computed_elsewhere(state: State, request: int) -> bool:
    """Whether the cache of a prompt comes with the request; what was preempted is computed here."""
    return bool(state.requests[request, HANDED] != 0 and state.requests[request, PREEMPTED] == 0)


@compiled
def take_over(state: State, request: int, ahead: int) -> None:
    """Let the first that waits decode, as its prompt is computed, with blocks for it and so many tokens more."""
    admit(state, request)
    row = state.requests[request]
    row[HELD] = blocks_of(row[TARGET] + ahead, state.tally[BLOCK])
    take(state, row[HELD])
    row[COMPUTED] = row[TARGET]
    start_decoding(state, request)


@compiled
def preempt(state: State, request: int) -> None:
    """Give back what a running request holds: it waits again."""
    row, count, block = state.requests[request], state.tally, state.tally[BLOCK]
    if row[FINISH] >= 0:
        place = 0
        while state.requests[place, HEAP] != request:
            place += 1
        made = count[STEP] - row[START]
        if made > 0:
            _log(state, row[START], state.times[request, TOKEN])
            state.times[request, TOKEN] = state.clock[DECODED_AT]
        else:
            _log(state, -2, state.times[request, TOKEN])
        tokens = _stop_decoding(state, request, place)
        blocks = blocks_of(tokens, block)
        # SGLang keeps what was computed as a prompt; the others keep every block that is full.
        kept = row[TARGET] // block if state.tally[KIND] == SGLANG else tokens // block
        row[MADE] += made + 1
        row[TARGET] = row[INPUT] + row[MADE]
    else:
        blocks, kept = row[HELD], min(row[HELD], row[COMPUTED] // block)
        if count[PARTIAL] == request:
            count[PARTIAL] = -1
    _leave(state, request)
    release(state, request, blocks, kept)
    row[FINISH], row[COMPUTED], row[HELD] = -1, 0, 0
    row[PREEMPTED] += 1
    count[PREEMPTIONS] += 1
    if state.tally[KIND] == SGLANG:
        queue_last(state, request)
    else:
        queue_first(state, request)
