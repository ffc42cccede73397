"""Flows over time: start, share links, end, let others start."""

from volvelle.simulation.compiler import compiled, entry
from volvelle.simulation.flow.filling import fill
from volvelle.simulation.flow.state import DONE, HEAD, LIVE, TAIL, WAITING, FlowState


@entry
def run(state: FlowState, ends_together: float, starts_together: float) -> None:
    """Until nothing runs and nothing is to start; what ends or starts within a part of the clock is taken at once."""
    now, ended = 0.0, 0.0
    while True:
        coming = _soonest(state)
        if state.tally[LIVE] == 0:
            if coming < 0:
                return
            now = max(now, state.ready[coming])
        if _start(state, now, now * (1.0 + starts_together)) > 0:
            ended = 0.0
        fill(state, ended)
        least = -1.0
        for place in range(state.tally[LIVE]):
            flow = state.live[place]
            takes = state.left[flow] / state.rate[flow] if state.rate[flow] > 0.0 else 0.0
            if least < 0.0 or takes < least:
                least = takes
        until = now + least
        coming = _soonest(state)
        if coming >= 0 and state.ready[coming] < until:
            _advance(state, state.ready[coming] - now)
            ended = 0.0
            now = state.ready[coming]
        else:
            ended = _end(state, now, least, until * (1.0 + ends_together))
            now = until


@compiled
def _soonest(state: FlowState) -> int:
    """Which flow starts next; −1: none."""
    queued = state.queue[state.tally[HEAD]] if state.tally[HEAD] < state.tally[TAIL] else -1
    if state.tally[WAITING] == 0:
        return int(queued)
    if queued >= 0 and _sooner(state, queued, state.due[0]):
        return int(queued)
    return int(state.due[0])


@compiled
def _start(state: FlowState, now: float, until: float) -> int:
    """All flows that are to start by some time; how many."""
    before = state.tally[LIVE]
    flow = _soonest(state)
    while flow >= 0 and state.ready[flow] <= until:
        if state.tally[HEAD] < state.tally[TAIL] and flow == state.queue[state.tally[HEAD]]:
            state.tally[HEAD] += 1
        else:
            state.tally[WAITING] -= 1
            state.due[0] = state.due[state.tally[WAITING]]
            _sift_down(state, state.tally[WAITING])
        state.begin[flow] = now
        state.live[state.tally[LIVE]] = flow
        state.tally[LIVE] += 1
        flow = _soonest(state)
    return int(state.tally[LIVE] - before)


@compiled
def _advance(state: FlowState, takes: float) -> None:
    """All that run send for a while."""
    for place in range(state.tally[LIVE]):
        flow = state.live[place]
        state.left[flow] = max(0.0, state.left[flow] - state.rate[flow] * takes)
        if state.limit[flow] >= 0:
            state.limited[state.limit[flow]] += takes


@compiled
def _end(state: FlowState, now: float, least: float, until: float) -> float:
    """End what ends by some time, each when it does; the others send on. The least rate of those that ended."""
    kept, slowest = 0, -1.0
    for place in range(state.tally[LIVE]):
        flow = state.live[place]
        takes = state.left[flow] / state.rate[flow] if state.rate[flow] > 0.0 else 0.0
        if now + takes <= until:
            if state.limit[flow] >= 0:
                state.limited[state.limit[flow]] += takes
            if state.rate[flow] > 0.0 and (slowest < 0.0 or state.rate[flow] < slowest):
                slowest = state.rate[flow]
            state.left[flow] = 0.0
            state.end[flow] = now + takes
            state.tally[DONE] += 1
            for at in range(state.next_first[flow], state.next_first[flow + 1]):
                other = state.next_flows[at]
                state.ready[other] = max(state.ready[other], state.end[flow])
                state.waits[other] -= 1
                if state.waits[other] == 0:
                    schedule(state, other)
        else:
            state.left[flow] = max(0.0, state.left[flow] - state.rate[flow] * least)
            if state.limit[flow] >= 0:
                state.limited[state.limit[flow]] += least
            state.live[kept] = flow
            kept += 1
    state.tally[LIVE] = kept
    return max(0.0, float(slowest))


@compiled
def schedule(state: FlowState, flow: int) -> None:
    """A flow that waits for nothing more is to start when its latency has passed."""
    state.ready[flow] += state.latency[flow]
    tail = state.tally[TAIL]
    if tail == state.tally[HEAD] or state.ready[state.queue[tail - 1]] <= state.ready[flow]:
        state.queue[tail] = flow
        state.tally[TAIL] += 1
        return
    place = state.tally[WAITING]
    state.tally[WAITING] += 1
    state.due[place] = flow
    while place > 0:
        parent = (place - 1) // 2
        if not _sooner(state, state.due[place], state.due[parent]):
            return
        state.due[place], state.due[parent] = state.due[parent], state.due[place]
        place = parent


@compiled
def _sift_down(state: FlowState, count: int) -> None:
    place = 0
    while True:
        child = 2 * place + 1
        if child >= count:
            return
        if child + 1 < count and _sooner(state, state.due[child + 1], state.due[child]):
            child += 1
        if not _sooner(state, state.due[child], state.due[place]):
            return
        state.due[place], state.due[child] = state.due[child], state.due[place]
        place = child


@compiled
def _sooner(state: FlowState, one: int, other: int) -> bool:
    if state.ready[one] != state.ready[other]:
        return bool(state.ready[one] < state.ready[other])
    return one < other


@entry
def schedule_all(state: FlowState, flows: int) -> None:
    """Those that wait for nothing from the beginning."""
    for flow in range(flows):
        if state.waits[flow] == 0:
            schedule(state, flow)
