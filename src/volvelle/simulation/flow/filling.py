"""Max-min fair rates by filling: the fullest link sets the rate of all its flows, then the next.

Functions here take the columns they work on, not the whole state: that would be handed over at every call.
"""

from math import inf

from volvelle.simulation.compiler import compiled
from volvelle.simulation.flow.state import LIVE, SOLVED, USED, Column, FlowState

_EQUAL = 1.0 + 1e-12
"""Shares within rounding of each other are one."""
_BELOW = 1.0 - 1e-9
"""A rate is below another's if it is by more than rounding."""


@compiled
def fill(state: FlowState, ended: float) -> None:
    """Give every flow that runs its rate; one that crosses no link has none, and ends at once.

    Where flows have ended since and none has started, `ended` is the least rate of those, else 0: rates below it stay
    as they are, because no link that was full before those flows had their rates was one of theirs.
    """
    kept = ended * _BELOW
    first, route, rate, limit = state.first, state.route, state.rate, state.limit
    links, shares, free, opened, key = state.links, state.shares, state.free, state.open, state.key
    place, busy, used, crossing, heap = state.place, state.busy, state.used, state.crossing, state.heap
    count = _crossed(state, kept)
    state.tally[SOLVED] += 1
    left = 0
    for at in range(state.tally[LIVE]):
        flow = state.live[at]
        if 0.0 < rate[flow] < kept:
            continue
        rate[flow] = -1.0
        limit[flow] = -1
        if first[route[flow]] < first[route[flow] + 1]:
            left += 1
    if left == 0:
        return
    # Flows of a symmetric exchange are all limited at once: no heap is needed then.
    least = -1.0
    for at in range(count):
        link = used[at]
        if opened[link] > 0.0:
            key[at] = free[link] / opened[link]
            if least < 0.0 or key[at] < least:
                least = key[at]
        else:
            key[at] = -1.0
    for at in range(count):
        link = used[at]
        if 0.0 <= key[at] <= least * _EQUAL:
            left -= _fix(link, least, place, busy, crossing, rate, limit, route, first, links, shares, free, opened)
    if left == 0:
        return
    size = 0
    for at in range(count):
        link = used[at]
        if opened[link] > 0.0:
            key[size] = free[link] / opened[link]
            heap[size] = link
            size += 1
    key[size] = inf
    for at in range(size // 2 - 1, -1, -1):
        _sift(heap, key, at, size)
    level = least
    while left > 0:
        link = heap[0]
        share = free[link] / opened[link] if opened[link] > 0.0 else -1.0
        if share > key[0] * _EQUAL:
            key[0] = share
        else:
            if share >= 0.0:
                level = max(level, share)  # shares only grow, but for rounding
                left -= _fix(link, level, place, busy, crossing, rate, limit, route, first, links, shares, free, opened)
            size -= 1
            heap[0], key[0] = heap[size], key[size]
            key[size] = inf
        _sift(heap, key, 0, size)


@compiled
def _crossed(state: FlowState, kept: float) -> int:
    """Which links have flows, and which flows each has that are to get a rate; how many links."""
    first, links, shares, route, live = state.first, state.links, state.shares, state.route, state.live
    busy, used, free, opened, place = state.busy, state.used, state.free, state.open, state.place
    crossing, capacity, rate = state.crossing, state.capacity, state.rate
    for at in range(state.tally[USED]):
        busy[used[at]] = 0
    count = 0
    running = state.tally[LIVE]
    for at in range(running):
        flow = live[at]
        way = route[flow]
        stays = 0.0 < rate[flow] < kept
        for step in range(first[way], first[way + 1]):
            link = links[step]
            if busy[link] == 0:
                used[count] = link
                count += 1
                free[link] = capacity[link]
                opened[link] = 0.0
            busy[link] += 1
            if stays:
                free[link] = max(0.0, free[link] - rate[flow] * shares[step])
            else:
                opened[link] += shares[step]
    start = 0
    for at in range(count):
        link = used[at]
        place[link] = start
        start += busy[link]
        busy[link] = 0
    for at in range(running):
        flow = live[at]
        if 0.0 < rate[flow] < kept:
            continue
        way = route[flow]
        for step in range(first[way], first[way + 1]):
            link = links[step]
            crossing[place[link] + busy[link]] = flow
            busy[link] += 1
    state.tally[USED] = count
    return count


@compiled
def _fix(
    link: int,
    share: float,
    place: Column,
    busy: Column,
    crossing: Column,
    rate: Column,
    limit: Column,
    route: Column,
    first: Column,
    links: Column,
    shares: Column,
    free: Column,
    opened: Column,
) -> int:
    """Give all flows of a link without a rate their share of it; how many there were."""
    fixed = 0
    start = place[link]
    for at in range(start, start + busy[link]):
        flow = crossing[at]
        if rate[flow] >= 0.0:
            continue
        rate[flow] = share
        limit[flow] = link
        fixed += 1
        way = route[flow]
        for step in range(first[way], first[way + 1]):
            other, part = links[step], shares[step]
            opened[other] -= part
            free[other] = max(0.0, free[other] - share * part)
    opened[link] = 0.0
    return fixed


@compiled
def _sift(heap: Column, key: Column, place: int, count: int) -> None:
    """Move a link down the heap to where it belongs; behind the last key stands one that no other is above."""
    moved, own = heap[place], key[place]
    child = 2 * place + 1
    while child < count:
        child += int(key[child + 1] < key[child])
        if key[child] >= own:
            break
        heap[place], key[place] = heap[child], key[child]
        place = child
        child = 2 * place + 1
    heap[place], key[place] = moved, own
