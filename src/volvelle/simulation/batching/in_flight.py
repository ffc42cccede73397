"""Steps in which prompts join sequences that decode: the rules of vLLM V1 and of TensorRT-LLM."""

from volvelle.simulation.batching.free_blocks import take
from volvelle.simulation.batching.prefix_cache import found_blocks, publish
from volvelle.simulation.batching.sequences import (
    admit,
    blocks_of,
    computed_elsewhere,
    context_of,
    preempt,
    take_over,
    whole_length,
)
from volvelle.simulation.batching.state import (
    AFTER,
    BALANCE_QUEUE,
    BALANCE_STEPS,
    BALANCE_WAIT,
    BLOCK,
    BLOCKS,
    BUDGET,
    CHUNKS,
    COMMITTED,
    COMPUTED,
    DECODING,
    FINISH,
    FIRST_RUNNING,
    FREE,
    HELD,
    KIND,
    LAST_RUNNING,
    MOST,
    NO_EVICTION,
    PARTIAL,
    PATIENCE,
    PAUSE,
    PHASE,
    PICK,
    PICK_TOKENS,
    PICKED,
    PREEMPTED,
    QUEUE,
    QUEUE_START,
    QUEUED,
    RUNNING,
    STARTED,
    STEP,
    TARGET,
    UNIT,
    UNTIL_ARRIVAL,
    UNTIL_BALANCED,
    UNTIL_END,
    UNTIL_FULLER,
    UNTIL_NEXT_STEP,
    VERIFIED,
    VLLM,
    WAIT_STEPS,
    WAIT_TOKENS,
    WAITED,
    WHOLE_PROMPT,
    State,
)
from volvelle.simulation.compiler import compiled


@compiled
def pick(state: State, request: int, tokens: int) -> None:
    """Put tokens of a prompt into this step, with blocks for them."""
    row, count = state.requests[request], state.tally
    blocks = max(0, blocks_of(row[COMPUTED] + tokens, state.tally[BLOCK]) - row[HELD])
    take(state, blocks)
    row[HELD] += blocks
    state.requests[count[PICKED], PICK] = request
    state.requests[count[PICKED], PICK_TOKENS] = tokens
    count[PICKED] += 1
    if row[COMPUTED] + tokens < row[TARGET]:
        count[PARTIAL] = request
    if state.tally[KIND] == VLLM:
        publish(state, request, row[COMPUTED] + tokens)


@compiled
def _blocks_to_decode(state: State) -> bool:
    """Blocks for one more token of all that decode; the last admitted give theirs where none is free."""
    count, block = state.tally, state.tally[BLOCK]
    needed = state.tally[PHASE + -count[STEP] % block]
    if needed <= count[FREE]:
        take(state, needed)
        return False
    preempted = False
    request = count[FIRST_RUNNING]
    while request >= 0:
        runs = True
        if state.requests[request, FINISH] >= 0 and context_of(state, request) % block == 0:
            while runs and count[FREE] == 0:
                last = count[LAST_RUNNING]
                preempt(state, last)
                preempted = True
                runs = last != request
            if runs:
                take(state, 1)
        request = state.requests[request, AFTER] if runs else -1
    return preempted


