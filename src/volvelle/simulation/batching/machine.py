"""The machine: what has arrived, what goes into the next step, how long it takes, what comes of it; and again.

Where all that steps do is decode, with nothing to admit, it jumps: to the next end, arrival or shortage of blocks, or
to the next node of the tables of times, whichever is first.
"""

import numpy as np

from volvelle.simulation.batching.costs import CostTables
from volvelle.simulation.batching.free_blocks import take
from volvelle.simulation.batching.in_flight import fill_in_flight
from volvelle.simulation.batching.prefill_first import fill_prefill_first
from volvelle.simulation.batching.sequences import end_decoded, queue_last, start_decoding
from volvelle.simulation.batching.state import (
    AHEAD,
    API,
    BALANCE_QUEUE,
    BALANCE_STEPS,
    BEGUN,
    BLOCK,
    BLOCKS,
    COMPUTED,
    CONTEXT,
    DECAYED,
    DECODED_AT,
    DECODING,
    DONE,
    FINISH,
    FREE,
    HEAP,
    HORIZON,
    INPUT,
    INTERVAL,
    ISSUED,
    KIND,
    LOGGED,
    MOST,
    NOTED_START,
    NOTED_TIME,
    NOW,
    PATIENCE,
    PAUSE,
    PHASE,
    PICK,
    PICK_TOKENS,
    PICKED,
    PREFILLED,
    QUEUED,
    RATIO,
    RATIO_AT_FIRST,
    RUNNING,
    SEEN,
    SENT,
    SGLANG,
    SINCE_RECEIVED,
    STARTED,
    STEP,
    TARGET,
    TOKENISING,
    UNTIL_BALANCED,
    UNTIL_END,
    UNTIL_FULLER,
    UNTIL_NEXT_STEP,
    VERIFIED,
    WAITED,
    Real,
    State,
    Whole,
)
from volvelle.simulation.batching.step_time import after, chunk_seconds, decode_steps, mixed_step, steps_until
from volvelle.simulation.compiler import compiled, entry

RECEIVED_AFTER_PROMPTS = 1000
"""What a step with prompts is worth among the decoding steps between two looks at what has arrived."""

# Of a span of steps.
BEGIN, SECONDS, MORE = range(3)
"""When its first step begins, how long that takes, and how much longer each after it."""
STEPS, IN_DECODE, IN_FLIGHT, USED, PROMPTS, PROMPT_TOKENS = range(6)
"""Steps, sequences that decode in them, requests that run, blocks in use at the first, prompts and tokens of them."""
SPAN_COUNTS = 6


@compiled
def _seen_at(state: State) -> float:
    """When the scheduler sees the next request that is known: not before those that were sent before it."""
    place, clock = state.tally[SEEN], state.clock
    return float(state.times[place, SENT] + clock[API] + clock[TOKENISING] * state.requests[place, INPUT])


@compiled
def _next_arrival(state: State) -> float:
    """When the scheduler may next see a request: one that is known, or one that may yet come."""
    count = state.tally
    arrival: float = state.clock[HORIZON]
    if count[SEEN] < count[ISSUED]:
        arrival = min(arrival, _seen_at(state))
    return arrival


@compiled
def _receive(state: State) -> None:
    """Queue what has arrived: until now, or until the last step began where the next was chosen then."""
    count = state.tally
    until = state.clock[BEGUN] if count[AHEAD] else state.clock[NOW]
    while count[SEEN] < count[ISSUED] and _seen_at(state) <= until:
        queue_last(state, count[SEEN])
        count[SEEN] += 1


@compiled
def _blocks_within(state: State, steps: int) -> int:
    """Blocks that decoding takes in so many steps from here."""
    block = state.tally[BLOCK]
    needed = steps // block * state.tally[DECODING]
    place = -state.tally[STEP] % block
    for _ in range(steps % block):
        needed += state.tally[PHASE + place]
        place = place - 1 if place > 0 else block - 1
    return int(needed)


@compiled
def _steps_with_blocks(state: State, steps: int) -> int:
    """How many of the next steps have blocks for all that decode; those of the first are taken."""
    count, block = state.tally, state.tally[BLOCK]
    first = state.tally[PHASE + -count[STEP] % block]
    if _blocks_within(state, steps) - first <= count[FREE]:
        return steps
    cycles = (count[FREE] + first) // count[DECODING]
    found = cycles * block
    needed = cycles * count[DECODING] - first
    place = -count[STEP] % block
    while True:
        needed += state.tally[PHASE + place]
        place = place - 1 if place > 0 else block - 1
        if needed > count[FREE]:
            return max(1, int(found))
        found += 1


