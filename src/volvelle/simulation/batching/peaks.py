"""The fullest second of a run: requests in it, and tokens that came in it."""

import numpy as np

from volvelle.simulation.batching.served import Served
from volvelle.simulation.batching.state import Real

_MOST = 250_000
"""Steps that are looked at one by one; of more, neighbours in a span count at the end of the last."""


def most_requests(sent: Real, end: Real) -> int:
    """Requests in the same second at most: one counts in every second that it touches."""
    first, last = np.floor(sent), np.floor(end) + 1.0
    order = np.argsort(np.concatenate((last, first)), kind="stable")
    change = np.concatenate((np.full(last.size, -1), np.full(first.size, 1)))[order]
    return int(np.cumsum(change).max())


def most_tokens(*all_served: Served, start: float, alone: Real | None = None) -> int:
    """Output tokens of engines in the same second at most; seconds count from `start`, and `alone` are more tokens."""
    more = np.zeros(0) if alone is None else alone
    moments, tokens = zip(*map(_tokens, all_served), (more, np.ones(more.size)), strict=True)
    place = np.unique(np.floor(np.concatenate(moments) - start), return_inverse=True)[1].reshape(-1)
    return int(np.bincount(place, np.concatenate(tokens)).max())


def _tokens(served: Served) -> tuple[Real, Real]:
    """When tokens came, and how many came then."""
    spans = served.spans
    steps = np.where(spans.decoding > 0, spans.steps, 0)
    group = max(1, -(-int(steps.sum()) // _MOST))
    pieces = -(-steps // group)
    row = np.repeat(np.arange(steps.size), pieces)
    before = (np.arange(row.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)) * group
    done = np.minimum(before + group, steps[row]).astype(np.float64)
    came = spans.begin[row] + done * spans.first[row] + spans.more[row] * (0.5 * done * (done - 1.0))
    alone = np.concatenate((served.start_tokens, served.interrupted_start_tokens, served.lone_tokens))
    tokens = np.concatenate(((done - before) * spans.decoding[row] * served.step_tokens, np.ones(alone.size)))
    return np.concatenate((came, alone)), tokens
