"""A batch that is given at once and runs to its end: all prompts, then a token each until the last."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from volvelle.estimators.serving.iteration import Batch, Column
from volvelle.estimators.serving.speculative import TimedSteps

_PLACES = (np.arange(5)[:, None] + 0.5) / 5
"""Steps that stand for all steps of a run; between them a step grows nearly evenly with the context.

With three hundred no mean step of 40 000 batches is another by more than 0.1 %.
"""
_TOGETHER = 4096
"""Batches that are timed at once: more do not stay near the processor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticTimes:
    """What batches take, as columns."""

    prompts: Column
    """Seconds until the prompts of all have been read, and every sequence has its first token."""
    token: Column
    """Seconds a further step, in the mean: a token of each sequence, or a cycle of drafts."""
    total: Column
    """Seconds to the last token."""
    prompt_parts: Mapping[str, Column]
    token_parts: Mapping[str, Column]
    """Of one step, in the mean."""


def static_times(
    iteration: TimedSteps, sequences: Column, given: Column, made: Column, *, budget: float
) -> StaticTimes:
    """Batches of so many sequences, tokens that each is given, and tokens that are made of each.

    Prompts are read by whole prompts, as many at a time as the token budget holds; a longer one in parts.
    """
    asked = np.broadcast_arrays(*(np.atleast_1d(np.asarray(one, dtype=float)) for one in (sequences, given, made)))
    if asked[0].size <= _TOGETHER:
        return _times(iteration, *asked, budget=budget)
    pieces = [
        _times(iteration, *(one[first : first + _TOGETHER] for one in asked), budget=budget)
        for first in range(0, asked[0].size, _TOGETHER)
    ]
    return _joined(pieces)


def _joined(pieces: list[StaticTimes]) -> StaticTimes:
    return StaticTimes(
        prompts=np.concatenate([piece.prompts for piece in pieces]),
        token=np.concatenate([piece.token for piece in pieces]),
        total=np.concatenate([piece.total for piece in pieces]),
        prompt_parts={
            part: np.concatenate([piece.prompt_parts[part] for piece in pieces]) for part in pieces[0].prompt_parts
        },
        token_parts={
            part: np.concatenate([piece.token_parts[part] for piece in pieces]) for part in pieces[0].token_parts
        },
    )


def _times(iteration: TimedSteps, sequences: Column, given: Column, made: Column, *, budget: float) -> StaticTimes:
    parts = np.ceil(given / budget)
    turns = np.ceil(sequences / np.minimum(np.maximum(np.floor(budget / given), 1.0), sequences))
    together, nothing = sequences / turns, np.zeros(sequences.shape)
    chunk = together * given / parts
    reading = Batch(
        prompt_tokens=chunk,
        prompts=together,
        past=chunk * (parts - 1.0) / 2.0,
        decodes=nothing,
        context=nothing,
        yielding=together / parts,
    )
    context = sequences * (given + 1.0 + _PLACES * np.maximum(made - 2.0, 0.0))
    along = np.zeros(context.shape)
    making = Batch(prompt_tokens=along, prompts=along, past=along, decodes=sequences + along, context=context)
    # What does not depend on the context is timed once for all places.
    first = Batch(
        prompt_tokens=np.array([chunk, nothing]),
        prompts=np.array([together, nothing]),
        past=np.array([reading.past, nothing]),
        decodes=np.array([nothing, sequences]),
        context=np.array([nothing, context[len(_PLACES) // 2]]),
        yielding=np.array([reading.yields, sequences * iteration.verified]),
    )
    beside, attention = iteration.beside(first), iteration.attention(making)
    steps = turns * parts
    prompt_parts = {part: time[0] for part, time in beside.items()} | iteration.attention(reading)
    chips = sum(time[1] for time in beside.values()) + sum(attention.values())
    token = iteration.whole(making, chips=np.asarray(chips)).sum(axis=0) / len(_PLACES)
    prompts = steps * iteration.whole(reading, chips=np.asarray(sum(prompt_parts.values())))
    return StaticTimes(
        prompts=prompts,
        token=token,
        total=prompts + np.maximum(made - 1.0, 0.0) * token,
        prompt_parts={part: steps * time for part, time in prompt_parts.items()},
        token_parts={part: time[1] for part, time in beside.items()}
        | {part: time.sum(axis=0) / len(_PLACES) for part, time in attention.items()},
    )
