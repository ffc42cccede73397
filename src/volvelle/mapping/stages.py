"""Layers dealt out to pipeline stages: which blocks each stage runs, and how often.

Layers are dealt out evenly, in pieces of equal depth; what is missing to that, the ends go without. A stage is runs of
blocks, so layers may be of several kinds in any order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from volvelle.quantities import Count


@dataclass(frozen=True, slots=True)
class Dealt:
    """Layers of the first stage, the last, and any in between."""

    first: Count
    last: Count
    most: Count


def dealt(layers: float, pipeline: Count, interleave: Count) -> Dealt:
    """How many layers stages get when so many are dealt out."""
    most = interleave * np.ceil(layers / (pipeline * interleave))
    missing = most * pipeline - layers
    return Dealt(
        first=most - np.floor((missing + np.maximum(pipeline - 2.0, 0.0)) / pipeline),
        last=most - np.ceil(missing / pipeline),
        most=most,
    )


def layers_of_positions(layers: int, pipeline: int, interleave: int) -> tuple[int, ...]:
    """How many layers every part of a model holds, first to last, when a pipeline of so many pieces is cut.

    Stages have as many as `dealt` says; what is missing to an even deal, the first stage goes without in its first
    pieces and all others in their last. A piece may have no layers: an embedding or a head alone, or nothing.
    """
    depth = -(-layers // (pipeline * interleave))
    missing = depth * pipeline * interleave - layers
    lost = [missing]
    if pipeline > 1:
        first, last, between = (missing + pipeline - 2) // pipeline, -(-missing // pipeline), pipeline - 2
        rest = missing - first - last
        lost = [first, *(rest * (i + 1) // between - rest * i // between for i in range(between)), last]
    found = [depth] * (pipeline * interleave)
    for stage, count in enumerate(lost):
        pieces = range(interleave) if stage == 0 and pipeline > 1 else range(interleave - 1, -1, -1)
        for turn in range(count):
            found[pieces[turn % interleave] * pipeline + stage] -= 1
    return tuple(found)


@lru_cache(maxsize=4096)
def middle_stages(order: tuple[int, ...], pipeline: int, interleave: int) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Stages between the first and the last that differ: (number of the first like it, layers of each kind).

    `order` is the kind of every layer, from 0. Of stages that hold the same, the earliest counts: it keeps the most
    micro-batches. A stage's layers are taken as they follow one another, whatever pieces they are cut into.
    """
    sizes = dealt(float(len(order)), float(pipeline), float(interleave))
    first, last, most = int(sizes.first), int(sizes.last), int(sizes.most)
    found: dict[tuple[int, ...], int] = {}
    furthest = max(len(order) - last - most, 0)
    for stage in range(1, max(pipeline - 1, 2)):
        start = min(first + (stage - 1) * most, furthest)
        found.setdefault(kinds_in(order, start, start + most), stage)
        if start == furthest:  # all that follow are like it
            break
    return tuple((stage, counts) for counts, stage in found.items())


def kinds_in(order: Sequence[int], start: int, end: int) -> tuple[int, ...]:
    """How many layers of each kind lie between two places."""
    return tuple(np.bincount(order[start:end], minlength=max(order) + 1).tolist()) if start < end else ()
