"""Whether speculation is worth it: with and without drafts, against the batch, by the window, where it is a loss."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from volvelle.applications.serving.held_memory import held_memory
from volvelle.applications.serving.instance import Instance
from volvelle.applications.serving.speculation.drafter import branch_by_branch
from volvelle.applications.serving.speculation.drafts import Speculation
from volvelle.applications.serving.static_answer import StaticAnswer, decode_tpot, static_answer

if TYPE_CHECKING:
    from volvelle.applications.serving.under_load import LoadAnswer

WINDOWS = (1, 2, 3, 4, 5, 6, 7, 8)
"""Windows among which the best is looked for."""
_BATCHES = tuple(2**power for power in range(13))
"""Sequences of one rank at which gains are shown."""


_AT_A_TIME = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchGain:
    """One batch, with drafts and without."""

    batch: int
    """Sequences on all chips that are used."""
    tpot: float
    tpot_without: float

    @property
    def gain(self) -> float:
        """Times as fast a user gets tokens."""
        return self.tpot_without / self.tpot


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowGain:
    """One window, for what was asked."""

    window: int
    tokens: float
    """Of a cycle, on average."""
    tpot: float
    latency: float
    """Mean, of a request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeTimes:
    """A tree both ways: drafted a level at a time, or a branch at a time as DFModel counts."""

    positions: int
    """Nodes that are verified, and the token before them."""
    leaves: int
    level_tpot: float
    branch_tpot: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculationGain:
    """What speculation changes."""

    speculation: Speculation
    ttft: float | None
    tpot: float | None
    throughput: float | None
    ttft_without: float | None
    tpot_without: float | None
    throughput_without: float | None
    batches: tuple[BatchGain, ...]
    """A batch alone, of the lengths that were asked about."""
    windows: tuple[WindowGain, ...] = ()
    """For what was asked; the best is taken where that was asked for."""
    tree: TreeTimes | None = None
    loss_from: int | None = None
    """The batch from which on it is slower with drafts; None: at none that fits."""
    under_load: bool = False
    """Whether TTFT, TPOT and throughput are those of a load; `batches` and `loss_from` are of batches given at once."""

    @property
    def gain(self) -> float | None:
        """Times as fast a user gets tokens."""
        return self.tpot_without / self.tpot if self.tpot and self.tpot_without else None

    @property
    def throughput_gain(self) -> float | None:
        """Times as many output tokens a second."""
        return self.throughput / self.throughput_without if self.throughput and self.throughput_without else None


def figures(answer: "StaticAnswer | LoadAnswer | None") -> Mapping[str, float | None]:
    """Mean TTFT and TPOT, and throughput; None of what is not known."""
    if answer is None:
        return dict.fromkeys(("ttft", "tpot", "throughput"))
    if isinstance(answer, StaticAnswer):
        return {"ttft": answer.ttft, "tpot": answer.tpot or None, "throughput": answer.throughput}
    known = answer.latencies
    means = {name: known[name].mean if name in known else None for name in ("ttft", "tpot")}
    return means | {"throughput": answer.throughput}


def batch_gains(
    plain: Instance, drafting: Instance, *, input_tokens: int, output_tokens: int, replicas: int
) -> tuple[tuple[BatchGain, ...], int | None]:
    """Gains at batches that fit, and the batch from which on there is a loss, where there is one."""
    ranks = replicas * plain.layout.data
    held = held_memory(drafting, sequences=1, context=input_tokens + output_tokens)
    most = min(held.most_sequences, drafting.rules().max_sequences)

    def gains(sequences: list[int]) -> list[BatchGain]:
        with_drafts, without = (
            decode_tpot(one, np.array(sequences, float), input_tokens=input_tokens, output_tokens=max(output_tokens, 2))
            for one in (drafting, plain)
        )
        rows = zip(sequences, with_drafts.tolist(), without.tolist(), strict=True)
        return [BatchGain(batch=size * ranks, tpot=tpot, tpot_without=other) for size, tpot, other in rows]

    sizes = sorted({batch for batch in _BATCHES if batch <= most} | {most} - {0})
    found = dict(zip(sizes, gains(sizes), strict=True)) if sizes else {}
    return tuple(found.values()), _loss_from(gains, found)


def _loss_from(gains: Callable[[list[int]], list[BatchGain]], found: Mapping[int, BatchGain]) -> int | None:
    """The least batch after which all that were tried lose; between two of them, many are tried at a time."""
    tried = dict(found)
    while True:
        low = max((batch for batch, gain in tried.items() if gain.gain >= 1.0), default=0)
        high = min((batch for batch in tried if batch > low), default=None)
        if high is None or high - low <= 1:
            return None if high is None else tried[high].batch
        step = max((high - low) // _AT_A_TIME, 1)
        between = list(range(low + step, high, step))
        tried |= dict(zip(between, gains(between), strict=True))


def tree_times(drafting: Instance, static: StaticAnswer) -> TreeTimes | None:
    """A tree of drafts both ways, for a batch; None: drafts are a sequence."""
    speculation = drafting.speculation
    if speculation is None or not speculation.drafting.branching:
        return None
    branches = branch_by_branch(drafting)
    other = static_answer(
        branches,
        batch=static.batch,
        input_tokens=static.input_tokens,
        output_tokens=static.output_tokens,
        replicas=static.replicas,
    )
    return TreeTimes(
        positions=speculation.drafting.positions,
        leaves=branches.iteration.verified - 1,
        level_tpot=static.tpot,
        branch_tpot=other.tpot,
    )
