"""Free blocks of the KV cache, in the order in which they will be reused: longest free first.

They form stretches. Most belong to nobody, and neighbours of that kind are one; a stretch that holds a hashed block of
prompts, or what a preempted request had computed, keeps its owner until the first of it is reused.
"""

from volvelle.simulation.batching.state import (
    EARLIER,
    FREE,
    FREE_FIRST,
    FREE_LAST,
    KEPT,
    KNOWN,
    LATER,
    LEAST_FREE,
    NOBODY,
    OWNER,
    SIZE,
    SPARE,
    STRETCH,
    State,
)
from volvelle.simulation.compiler import compiled


@compiled
def unlink(state: State, stretch: int) -> None:
    """Take a stretch out of the order."""
    stretches, count = state.stretches, state.tally
    earlier, later = stretches[stretch, EARLIER], stretches[stretch, LATER]
    if earlier >= 0:
        stretches[earlier, LATER] = later
    else:
        count[FREE_FIRST] = later
    if later >= 0:
        stretches[later, EARLIER] = earlier
    else:
        count[FREE_LAST] = earlier
    stretches[stretch, LATER] = count[SPARE]
    count[SPARE] = stretch


@compiled
def take(state: State, blocks: int) -> None:
    """Reuse the blocks that have been free for longest; there are as many."""
    stretches, count = state.stretches, state.tally
    count[FREE] -= blocks
    count[LEAST_FREE] = min(count[LEAST_FREE], count[FREE])
    while blocks > 0:
        stretch = count[FREE_FIRST]
        owner = stretches[stretch, OWNER]
        if owner >= 0:  # a hashed block is of use only as a whole
            state.hashed[owner, KNOWN] = 0
            state.hashed[owner, STRETCH] = -1
            stretches[stretch, OWNER] = NOBODY
        size = stretches[stretch, SIZE]
        if size > blocks:
            stretches[stretch, SIZE] = size - blocks
            return
        if owner < NOBODY:
            state.requests[-2 - owner, KEPT] = -1
        unlink(state, stretch)
        blocks -= size


@compiled
def give(state: State, blocks: int, owner: int) -> int:
    """Free blocks, to be reused last; the number of their stretch."""
    stretches, count = state.stretches, state.tally
    last = count[FREE_LAST]
    if blocks == 0:
        return -1
    count[FREE] += blocks
    if owner == NOBODY and last >= 0 and stretches[last, OWNER] == NOBODY:
        stretches[last, SIZE] += blocks
        return int(last)
    made = count[SPARE]
    count[SPARE] = stretches[made, LATER]
    stretches[made, EARLIER] = last
    stretches[made, LATER] = -1
    stretches[made, SIZE] = blocks
    stretches[made, OWNER] = owner
    if last >= 0:
        stretches[last, LATER] = made
    else:
        count[FREE_FIRST] = made
    count[FREE_LAST] = made
    return int(made)


@compiled
def take_back(state: State, stretch: int) -> int:
    """Reuse a whole stretch for what it holds; its blocks."""
    blocks: int = state.stretches[stretch, SIZE]
    state.tally[FREE] -= blocks
    state.tally[LEAST_FREE] = min(state.tally[LEAST_FREE], state.tally[FREE])
    earlier, later = state.stretches[stretch, EARLIER], state.stretches[stretch, LATER]
    unlink(state, stretch)
    if earlier >= 0 and later >= 0:
        owners = state.stretches[earlier, OWNER], state.stretches[later, OWNER]
        if owners[0] == NOBODY and owners[1] == NOBODY:  # they have become neighbours
            state.stretches[earlier, SIZE] += state.stretches[later, SIZE]
            unlink(state, later)
    return blocks