@compiled
def _cut(state: State, request: int, wanted: int, budget: int) -> int:
    """Prompt tokens that a step has room for; 0: none."""
    if wanted <= budget:
        return wanted
    # One that was preempted may have grown past what a step has room for.
    if not state.tally[CHUNKS] and state.requests[request, PREEMPTED] == 0:
        return 0
    unit = state.tally[UNIT]
    return int(budget // unit * unit)


@compiled
def _fits(state: State, request: int, computed: int, tokens: int, committed: int, free: int) -> bool:
    """Whether blocks are free for a request that would start with these tokens."""
    row = state.requests[request]
    if state.tally[NO_EVICTION] and committed + whole_length(state, request) > state.tally[BLOCKS]:
        return False
    found, unheld = found_blocks(state, request)
    wanted = row[TARGET] if state.tally[WHOLE_PROMPT] else computed + tokens
    return max(0, blocks_of(wanted, state.tally[BLOCK]) - found) + unheld <= free


@compiled
def _fits_whole(state: State, request: int) -> bool:
    """Whether blocks are free for a request whose prompt is computed, and for its next token."""
    if state.tally[NO_EVICTION] and state.tally[COMMITTED] + whole_length(state, request) > state.tally[BLOCKS]:
        return False
    return bool(blocks_of(state.requests[request, TARGET] + 1, state.tally[BLOCK]) <= state.tally[FREE])


@compiled
def _waits_for_more(state: State, budget: int) -> bool:
    """Whether prompts hold back so that a fuller step can start: TensorRT-LLM's batch wait."""
    count, rule = state.tally, state.tally
    left, committed, free, place = budget, count[COMMITTED], count[FREE], 0
    while place < count[QUEUED] and count[RUNNING] + place < rule[MOST]:
        request = state.requests[(count[QUEUE_START] + place) % state.requests.shape[0], QUEUE]
        tokens = _cut(state, request, state.requests[request, TARGET], left)
        if tokens == 0 or not _fits(state, request, 0, tokens, committed, free):
            break
        left -= tokens
        free -= blocks_of(state.requests[request, TARGET], rule[BLOCK])
        committed += whole_length(state, request)
        place += 1
    if place == 0:
        return False
    if count[WAITED] < rule[WAIT_STEPS] and rule[BUDGET] - left < rule[WAIT_TOKENS]:
        return True
    count[WAITED] = 0
    return False


@compiled
def _waits_for_ranks(state: State) -> bool:
    """Whether prompts hold back until ranks of data parallelism can start some together: TensorRT-LLM's balance.

    Ranks count the same steps, so prompts that not all of them have start in every so many.
    """
    count, rule = state.tally, state.tally
    if count[QUEUED] < rule[BALANCE_QUEUE]:
        count[WAITED] = 0
        count[PAUSE] = UNTIL_BALANCED
        count[PATIENCE] = -count[STEP] % rule[BALANCE_STEPS]
        return bool(count[PATIENCE] > 0)
    count[PAUSE] = UNTIL_FULLER
    count[PATIENCE] = rule[BALANCE_WAIT] - count[WAITED]
    if count[PATIENCE] > 0:
        return True
    count[WAITED] = 0
    return False


@compiled
def _fill(state: State) -> None:
    """Choose what this step computes: running requests first, then those that wait, in order."""
    count, rule, block = state.tally, state.tally, state.tally[BLOCK]
    preempted = _blocks_to_decode(state)
    budget = rule[BUDGET] - count[DECODING] * rule[VERIFIED]
    count[PICKED] = count[STARTED] = 0
    count[PAUSE] = UNTIL_END
    partial = count[PARTIAL]
    if partial >= 0:
        row = state.requests[partial]
        tokens = _cut(state, partial, row[TARGET] - row[COMPUTED], budget)
        if blocks_of(row[COMPUTED] + tokens, block) - row[HELD] > count[FREE]:
            preempt(state, partial)
            preempted = True
        elif tokens > 0:
            pick(state, partial, tokens)
            budget -= tokens
            if row[COMPUTED] + tokens < row[TARGET]:
                return
        else:
            return
    if preempted:
        count[PAUSE] = UNTIL_NEXT_STEP
        return
    may_wait = (
        count[QUEUED] > 0
        and count[PICKED] == 0
        and count[DECODING] > 0
        and count[RUNNING] < rule[MOST]
        and not computed_elsewhere(state, state.requests[count[QUEUE_START], QUEUE])
    )
    if may_wait and rule[BALANCE_STEPS] > 0:
        if _waits_for_ranks(state):
            return
        count[PAUSE] = UNTIL_END
    elif may_wait and rule[WAIT_STEPS] > 0 and _waits_for_more(state, budget):
        count[PAUSE] = UNTIL_FULLER
        # Where blocks are not kept for it, the next step may have too few for the first that waits.
        count[PATIENCE] = rule[WAIT_STEPS] - count[WAITED] if rule[NO_EVICTION] else 1
        return
    while count[QUEUED] > 0:
        if count[RUNNING] >= rule[MOST] or budget <= 0:
            return
        request = state.requests[count[QUEUE_START], QUEUE]
        if computed_elsewhere(state, request):
            if not _fits_whole(state, request):
                return
            take_over(state, request, 1)  # those of this step have been taken for the others
            budget -= 1
            continue
        found, _ = found_blocks(state, request)
        target = state.requests[request, TARGET]
        computed = min(found * block, target - 1)
        tokens = _cut(state, request, target - computed, budget)
        if tokens == 0 or not _fits(state, request, computed, tokens, count[COMMITTED], count[FREE]):
            return
        admit(state, request)
        count[STARTED] += 1
        pick(state, request, tokens)
        budget -= tokens
        if computed + tokens < target:
            return
    if count[RUNNING] < rule[MOST]:
        count[PAUSE] = UNTIL_ARRIVAL


@compiled
def fill_in_flight(state: State) -> int:
    """Choose what this step computes; how many sequences decode in it."""
    _fill(state)
    count = state.tally
    held = count[QUEUED] > 0 and count[PICKED] == 0 and count[RUNNING] < count[MOST] and count[PAUSE] == UNTIL_END
    if count[BALANCE_STEPS] > 0 and held:  # steps that prompts wait for ranks are counted while blocks lack, too
        count[PAUSE] = UNTIL_NEXT_STEP
    decoding: int = state.tally[DECODING]
    return decoding