@compiled
def _steps_allowed(state: State, jumping: bool) -> int:
    """Decoding steps that may follow each other before anything is to be decided again."""
    count = state.tally
    if not jumping or count[PAUSE] == UNTIL_NEXT_STEP:
        return 1
    steps = state.requests[state.requests[0, HEAP], FINISH] - count[STEP]
    if count[PAUSE] == UNTIL_FULLER or count[PAUSE] == UNTIL_BALANCED:
        steps = min(steps, count[PATIENCE])
    return _steps_with_blocks(state, steps)


@compiled
def _after_decoding(state: State, steps: int) -> None:
    """Account for steps that did nothing but decode."""
    count = state.tally
    take(state, _blocks_within(state, steps) - state.tally[PHASE + -count[STEP] % state.tally[BLOCK]])
    count[STEP] += steps
    count[CONTEXT] += steps * count[DECODING]
    count[SINCE_RECEIVED] += steps
    count[DECAYED] += steps
    if count[PAUSE] == UNTIL_FULLER:
        count[WAITED] += steps
    state.clock[DECODED_AT] = state.clock[NOW]


@compiled
def _step_with_prompts(state: State, costs: CostTables, decoding: int) -> float:
    """Seconds of a step with prompts, by what was chosen for it."""
    count = state.tally
    verified = decoding * count[VERIFIED]
    tokens, rows, chunks = verified, verified, 0.0
    for place in range(count[PICKED]):
        request, length = state.requests[place, PICK], state.requests[place, PICK_TOKENS]
        computed = state.requests[request, COMPUTED]
        tokens += length
        rows += computed + length == state.requests[request, TARGET]
        chunks += chunk_seconds(costs, float(length), float(computed))
    context = count[CONTEXT] / count[DECODING] if decoding > 0 else 0.0
    count[PREFILLED] += tokens - verified
    return mixed_step(costs, tokens, rows, decoding, context, chunks, decoding + count[PICKED], count[STARTED])


@compiled
def _after_prompts(state: State, decoding: int) -> None:
    """Account for a step with prompts: those that are complete yield a token."""
    count = state.tally
    count[SINCE_RECEIVED] += RECEIVED_AFTER_PROMPTS
    if decoding > 0:
        count[STEP] += 1
        count[CONTEXT] += decoding
        state.clock[DECODED_AT] = state.clock[NOW]
        end_decoded(state)
    for place in range(count[PICKED]):
        request = state.requests[place, PICK]
        state.requests[request, COMPUTED] += state.requests[place, PICK_TOKENS]
        if state.requests[request, COMPUTED] == state.requests[request, TARGET]:
            start_decoding(state, request)


@compiled
def _decode(state: State, costs: CostTables, jumping: bool, spans: Real, counts: Whole) -> int:
    """Decode for as many steps as nothing else happens, or as there is room for; the spans of steps."""
    count, clock, interval = state.tally, state.clock, state.tally[INTERVAL]
    decoding, running, blocks = count[DECODING], count[RUNNING], state.tally[BLOCKS] - count[FREE]
    allowed = _steps_allowed(state, jumping)
    stop = _next_arrival(state)
    if (count[PAUSE] == UNTIL_END or count[PAUSE] == UNTIL_NEXT_STEP) and interval == 1:
        stop = np.inf
    done = used = 0
    while done < allowed and used < spans.shape[0]:
        first, more, steps = decode_steps(costs, decoding, count[VERIFIED], count[CONTEXT] / decoding + done)
        steps = min(steps, allowed - done)
        reached = steps_until(clock[NOW], first, more, steps, stop)
        if reached <= steps:
            steps = reached
            # The step that has begun since goes by if it was chosen before; nothing new begins beyond the horizon.
            end = after(clock[NOW], first, more, steps)
            behind = 1 if count[AHEAD] and stop > clock[NOW] and end < clock[HORIZON] else 0
            # It is seen where the counter of steps comes round next.
            wait = -(count[SINCE_RECEIVED] + done + steps + behind) % interval
            allowed = min(allowed, done + steps + behind + wait)
            stop = np.inf
        spans[used, BEGIN], spans[used, SECONDS], spans[used, MORE] = clock[NOW], first, more
        counts[used, STEPS], counts[used, IN_DECODE], counts[used, IN_FLIGHT] = steps, decoding, running
        counts[used, USED], counts[used, PROMPTS], counts[used, PROMPT_TOKENS] = blocks, 0, 0
        clock[BEGUN] = after(clock[NOW], first, more, steps - 1)
        clock[NOW] = after(clock[NOW], first, more, steps)
        used += 1
        done += steps
    _after_decoding(state, done)
    count[SINCE_RECEIVED] = _since(count[SINCE_RECEIVED], interval)
    end_decoded(state)
    return used


@compiled
def _since(steps: int, interval: int) -> int:
    """Steps since the last look at what has arrived; a whole interval where it is time to look."""
    if steps < interval:
        return steps
    return interval if steps % interval == 0 else steps % interval


