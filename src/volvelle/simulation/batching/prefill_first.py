"""Steps in which prompts go first and sequences that decode wait: the rules of SGLang."""

from volvelle.simulation.batching.free_blocks import take
from volvelle.simulation.batching.in_flight import pick
from volvelle.simulation.batching.prefix_cache import found_blocks
from volvelle.simulation.batching.sequences import admit, blocks_of, computed_elsewhere, preempt, take_over
from volvelle.simulation.batching.state import (
    BLOCK,
    BUDGET,
    CHUNK,
    CHUNKS,
    CLIPPED_OUTPUT,
    COMPUTED,
    DECAYED,
    DECODING,
    FREE,
    FULL,
    HEAP,
    HELD,
    INPUT,
    LIMIT,
    MADE,
    MIXES,
    MOST,
    PARTIAL,
    PAUSE,
    PHASE,
    PICKED,
    QUEUE,
    QUEUE_START,
    QUEUED,
    RATIO,
    RATIO_AT_LEAST,
    RATIO_DECAY,
    RETRACTED_AHEAD,
    RUNNING,
    START,
    STARTED,
    STEP,
    TARGET,
    UNTIL_ARRIVAL,
    UNTIL_END,
    UNTIL_NEXT_STEP,
    VERIFIED,
    State,
)
from volvelle.simulation.compiler import compiled


@compiled
def _made(state: State, request: int) -> int:
    """Tokens that a sequence that decodes has yielded."""
    row = state.requests[request]
    tokens: int = row[MADE] + 1 + state.tally[STEP] - row[START]
    return tokens


@compiled
def _to_come(state: State) -> float:
    """Tokens that memory is kept for: the part of what running requests may yet yield that they are expected to."""
    tokens = 0
    for place in range(state.tally[DECODING]):
        request = state.requests[place, HEAP]
        tokens += min(state.requests[request, LIMIT] - _made(state, request), CLIPPED_OUTPUT)
    ratio = max(state.clock[RATIO] - state.clock[RATIO_DECAY] * state.tally[DECAYED], state.clock[RATIO_AT_LEAST])
    return float(ratio * tokens)


@compiled
def _fill_with_prompts(state: State, beside: int) -> None:
    """Choose prompts for this step, beside so many sequences that decode in it."""
    count, rule, block = state.tally, state.tally, state.tally[BLOCK]
    budget = rule[BUDGET] - beside * rule[VERIFIED]
    chunk = (rule[CHUNK] if rule[CHUNKS] else rule[BUDGET]) - beside * rule[VERIFIED]
    room = count[FREE] * block - _to_come(state)
    partial = count[PARTIAL]
    if partial >= 0:
        row = state.requests[partial]
        tokens = min(row[TARGET] - row[COMPUTED], chunk, row[HELD] * block - row[COMPUTED] + count[FREE] * block)
        if tokens <= 0:
            return
        pick(state, partial, tokens)
        if row[COMPUTED] + tokens < row[TARGET]:
            return
        chunk -= tokens
        budget -= tokens
        count[PARTIAL] = -1
        room -= tokens + min(row[LIMIT] - row[MADE], CLIPPED_OUTPUT)
    while count[QUEUED] > 0:
        if count[RUNNING] >= rule[MOST] or room <= 0:
            count[FULL] = 1
            return
        if budget <= 0 or chunk <= 0:
            return
        request = state.requests[count[QUEUE_START], QUEUE]
        if computed_elsewhere(state, request):
            return
        row = state.requests[request]
        found, unheld = found_blocks(state, request)
        computed = min(found * block, row[TARGET] - 1)
        tokens = row[TARGET] - computed
        wanted = tokens + min(row[LIMIT] - row[MADE], CLIPPED_OUTPUT)
        blocks = max(0, blocks_of(row[TARGET], block) - found) + unheld
        if wanted >= room - unheld * block or blocks > count[FREE]:
            count[FULL] = 1
            return
        if tokens > budget and count[PICKED] > 0:
            return
        if tokens > chunk:
            tokens = chunk // block * block
            wanted = tokens
            if tokens <= 0:
                return
        admit(state, request)
        count[STARTED] += 1
        pick(state, request, tokens)
        if computed + tokens < row[TARGET]:
            return
        room -= wanted + unheld * block
        budget -= tokens
        chunk -= tokens


@compiled
def _take_over(state: State) -> None:
    """Let those decode that wait with a computed prompt and come next, while there is room as for any other."""
    count, block = state.tally, state.tally[BLOCK]
    while count[QUEUED] > 0 and count[PARTIAL] < 0 and not count[FULL]:
        request = state.requests[count[QUEUE_START], QUEUE]
        if not computed_elsewhere(state, request):
            return
        row = state.requests[request]
        wanted = row[TARGET] + min(row[LIMIT], CLIPPED_OUTPUT)
        next_step = state.tally[PHASE + -count[STEP] % block]
        lacks = blocks_of(row[TARGET] + 1, block) + next_step > count[FREE]
        if count[RUNNING] >= state.tally[MOST] or lacks or wanted >= count[FREE] * block - _to_come(state):
            count[FULL] = 1
            return
        take_over(state, request, 0)


@compiled
def _retract(state: State) -> None:
    """Send those back that have yielded least, until the others have blocks for one more token."""
    count = state.tally
    while state.tally[PHASE + -count[STEP] % state.tally[BLOCK]] > count[FREE] and count[DECODING] > 1:
        victim = state.requests[0, HEAP]
        for place in range(1, count[DECODING]):
            request = state.requests[place, HEAP]
            made, least = _made(state, request), _made(state, victim)
            longer = state.requests[request, INPUT] - state.requests[victim, INPUT]
            if made < least or (made == least and (longer > 0 or (longer == 0 and request > victim))):
                victim = request
        preempt(state, victim)
    tokens = allowed = 0
    for place in range(count[DECODING]):
        tokens += _made(state, state.requests[place, HEAP]) + RETRACTED_AHEAD
        allowed += state.requests[state.requests[place, HEAP], LIMIT]
    state.clock[RATIO] = min(1.0, tokens / (allowed + 1.0))
    count[DECAYED] = 0


@compiled
def fill_prefill_first(state: State) -> int:
    """Choose what this step computes; how many sequences decode in it."""
    count, rule = state.tally, state.tally
    count[PICKED] = count[STARTED] = 0
    count[PAUSE] = UNTIL_END
    _take_over(state)
    needed = state.tally[PHASE + -count[STEP] % rule[BLOCK]]
    beside = count[DECODING] if rule[MIXES] and needed <= count[FREE] else 0
    taken = beside > 0
    if count[PARTIAL] < 0 and count[RUNNING] >= rule[MOST]:
        count[FULL] = 1
    if count[PARTIAL] >= 0 or (count[QUEUED] > 0 and not count[FULL]):
        if taken:
            take(state, needed)
        _fill_with_prompts(state, beside)
        if count[PICKED] > 0:
            return beside
    else:
        taken = False
    if not count[FULL]:
        count[PAUSE] = UNTIL_ARRIVAL if count[QUEUED] == 0 and count[PARTIAL] < 0 else UNTIL_NEXT_STEP
    if not taken:
        if needed > count[FREE]:
            _retract(state)
            count[PAUSE] = UNTIL_NEXT_STEP
        take(state, state.tally[PHASE + -count[STEP] % rule[BLOCK]])
    decoding: int = count[DECODING]
    return decoding
