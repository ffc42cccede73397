"""Kinds of layouts: what people call them, and which of them a layout is."""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from volvelle.mapping.parallelism import MappingTable, ParallelMapping, Schedule


class Kind(IntEnum):
    """A way to lay a model out, told from others by its rarest part; each layout is of one."""

    DATA = 0
    TENSOR = 1
    PIPELINE = 2
    EXPERT = 3
    CONTEXT = 4
    NO_BUBBLE = 5
    HOST = 6

    @property
    def word(self) -> str:
        """Its name for people."""
        return _WORDS[self]


_WORDS = {
    Kind.DATA: "FSDP, ZeRO or DDP alone",
    Kind.TENSOR: "TP, no pipeline",
    Kind.PIPELINE: "TP × PP, 1F1B",
    Kind.EXPERT: "with EP",
    Kind.CONTEXT: "with CP",
    Kind.NO_BUBBLE: "zero-bubble",
    Kind.HOST: "with off-load",
}


def kinds(layouts: MappingTable) -> NDArray[np.int8]:
    """Which kind each row is of."""
    found = np.full(len(layouts), Kind.DATA, dtype=np.int8)
    ordered = (
        (Kind.TENSOR, layouts.tensor > 1),
        (Kind.PIPELINE, layouts.pipeline > 1),
        (Kind.EXPERT, layouts.expert > 1),
        (Kind.CONTEXT, layouts.context > 1),
        (Kind.NO_BUBBLE, (layouts.schedule >= Schedule.ZERO_BUBBLE) & (layouts.pipeline > 1)),
        (Kind.HOST, (layouts.offload_weights + layouts.offload_optimiser + layouts.offload_activations) > 0),
    )
    for kind, rows in ordered:
        found[np.asarray(rows, dtype=bool)] = kind
    return found


def kind_of(layout: ParallelMapping) -> Kind:
    """Which kind a layout is of."""
    return Kind(int(kinds(MappingTable.of([layout]))[0]))
