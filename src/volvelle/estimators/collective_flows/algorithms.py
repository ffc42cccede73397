"""Other algorithms as messages: halving and doubling, two trees, direct, in the network."""

import numpy as np

from volvelle.errors import OutsideDomainError
from volvelle.estimators.collective_flows.exchange import Exchange, Messages, check_count
from volvelle.system.routing import Numbers
from volvelle.system.wirings.wiring import NONE


def halving_doubling(chips: int, size: float) -> Exchange:
    """Exchange half with the next chip, a quarter with the one two away, an eighth …, and all of it back.

    Near first: the largest messages stay in the innermost dimension.
    """
    doublings = chips.bit_length() - 1
    if chips != 1 << doublings:
        raise OutsideDomainError(f"halving and doubling as flows needs a power of two of chips, not {chips}")
    messages = Messages()
    own = np.arange(chips)
    halves = [(1 << place, size / (2 << place)) for place in range(doublings)]
    earlier: Numbers | None = None
    partner_then = own
    for distance, part in [*halves, *reversed(halves)]:
        partner = own ^ distance
        numbers = messages.send(own, partner, part)
        if earlier is not None:
            messages.order(earlier, numbers)
            messages.order(earlier[partner_then], numbers)
        earlier, partner_then = numbers, partner
    return messages.exchange()


def direct(chips: int, size: float, *, passes: int = 2) -> Exchange:
    """Every chip sends a share to every other at once; for an all-reduce again, once it has all of its own share."""
    check_count(passes * chips * chips)
    messages = Messages()
    source, target = np.divmod(np.arange(chips * chips), chips)
    source, target = source[source != target], target[np.arange(chips).repeat(chips) != target]
    arrived = None
    own = np.arange(chips)
    for done in range(1, passes + 1):
        numbers = messages.send(source, target, size / chips)
        if arrived is not None:
            messages.order(arrived[source], numbers)
        if done < passes:
            # A message to oneself, of no bytes, is there when all others are.
            arrived = messages.send(own, own, 0.0)
            messages.order(numbers, arrived[target])
    return messages.exchange()


def two_trees(chips: int, size: float) -> Exchange:
    """Half of the data up and down each of two trees; who is inside one is a leaf of the other.

    Pieces are so fine that all messages run at once, each behind those that it passes on by a latency a level.
    """
    messages = Messages()
    parents = _tree(chips)
    depth = _depths(parents)
    below = np.flatnonzero(parents >= 0)
    height = depth.max()
    own = np.arange(chips)
    for names in (own, own[::-1] if chips % 2 == 0 else np.roll(own, 1)):
        child, parent = names[below], names[parents[below]]
        messages.send(child, parent, size / 2.0, (height - depth[below] + 1).astype(np.float64))
        messages.send(parent, child, size / 2.0, (height + depth[below]).astype(np.float64))
    return messages.exchange()


def _tree(chips: int) -> Numbers:
    """Parents in a binary tree in which every second chip is a leaf; −1: the top.

    Chip i, counted from 1, is as high as its lowest bit. Mirrored, or turned by one if odd, it is the other
    tree.
    """
    place = np.arange(1, chips + 1)
    bit = place & -place
    above = (place ^ bit) | (bit << 1)
    # Where there is none above on the right, the next on the left is; the top has neither.
    return np.where(above <= chips, above, place ^ bit) - 1


def _depths(parents: Numbers) -> Numbers:
    depth = np.zeros(len(parents), dtype=np.int64)
    at = parents.copy()
    while (at >= 0).any():
        depth += at >= 0
        at = np.where(at >= 0, parents[at], -1)
    return depth


def in_network(chips: int, size: float) -> Exchange:
    """Everything up to the network, which adds up; a share of the sum down to each, up again, and all of it down."""
    messages = Messages()
    own, top = np.arange(chips), np.full(chips, NONE)
    messages.send(own, top, size, 1.0)
    messages.send(top, own, size / chips, 1.0)
    messages.send(own, top, size / chips, 2.0)
    messages.send(top, own, size, 2.0)
    return messages.exchange()


def broadcast(chips: int, size: float) -> Exchange:
    """From chip to chip in fine pieces, each a latency behind the one before."""
    messages = Messages()
    source = np.arange(chips - 1)
    messages.send(source, source + 1, size, (source + 1).astype(np.float64))
    return messages.exchange()