@compiled
def _waits_for_work(state: State) -> bool:
    """Receive what has arrived, if it is time to; whether there is nothing to do, and time went on to what comes."""
    count, clock = state.tally, state.clock
    if count[INTERVAL] == 1:
        _receive(state)
    elif count[SINCE_RECEIVED] >= count[INTERVAL]:
        count[SINCE_RECEIVED] = 0
        _receive(state)
    count[LOGGED] = 0
    if count[RUNNING] > 0 or count[QUEUED] > 0:
        return False
    clock[NOW] = clock[BEGUN] = max(clock[NOW], _next_arrival(state))
    count[SINCE_RECEIVED] = count[INTERVAL]
    clock[RATIO] = clock[RATIO_AT_FIRST]
    count[DECAYED] = 0
    return True


@compiled
def _advance(state: State, costs: CostTables, jumping: bool, decoding: int, spans: Real, counts: Whole) -> int:
    """Do what was chosen, in which so many decode; the spans of steps."""
    count, clock = state.tally, state.clock
    if count[PICKED] > 0:
        before = count[PREFILLED]
        seconds = _step_with_prompts(state, costs, decoding)
        spans[0, BEGIN], spans[0, SECONDS], spans[0, MORE] = clock[NOW], seconds, 0.0
        counts[0, STEPS], counts[0, IN_DECODE], counts[0, IN_FLIGHT] = 1, decoding, count[RUNNING]
        counts[0, USED] = count[BLOCKS] - count[FREE]
        counts[0, PROMPTS], counts[0, PROMPT_TOKENS] = count[PICKED], count[PREFILLED] - before
        clock[BEGUN] = clock[NOW]
        clock[NOW] += seconds
        _after_prompts(state, decoding)
        return 1
    if decoding > 0:
        return _decode(state, costs, jumping, spans, counts)
    return 0


@compiled
def _noted(state: State, log: Real) -> int:
    """What was noted of preempted requests in this step, written down; how much it was."""
    for place in range(state.tally[LOGGED]):
        log[place, 0] = state.times[place, NOTED_START]
        log[place, 1] = state.times[place, NOTED_TIME]
    return int(state.tally[LOGGED])


@compiled
def _has_backlog(state: State) -> bool:
    """Whether more wait than a step admits, so that it is the same who comes behind them, and when that is known.

    Where SGLang may lack blocks it is not: one that it sends back waits behind those that came before. Nor while ranks
    of TensorRT-LLM wait for one more prompt, so that all have one.
    """
    count = state.tally
    keeps = count[KIND] != SGLANG or count[PHASE + -count[STEP] % count[BLOCK]] <= count[FREE]
    balanced = count[BALANCE_STEPS] == 0 or count[QUEUED] >= count[BALANCE_QUEUE]
    return bool(keeps and balanced and count[QUEUED] > count[MOST] and count[INTERVAL] == 1)


@compiled
def _goes_on(state: State) -> bool:
    """Whether some that came are not done, and it is known who comes until now or does not matter yet."""
    known = state.clock[NOW] < state.clock[HORIZON] or _has_backlog(state)
    return bool(known and state.tally[DONE] < state.tally[ISSUED])


@entry
def run_in_flight(
    state: State, costs: CostTables, jumping: bool, spans: Real, counts: Whole, log: Real
) -> tuple[int, int]:
    """Serve requests until all that came are done, the horizon is reached or there is no room to write; what it wrote.

    That are spans of steps, and notes. By the rules of vLLM and TensorRT-LLM. It goes on where it stopped when it is
    called again.
    """
    used = logged = turns = 0
    most, most_logged = spans.shape[0] - 1, log.shape[0] - 2 * state.tally[MOST]
    while _goes_on(state) and max(used, turns) < most and logged < most_logged:
        if not _waits_for_work(state):
            decoding = fill_in_flight(state)
            used += _advance(state, costs, jumping, decoding, spans[used:], counts[used:])
            logged += _noted(state, log[logged:])
            turns += 1
    return used, logged


@entry
def run_prefill_first(
    state: State, costs: CostTables, jumping: bool, spans: Real, counts: Whole, log: Real
) -> tuple[int, int]:
    """The same by the rules of SGLang: apart, because each takes its time to compile."""
    used = logged = turns = 0
    most, most_logged = spans.shape[0] - 1, log.shape[0] - 2 * state.tally[MOST]
    while _goes_on(state) and max(used, turns) < most and logged < most_logged:
        if not _waits_for_work(state):
            decoding = fill_prefill_first(state)
            used += _advance(state, costs, jumping, decoding, spans[used:], counts[used:])
            logged += _noted(state, log[logged:])
            turns += 1
    return used, logged
