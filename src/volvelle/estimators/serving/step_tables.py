"""The time of one step as tables, which the rules of an engine read."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from volvelle.estimators.serving.iteration import Batch, Column, Iteration
from volvelle.estimators.serving.speculative import TimedSteps
from volvelle.simulation.batching.costs import StepCosts

_ALL = 512
"""Numbers of tokens below which every one has its own entry; above, entries lie between those of a geometric row."""
_CONTEXTS = np.array([1, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072], dtype=float)
_CHUNKS = np.array([1, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768], dtype=float)
_PASTS = np.array([0, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072], dtype=float)


def captured_sizes(most: int) -> Column:
    """Batch sizes that engines capture: 1, 2, 4, then every eighth, above 256 every sixteenth."""
    sizes = [1, 2, 4, *range(8, 257, 8), *range(272, most + 16, 16)]
    return np.array([size for size in sizes if size <= max(most, 1)] or [1], dtype=float)


def step_costs(iteration: TimedSteps, *, most_tokens: int, most_sequences: int) -> StepCosts:
    """Costs of all steps of at most so many tokens and sequences; where drafts are verified, a step is a cycle."""
    engine, verified = iteration.engine, iteration.verified
    least = max(most_tokens, most_sequences * verified)
    tokens = _along(least, lambda rows: _beside(iteration, Batch(prompt_tokens=rows, **_none(rows, "prompt_tokens"))))
    sizes = _graphs(int(engine.captured_tokens), max(1, most_sequences * verified), verified)
    decoding = sizes / verified
    graphs = _beside(iteration, Batch(decodes=decoding, context=decoding, **_none(sizes, "decodes", "context")))
    graphs = graphs + iteration.pairing * decoding
    captured = np.full(least + 1, np.inf)
    reached = min(int(sizes[-1]), least)
    captured[1 : reached + 1] = graphs[np.searchsorted(sizes, np.arange(1, reached + 1))]
    captured[0] = tokens[0]
    head = _along(most_sequences * verified, lambda rows: np.asarray(iteration.head(rows)))
    start = iteration.starting
    return StepCosts(
        tokens=tokens,
        captured=captured,
        launches=iteration.launching(np.arange(least + 1.0)),
        head=head,
        chunk_nodes=_CHUNKS,
        past_nodes=_PASTS,
        chunk=np.maximum(_chunks(iteration) - start, 0.0),
        chunk_start=start,
        context_nodes=_CONTEXTS,
        decode=_decodes(iteration, most_sequences, iteration.pairing),
        host=iteration.host,
        host_sequence=iteration.host_sequence,
        host_overlapped=iteration.overlapped,
        per_sequence=engine.per_sequence,
        per_admission=engine.per_admission,
    )


def _graphs(most: int, needed: int, verified: int) -> Column:
    """Tokens of graphs, up to the one that the largest step is padded to; whole sequences where drafts are verified."""
    sizes = np.unique(np.ceil(captured_sizes(most) / verified) * verified)
    sizes = sizes[sizes <= max(most, verified)]
    return np.asarray(sizes[: int(np.searchsorted(sizes, needed)) + 1])


def lock_step_costs(iteration: Iteration, *, most_tokens: int, most_sequences: int) -> StepCosts:
    """Costs of steps that all data-parallel ranks take together, as of one engine with the sequences of all.

    Ranks whose experts are spread over all of them wait for each other in every layer. Decoding sequences are dealt out
    evenly; the prompts of a step are one rank's, as few come at once, and the others wait for it. `most_tokens` and
    `most_sequences` are those of one rank.
    """
    ranks = iteration.layout.data
    alone = step_costs(iteration, most_tokens=most_tokens, most_sequences=most_sequences)
    shared = ("experts", "dispatch and combine")

    def timed(rows: Column) -> Column:
        own, all_of = (
            iteration.beside(Batch(prompt_tokens=tokens, **_none(tokens, "prompt_tokens")))
            for tokens in (np.minimum(rows, most_tokens), rows / ranks)
        )
        beside = (time for part, time in own.items() if part not in shared)
        return np.asarray(sum(beside) + sum(all_of[part] for part in shared if part in all_of))

    tokens = _along(ranks * most_tokens, timed)
    of_rank = -(-np.arange(ranks * most_sequences + 1) // ranks)
    captured = np.full(tokens.size, np.inf)
    captured[: of_rank.size] = alone.captured[of_rank]
    return replace(
        alone,
        tokens=tokens,
        captured=captured,
        launches=iteration.launching(np.arange(float(tokens.size))),
        head=alone.head[of_rank],
        decode=alone.decode[of_rank],
        host_sequence=alone.host_sequence / ranks,
        per_sequence=alone.per_sequence / ranks,
    )


def _none(rows: Column, *given: str) -> dict[str, Column]:
    names = {"prompt_tokens", "prompts", "past", "decodes", "context"} - set(given)
    return {name: np.zeros(len(rows)) for name in names} | {"yielding": np.zeros(len(rows))}


def _along(most: int, timed: Callable[[Column], Column]) -> Column:
    """Entries from 0 to a number: all that are small, and a straight line between some of the others."""
    rows = np.unique(
        np.concatenate([np.arange(1, min(most, _ALL) + 1), np.geomspace(_ALL, max(most, _ALL), 96).round()])
    )
    rows = rows[rows <= max(most, 1)].astype(float)
    found = np.broadcast_to(timed(rows), rows.shape)
    return np.interp(np.arange(most + 1), rows, found)


def _beside(iteration: TimedSteps, batch: Batch) -> Column:
    """Seconds of all parts but attention; no sequence yields, so that the head has nothing to do."""
    return np.asarray(sum(iteration.beside(batch).values()))


def _attention(iteration: TimedSteps, batch: Batch) -> Column:
    return np.asarray(sum(iteration.attention(batch).values()))


def _chunks(iteration: TimedSteps) -> Column:
    tokens, past = (one.ravel() for one in np.meshgrid(_CHUNKS, _PASTS, indexing="ij"))
    one = np.ones(len(tokens))
    batch = Batch(prompt_tokens=tokens, prompts=one, past=past, **_none(tokens, "prompt_tokens", "prompts", "past"))
    return _attention(iteration, batch).reshape(len(_CHUNKS), len(_PASTS))


def _decodes(iteration: TimedSteps, most: int, paired: float) -> Column:
    some = np.unique(np.concatenate([np.arange(1, min(most, 32) + 1), np.geomspace(32, max(most, 32), 48).round()]))
    some = some[some <= max(most, 1)]
    sequences, context = (one.ravel() for one in np.meshgrid(some, _CONTEXTS, indexing="ij"))
    batch = Batch(decodes=sequences, context=sequences * context, **_none(sequences, "decodes", "context"))
    found = (_attention(iteration, batch) - paired * sequences).reshape(len(some), len(_CONTEXTS))
    whole = np.arange(most + 1)
    columns = [np.interp(whole, some, found[:, place]) for place in range(len(_CONTEXTS))]
    table: Column = np.maximum(np.stack(columns, axis=1), 0.0)
    table[0] = 0.0
    return table
