"""What lies between operations of a pass: operations that share a partition share it with all of that."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from volvelle.workload.graph import Block
from volvelle.workload.operations import Operation

Edge = tuple[str, str]
"""The operation that reads a tensor, and the tensor."""
Apart = NDArray[np.bool_]
"""[operation, one that depends on it]: whether the two share no partition."""


class Between:
    """The operations of a block in order, each in one pass, and which depend on which within theirs."""

    def __init__(self, block: Block, side: Callable[[Operation], int]) -> None:
        self.names = [op.name for op in block.operations]
        self.sides = [side(op) for op in block.operations]
        place = {name: number for number, name in enumerate(self.names)}
        maker = {name: op for op in block.operations for name in op.outputs}
        self.edges: list[tuple[int, int, Edge]] = [
            (place[maker[name].name], place[op.name], (op.name, name))
            for op in block.operations
            for name in op.inputs
            if name in maker and side(maker[name]) == side(op)
        ]
        """Maker, reader and tensor, of those that stay in their pass; readers in order."""
        self.after = np.eye(len(self.names), dtype=bool)
        """[operation, other]: whether the other depends on it, or is it."""
        for made_by, reader, _ in reversed(self.edges):
            self.after[made_by] |= self.after[reader]

    def apart(self, needs: Mapping[str, float], limit: float) -> Apart:
        """Which operations share no partition, as with all between them they need more SRAM than there is.

        `needs` are the fewest bytes that an operation adds to a partition.
        """
        need = np.array([needs.get(name, 0.0) for name in self.names])
        together = (self.after * need) @ self.after.astype(float)
        return np.asarray(self.after & (together > limit) & ~np.eye(len(need), dtype=bool))
