"""What exchanges inside a block run behind, by the name that an axis's declaration gives."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from volvelle.quantities import Number, Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockWork:
    """Seconds of a block's kernels in one phase."""

    whole: Seconds
    attention_core: Seconds
    """Of the region between projections; nothing where positions are swapped for heads, which is waited for."""
    beside: Number
    """1 for mappings that work on another micro-batch meanwhile (DualPipe: in the other direction), else 0."""


def _nothing(work: BlockWork) -> Seconds:
    return 0.0


def _attention_core(work: BlockWork) -> Seconds:
    return work.attention_core


def _other_micro_batch(work: BlockWork) -> Seconds:
    return work.whole * work.beside


OVERLAPS: Mapping[str, Callable[[BlockWork], Seconds]] = {
    "nothing": _nothing,
    "attention core": _attention_core,
    "another micro-batch": _other_micro_batch,
}
"""Name → seconds that exchanges may hide behind."""
