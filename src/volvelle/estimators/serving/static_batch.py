"""A batch that is given at once and runs to its end: all prompts, then a token each until the last."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from volvelle.estimators.serving.iteration import Batch, Column
from volvelle.estimators.serving.speculative import TimedSteps

_PLACES = 9
"""Steps that stand for all steps of a run; between them a step grows nearly evenly with the context."""


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
    sequences, given, made = (np.atleast_1d(np.asarray(one, dtype=float)) for one in (sequences, given, made))
    sequences, given, made = np.broadcast_arrays(sequences, given, made)
    parts = np.ceil(given / budget)
    each = np.clip(np.floor(budget / given), 1.0, sequences)
    steps = np.ceil(sequences / each) * parts
    together = sequences / np.ceil(sequences / each)
    reading = Batch(
        prompt_tokens=together * given / parts,
        prompts=together,
        past=together * given / parts * (parts - 1.0) / 2.0,
        yielding=together / parts,
    )
    prompt_parts = {part: steps * np.asarray(time) for part, time in iteration.parts(reading).items()}
    prompts = steps * iteration.steps(reading)
    places = (np.arange(_PLACES) + 0.5) / _PLACES
    reached = given[:, None] + 1.0 + places * np.maximum(made - 2.0, 0.0)[:, None]
    many = np.repeat(sequences, _PLACES)
    nothing = np.zeros(len(many))
    making = Batch(prompt_tokens=nothing, prompts=nothing, past=nothing, decodes=many, context=many * reached.ravel())
    token_parts = {
        part: np.broadcast_to(time, many.shape).reshape(-1, _PLACES).mean(axis=1)
        for part, time in iteration.parts(making).items()
    }
    token = iteration.steps(making).reshape(-1, _PLACES).mean(axis=1)
    return StaticTimes(
        prompts=prompts,
        token=token,
        total=prompts + np.maximum(made - 1.0, 0.0) * token,
        prompt_parts=prompt_parts,
        token_parts=token_parts,
    )
