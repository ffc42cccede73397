"""The fullest second of a run: requests in it, and tokens that came in it."""

import numpy as np

from volvelle.simulation.batching.served import Served

_MOST = 1_000_000
"""Steps that are looked at one by one; of more, neighbours in a span count at the end of the last."""


def most_requests(served: Served) -> int:
    """Requests in the same second at most: one counts in every second that it touches."""
    first, last = np.floor(served.sent), np.floor(served.end) + 1.0
    order = np.argsort(np.concatenate((last, first)), kind="stable")
    change = np.concatenate((np.full(last.size, -1), np.full(first.size, 1)))[order]
    return int(np.cumsum(change).max())


def most_tokens(served: Served) -> int:
    """Output tokens in the same second at most; seconds count from the first request."""
    spans = served.spans
    steps = np.where(spans.decoding > 0, spans.steps, 0)
    group = max(1, -(-int(steps.sum()) // _MOST))
    pieces = -(-steps // group)
    row = np.repeat(np.arange(steps.size), pieces)
    before = (np.arange(row.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)) * group
    done = np.minimum(before + group, steps[row]).astype(np.float64)
    came = spans.begin[row] + done * spans.first[row] + spans.more[row] * (0.5 * done * (done - 1.0))
    alone = np.concatenate((served.start_tokens, served.interrupted_start_tokens, served.lone_tokens))
    seconds = np.floor(np.concatenate((came, alone)) - served.sent.min())
    tokens = np.concatenate(((done - before) * spans.decoding[row], np.ones(alone.size)))
    if seconds.max() < _MOST:
        return int(np.bincount(seconds.astype(np.int64), tokens).max())
    place = np.unique(seconds, return_inverse=True)[1].reshape(-1)
    return int(np.bincount(place, tokens).max())
