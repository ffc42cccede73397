"""Gaps between the tokens of every request, pooled, each with how many gaps it stands for.

All sequences that decode get a token a step. So the gap before a token is the time since the last decoding step, for
all of them at once; only those that have just started had their last token at another time.
"""

import numpy as np

from volvelle.simulation.batching.served import Served, Spans
from volvelle.simulation.batching.state import Real, Whole

MOST_STEPS = 250_000
"""That are looked at one by one; of more, neighbours in a span count as alike."""
MOST_PIECES = 1_000_000
"""Pieces of several tokens that are looked at one by one; of more, those that follow each other count as alike."""


def gaps(served: Served, *, most: int = MOST_STEPS, since: float = 0.0) -> tuple[Real, Real]:
    """Return seconds between two pieces of an answer that follow each other, and how often each occurs.

    At most `most` steps are looked at one by one; gaps that begin before `since` are left out.
    """
    timeline = _Timeline(served.spans)
    if served.stream_interval > 1:
        return _streamed(served, timeline, max(most, MOST_PIECES), since)
    spans = timeline.spans
    if not spans.steps.size:
        return served.resumption_gaps, np.ones(served.resumption_gaps.size)
    starts = np.concatenate((served.starts, served.interrupted_starts))
    tokens = np.concatenate((served.start_tokens, served.interrupted_start_tokens))
    tokens, starts = tokens[starts >= 0], starts[starts >= 0]
    place = np.searchsorted(timeline.before, starts, side="right") - 1
    own = timeline.first_ends[place] - tokens
    joined = np.bincount(place, minlength=spans.steps.size)
    together = timeline.first_ends[1:] - timeline.ends[:-1]
    later, weights = _later_steps(spans, most, since)
    values = np.concatenate((together, own, served.resumption_gaps, later))
    counts = np.concatenate(
        (
            np.where(timeline.ends[:-1] >= since, (spans.decoding - joined)[1:], 0),
            tokens >= since,
            np.ones(served.resumption_gaps.size),
            weights,
        )
    )
    return values[counts > 0], counts[counts > 0].astype(np.float64)


class _Timeline:
    """Decoding steps, numbered as the machine does, and when each ends."""

    def __init__(self, spans: Spans) -> None:
        decodes = spans.decoding > 0
        self.spans = Spans(
            begin=spans.begin[decodes],
            first=spans.first[decodes],
            more=spans.more[decodes],
            steps=spans.steps[decodes],
            decoding=spans.decoding[decodes],
            running=spans.running[decodes],
            used_blocks=spans.used_blocks[decodes],
            prompts=spans.prompts[decodes],
            prompt_tokens=spans.prompt_tokens[decodes],
        )
        self.before = np.cumsum(self.spans.steps) - self.spans.steps
        self.first_ends = self.spans.until(1)
        self.ends = self.spans.end

    def at(self, steps: Whole) -> Real:
        """When given steps end."""
        place = np.searchsorted(self.before, steps, side="right") - 1
        done = (steps - self.before[place] + 1).astype(np.float64)
        slope = self.spans.more[place] * (0.5 * done * (done - 1.0))
        ends: Real = self.spans.begin[place] + done * self.spans.first[place] + slope
        return ends


def _later_steps(spans: Spans, most: int, since: float) -> tuple[Real, Real]:
    """Return the time of steps of each span after its first, and how many sequences decode in them."""
    several = (spans.steps > 1) & (spans.begin >= since)
    level = (spans.more == 0.0) & several
    rising = (spans.more != 0.0) & several
    first, more, decoding = spans.first[rising], spans.more[rising], spans.decoding[rising]
    steps = spans.steps[rising] - 1
    group = max(1, -(-int(steps.sum()) // most))
    pieces = -(-steps // group)
    row = np.repeat(np.arange(steps.size), pieces)
    piece = np.arange(row.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    low = 1 + piece * group
    size = np.minimum(group, steps[row] + 1 - low)
    values = first[row] + more[row] * (low + 0.5 * (size - 1))
    return (
        np.concatenate((values, spans.first[level])),
        np.concatenate((size * decoding[row], (spans.steps[level] - 1) * spans.decoding[level])).astype(np.float64),
    )


def _streamed(served: Served, timeline: _Timeline, most: int, since: float) -> tuple[Real, Real]:
    """Gaps where several tokens come at a time: the first alone, then so many, then what is left.

    Requests that were preempted are left out: when their tokens came is not kept one by one.
    """
    kept = (served.starts >= 0) & (served.preempted == 0) & (served.first_token >= since)
    outputs, starts, first = served.output_tokens[kept], served.starts[kept], served.first_token[kept]
    pieces = -(-(outputs - 1) // served.stream_interval)
    group = max(1, -(-int(pieces.sum()) // most))
    groups = -(-pieces // group)
    row = np.repeat(np.arange(outputs.size), groups)
    piece = group * (np.arange(row.size) - np.repeat(np.cumsum(groups) - groups, groups))
    alike = np.minimum(group, pieces[row] - piece).astype(np.float64)
    token = np.minimum((piece + 1) * served.stream_interval, outputs[row] - 1)
    came = timeline.at(starts[row] + token - 1)
    earlier = timeline.at(starts[row] + np.maximum(piece * served.stream_interval - 1, 0))
    gap: Real = came - np.where(piece == 0, first[row], earlier)
    return gap, alike
