"""Prompts that begin alike share blocks: what a request finds in the cache, and what it leaves there."""

from volvelle.simulation.batching.free_blocks import give, take_back
from volvelle.simulation.batching.state import (
    CACHING,
    EXAMINED,
    FIRST_HASH,
    HASH,
    HASH_BLOCKS,
    HASH_TOKENS,
    HASHES,
    HOLDS,
    KEPT,
    KNOWN,
    NOBODY,
    SIZE,
    STRETCH,
    USERS,
    State,
)
from volvelle.simulation.compiler import compiled


@compiled
def _hashes(state: State, request: int) -> int:
    """Hashed blocks of a prompt."""
    if not state.tally[CACHING]:
        return 0
    found: int = state.requests[request, HASHES]
    return found


@compiled
def found_blocks(state: State, request: int) -> tuple[int, int]:
    """Leading blocks of a request that the cache has, and those of them that nobody holds."""
    hashes = _hashes(state, request)
    if hashes == 0:
        kept = state.requests[request, KEPT]
        if kept < 0:
            return 0, 0
        size = state.stretches[kept, SIZE]
        return size, size
    first, matched, unheld = state.requests[request, FIRST_HASH], 0, 0
    while matched < hashes:
        hashed = state.prefixes[first + matched, HASH]
        if not state.hashed[hashed, KNOWN]:
            break
        matched += 1
        unheld += state.hashed[hashed, USERS] == 0
    return matched * state.tally[HASH_BLOCKS], unheld * state.tally[HASH_BLOCKS]


@compiled
def share(state: State, request: int) -> int:
    """Hold what the cache has of a request, together with others; how many blocks."""
    hashes = _hashes(state, request)
    if hashes == 0:
        kept = state.requests[request, KEPT]
        state.requests[request, KEPT] = -1
        return take_back(state, kept) if kept >= 0 else 0
    first, matched = state.requests[request, FIRST_HASH], 0
    while matched < hashes:
        hashed = state.prefixes[first + matched, HASH]
        if not state.hashed[hashed, KNOWN]:
            break
        if state.hashed[hashed, USERS] == 0:
            take_back(state, state.hashed[hashed, STRETCH])
            state.hashed[hashed, STRETCH] = -1
        state.hashed[hashed, USERS] += 1
        state.prefixes[first + matched, HOLDS] = 1
        matched += 1
    state.requests[request, EXAMINED] = matched
    found: int = matched * state.tally[HASH_BLOCKS]
    return found


@compiled
def publish(state: State, request: int, tokens: int) -> None:
    """Let others find the hashed blocks among the first tokens of a request; what they have already stays its own."""
    hashes = _hashes(state, request)
    if hashes == 0:
        return
    first = state.requests[request, FIRST_HASH]
    until = min(hashes, tokens // state.tally[HASH_TOKENS])
    for place in range(state.requests[request, EXAMINED], until):
        hashed = state.prefixes[first + place, HASH]
        if not state.hashed[hashed, KNOWN]:
            state.hashed[hashed, KNOWN] = 1
            state.hashed[hashed, USERS] = 1
            state.prefixes[first + place, HOLDS] = 1
    state.requests[request, EXAMINED] = max(until, state.requests[request, EXAMINED])


@compiled
def release(state: State, request: int, blocks: int, kept: int) -> None:
    """Give all blocks of a request back, the last first; the first `kept` of them may be found by itself again."""
    hashes = _hashes(state, request)
    if hashes == 0:
        if not state.tally[CACHING]:
            kept = 0
        give(state, blocks - kept, NOBODY)
        if kept > 0:
            state.requests[request, KEPT] = give(state, kept, -2 - request)
        return
    first = state.requests[request, FIRST_HASH]
    for place in range(hashes):
        blocks -= state.tally[HASH_BLOCKS] * state.prefixes[first + place, HOLDS]
    give(state, blocks, NOBODY)
    for place in range(hashes - 1, -1, -1):
        if state.prefixes[first + place, HOLDS]:
            hashed = state.prefixes[first + place, HASH]
            state.prefixes[first + place, HOLDS] = 0
            state.hashed[hashed, USERS] -= 1
            if state.hashed[hashed, USERS] == 0:
                state.hashed[hashed, STRETCH] = give(state, state.tally[HASH_BLOCKS], hashed)
    state.requests[request, EXAMINED] = 0
